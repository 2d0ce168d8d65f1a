"""How a command ends: by a signal, with one line; and whatever the user's code left running."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn

import typer.core

from sgdphase.errors import InputError, likely, listed

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Seconds for threads that the user's code left behind.
_LAST_SECONDS = 1.0


class Signalled(KeyboardInterrupt):
    """A signal, raised wherever the command is."""

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.signum = signum


class Interrupted(BaseException):
    """A command that was stopped: typer makes an exit without a word of a `KeyboardInterrupt`."""

    def __init__(self, stopped: KeyboardInterrupt) -> None:
        self.signum = int(getattr(stopped, "signum", signal.SIGINT))
        name = "Ctrl-C" if self.signum == signal.SIGINT else signal.Signals(self.signum).name
        super().__init__(f"stopped by {name}")
        self.kept = getattr(stopped, "kept", False)


class Commands(typer.core.TyperGroup):
    """Commands that raise `Interrupted` when they are stopped, and list themselves for another."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            raise InputError(f"{args[0]}: {self.other(args[0])}; must be {listed(self.commands)}")
        return super().resolve_command(ctx, args)

    def other(self, name: str) -> str:
        """What a name is that is none of the commands."""
        return f"no such command{likely(name, self.commands)}"

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stopped:
            raise Interrupted(stopped) from None


@contextmanager
def store_in_use(store: Path) -> Iterator[None]:
    """While it lasts, and once there is a store, who stops the command reads that runs are kept."""
    try:
        yield
    except KeyboardInterrupt as stopped:
        if store.exists():
            stopped.kept = True  # type: ignore[attr-defined]
        raise


@contextmanager
def signals_raised() -> Iterator[None]:
    """Ctrl-C and SIGTERM raise `Signalled`; after `Interrupted` they do nothing any more."""
    # Python delivers signals to the main thread only, and lets no other set a handler.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # What is ignored from the start (nohup) stays so.
    after: dict[signal.Signals, Any] = {
        signum: handler
        for signum in _SIGNALS
        if (handler := signal.getsignal(signum)) is not signal.SIG_IGN
    }
    for signum in after:
        signal.signal(signum, _raise)
    try:
        yield
    except Interrupted:
        after = dict.fromkeys(after, signal.SIG_IGN)
        raise
    finally:
        for signum, handler in after.items():
            signal.signal(signum, handler)


def _raise(signum: int, frame: Any) -> None:
    raise Signalled(signum)


def end(code: int, threads: set[threading.Thread]) -> NoReturn:
    """Exit; a thread that is not among those of the start, and does not end, is not waited for."""
    last = monotonic() + _LAST_SECONDS
    for thread in threading.enumerate():
        if thread not in threads and not thread.daemon:
            thread.join(max(last - monotonic(), 0.0))
            if thread.is_alive():
                for stream in (sys.stdout, sys.stderr):
                    with suppress(OSError, ValueError):
                        stream.flush()
                os._exit(code)
    sys.exit(code)
