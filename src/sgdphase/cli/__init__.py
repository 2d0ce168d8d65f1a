"""The command line: one subcommand a file; each parses, calls, prints."""

from __future__ import annotations

import sys
import threading
from importlib import metadata
from typing import Annotated, Any

import typer

from sgdphase._sweep import SweepError
from sgdphase.cli import data, diagnose, diagram, export, figure, report, runs, sweep, theory, train
from sgdphase.cli._stop import Commands, Interrupted, end, signals_raised
from sgdphase.errors import InputError

_COMMANDS = (diagnose, train, sweep, runs, export, diagram, report, figure, theory, data)

# The base of typer's own usage errors, which it does not export.
_UsageError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def build() -> typer.Typer:
    """The whole application."""
    app = typer.Typer(
        name="sgdphase",
        cls=Commands,
        no_args_is_help=True,
        invoke_without_command=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_top)
    for command in _COMMANDS:
        command.register(app)
    return app


def _top(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Which regime of SGD is a training in? Simulation, theory and phase diagrams.

    Numbers may be written 0.5, 1e-3, 1/64 or 2^-7.
    """
    if version:
        print(metadata.version("sgdphase"))
        raise typer.Exit


def main() -> None:
    """Run the application; bad input ends in one line and exit code 2.

    So does a signal, with 128 and its number.
    """
    threads = set(threading.enumerate())
    try:
        with signals_raised():
            code = build()(standalone_mode=False)
    except (InputError, _UsageError, MemoryError) as error:
        end(_complain(error), threads)
    except SweepError as error:
        _complain(error)
        end(1, threads)
    except Interrupted as stopped:
        kept = "; every training that ended is in the store" if stopped.kept else ""
        print(f"sgdphase: {stopped}{kept}", file=sys.stderr)
        end(128 + stopped.signum, threads)
    except typer.Abort:
        print("sgdphase: stopped", file=sys.stderr)
        end(130, threads)
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        end(0, threads)
    end(code if isinstance(code, int) else 0, threads)


def _complain(error: Exception) -> int:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    if type(error).__name__ == "NoArgsIsHelpError":  # a bare command asks for its help
        print(message)
        return 2
    # The prefix is typer's, of a parser's own message.
    one_line = " ".join(message.split()).replace("Value error, ", "")
    print(f"sgdphase: {one_line}", file=sys.stderr)
    return 2
