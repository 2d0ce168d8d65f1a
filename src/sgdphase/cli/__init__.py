"""The command line: one file per subcommand; each parses, calls, prints."""

from __future__ import annotations

import os
import re
import sys
import threading
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from sgdphase import _sweep
from sgdphase.cli._faults import fault, is_refused
from sgdphase.cli._stop import Commands, Interrupted, end, signals_raised
from sgdphase.errors import InputError

# What `--help` lists. The module of a command, and what it uses, loads when the command is called.
_COMMANDS = {
    "diagnose": "Which learning rate goes with another batch? By training.",
    "equivalents": "The same, from a table of runs that you have.",
    "rule": "The best learning rate of each batch, from a table of runs.",
    "steps": "The critical batch, from a table of steps to a target.",
    "train": "Train a model, once for each seed, and report how it ended.",
    "sweep": "Run a grid of trainings, each once, into a store.",
    "runs": "List what is inside a store.",
    "export": "Write the runs of a store to a file for other programs.",
    "diagram": "Tell the regimes of SGD and where they meet, from runs.",
    "report": "Write one HTML page of the runs in a store.",
    "explore": "Write the phase diagram as one HTML page to touch.",
    "figure": "Redraw figures of the paper and decide their claims.",
    "claims": "Print the whole ledger of claims in a folder.",
    "verify": "Decide all claims in a folder again from its tables of runs.",
    "theory": "What the paper predicts, without any run.",
    "data": "List or download the files of the image problems.",
    "help": "Explain ranges, regimes or the store.",
}
# Commands that share the file of another one.
_MODULES = {"claims": "figure", "verify": "figure"}

# The base of typer's own usage errors, which it does not export.
_UsageError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def build(lazy: bool = False) -> typer.Typer:
    """The whole application; if `lazy`, each command loads when it is called."""
    app = typer.Typer(
        name="sgdphase",
        cls=_LazyCommands if lazy else Commands,
        no_args_is_help=True,
        invoke_without_command=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_top)
    for name, line in _COMMANDS.items():
        if lazy:
            app.command(name, help=line)(_stand_in)
        else:
            _register(app, name)
    return app


class _LazyCommands(Commands):
    """Lists stand-ins, and calls the commands they stand for."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, stand_in, rest = super().resolve_command(ctx, args)
        if stand_in is None:
            return name, stand_in, rest
        app = typer.Typer(rich_markup_mode=None)
        _register(app, str(name))
        return name, typer.main.get_group(app).commands[str(name)], rest


def _register(app: typer.Typer, name: str) -> None:
    """Attach the function that has the name of a command, or the group of its module."""
    module = _module(_MODULES.get(name, name))
    if hasattr(module, "register"):
        module.register(app, _COMMANDS[name])
    else:
        app.command(name, no_args_is_help=name == "diagnose")(getattr(module, name))


def _module(name: str) -> Any:
    return import_module(f"sgdphase.cli.{name}")


def _stand_in() -> None:
    """In the place of a command whose module is not loaded yet."""


def _top(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Which learning rate goes with a larger batch, and from which batch on does none help?

    diagnose answers this for your training. The other commands do it for runs that you have, and
    for the models of the paper: simulation, theory and phase diagrams.

    Numbers may be written 0.5, 1e-3, 1/64 or 2^-7.
    """
    if version:
        from importlib import metadata

        print(metadata.version("sgdphase"))
        raise typer.Exit


def main() -> None:
    """Run the application; bad input ends in one line and exit code 2.

    So does a signal, with 128 and its number, and a fault of ours, with 1. If SGDPHASE_DEBUG is set
    the fault has its traceback.
    """
    threads = set(threading.enumerate())
    # A file may have a name that is no text.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with signals_raised():
            code = build(lazy=True)(standalone_mode=False)
        sys.stdout.flush()  # a reader that has gone shows here at the latest
    except (InputError, _UsageError, MemoryError) as error:
        end(_print_error(error), threads)
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left to write fails no more
        end(0, threads)
    except UnicodeEncodeError as error:  # a word that was typed in another encoding
        # Undecodable bytes of the command line stand in it as surrogates.
        typed = [word for word in sys.argv if re.search("[\ud800-\udfff]", word)] or [str(error)]
        end(_print_error(InputError(f"{typed[0]!a} is no text in UTF-8")), threads)
    except _sweep.SweepError as error:
        _print_error(error)
        end(1, threads)
    except Interrupted as stopped:
        kept = "; every training that ended is in the store" if stopped.kept else ""
        print(f"sgdphase: {stopped}{kept}", file=sys.stderr)
        end(128 + stopped.signum, threads)
    except typer.Abort:
        print("sgdphase: stopped", file=sys.stderr)
        end(130, threads)
    except Exception as error:
        if isinstance(error, OSError) and is_refused(error, sys.argv[1:]):
            end(_print_error(error), threads)
        if os.environ.get("SGDPHASE_DEBUG"):
            raise
        _print_error(RuntimeError(fault(error)))
        end(1, threads)
    end(code if isinstance(code, int) else 0, threads)


def _print_error(error: Exception) -> int:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    if isinstance(error, OSError) and error.filename is not None:
        message = f"{os.fsdecode(error.filename)}: {error.strerror}"
    elif isinstance(error, MemoryError):
        message = f"there is not enough memory for this{f' ({message})' if message else ''}"
    if type(error).__name__ == "NoArgsIsHelpError":  # a bare command asks for its help
        print(message)
        return 2
    # The prefix is typer's, of a parser's own message.
    one_line = " ".join(message.split()).replace("Value error, ", "")
    # What a terminal would obey, in a name or a file of others.
    one_line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in one_line)
    print(f"sgdphase: {one_line}", file=sys.stderr)
    return 2
