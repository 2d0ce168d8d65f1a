"""The command line: one subcommand a file; each parses, calls, prints."""

from __future__ import annotations

import sys
from typing import Any

import typer

from sgdphase.cli import diagram, export, figure, runs, sweep, theory, train
from sgdphase.errors import InputError

_COMMANDS = (train, sweep, runs, export, diagram, figure, theory)

# The base of typer's own usage errors, which it does not export.
_UsageError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def build() -> typer.Typer:
    """The whole application."""
    app = typer.Typer(
        name="sgdphase",
        help="Which regime of SGD is a training in? Simulation, theory and phase diagrams.\n\n"
        "Numbers may be written 0.5, 1e-3, 1/64 or 2^-7.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for command in _COMMANDS:
        command.register(app)
    return app


def main() -> None:
    """Run the application; bad input ends in one line and exit code 2."""
    try:
        code = build()(standalone_mode=False)
    except (InputError, _UsageError) as error:
        sys.exit(_complain(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(error: Exception) -> int:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    if type(error).__name__ == "NoArgsIsHelpError":  # a bare command asks for its help
        print(message)
        return 2
    # The prefix is typer's, of a parser's own message.
    one_line = " ".join(message.split()).replace("Value error, ", "")
    print(f"sgdphase: {one_line}", file=sys.stderr)
    return 2
