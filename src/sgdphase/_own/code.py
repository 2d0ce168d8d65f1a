"""The user's code: a file with `model` and `data` or with `train`, or these functions.

It runs as a guest. Its errors are shown as the user's, with their line. The random state and the
working directory of the process are restored after every call. Each call starts from a given seed,
so that random numbers are the same in every process, and in the directory where the last call
ended. What it prints goes to standard error. Loading a file writes nothing next to it.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import signal
import sys
import threading
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from traceback import walk_tb
from typing import Any

from sgdphase._own.identity import is_module, text_of
from sgdphase._own.neighbours import is_beside, neighbours
from sgdphase._own.seeds import random_state, seeds_ignored
from sgdphase.errors import InputError, UserError

FUNCTIONS = ("model", "data", "test_data", "augment", "train")
# Seconds: a timer of zero would be none, and one of centuries is refused.
_SHORTEST_ALARM, _LONGEST_ALARM, _ALARM_AGAIN = 1e-3, 1e8, 1.0


@dataclass(frozen=True, eq=False)
class UserCode:
    """The functions of a file or of a call, their source, and notes for the user."""

    name: str
    functions: Mapping[str, Callable[..., Any]]
    source: str
    notes: tuple[str, ...] = ()
    _directory: _Directory = field(default_factory=lambda: _Directory(), repr=False)

    def __contains__(self, function: str) -> bool:
        return function in self.functions

    def call(self, function: str, random_seed: int, /, **arguments: Any) -> Any:
        """Call the function with the random state of a seed."""
        with self.guest(function, random_seed):
            return self.functions[function](**arguments)

    def call_unseeded(self, function: str, random_seed: int, /) -> tuple[Any, bool]:
        """The same, but seeds that the function sets are ignored; and whether it sets any."""
        with self.guest(function, random_seed), seeds_ignored(self.functions[function]) as ignored:
            return self.functions[function](), bool(ignored)

    @contextmanager
    def guest(self, doing: str, seed: int = 0) -> Iterator[None]:
        """Run the user's code with a seed; its errors become `UserError`."""
        if "torch" in self.source:
            # Import torch before the user does: what is not loaded cannot be seeded.
            with suppress(ImportError):
                import torch  # noqa: F401
        quiet = redirect_stdout(sys.stderr)
        with random_state(seed), quiet, _unwritten(), self._directory.entered():
            try:
                yield
            except InputError:
                raise
            except (Exception, SystemExit) as error:
                if _is_ours(error):
                    raise
                raise UserError(self._text(error, doing)) from error

    def _text(self, error: BaseException, doing: str) -> str:
        what = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
        codes = {
            name: code
            for name, function in self.functions.items()
            if (code := _code(function)) and not _in_package(code)
        }
        place = _place(error, {code.co_filename for code in codes.values()})
        if not place and (code := codes.get(doing)):
            place = f"{Path(code.co_filename).name}, line {code.co_firstlineno} in {doing}"
        return f"{place or f'{self.name}, in {doing}'}: {what}"


def load(path: str | Path) -> UserCode:
    """Execute a file as a module, not as a script: its `__name__` is not `__main__`."""
    try:
        source = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text in UTF-8"
        raise InputError(
            f"{path}: cannot be read ({reason}); must be a Python file with model() and data(), "
            "or with train(lr, batch, epochs, seed)"
        ) from None
    # The file may change the working directory.
    path = Path(path).absolute()
    module = types.ModuleType("user_training")
    module.__file__ = str(path)
    # Copying an object looks up its class by the name of its module.
    sys.modules[module.__name__] = module
    texts, shadows = neighbours(path, source)
    notes = tuple(
        f"{name}.py next to {path.name} is not used: import {name} gives the standard library's"
        for name in shadows
    )
    code = UserCode(path.name, {}, "\n".join([source, *texts]), notes)
    with code.guest("the file"):
        try:
            exec(compile(source, str(path), "exec", dont_inherit=True), vars(module))
        except SyntaxError as error:
            name = Path(error.filename or path).name
            place = name if error.lineno is None else f"{name}, line {error.lineno}"
            raise UserError(f"{place}: {error.msg}") from None
        except SystemExit as error:
            raise UserError(
                f"{_place(error, {str(path)}) or path.name}: the file ends here when it is loaded; "
                f"a script that reads its own options is run by --command 'python {path.name} ...'"
            ) from error
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
            raise UserError(f"{_place(error, {str(path)}) or path.name}: {reason}") from error
    # `model` may be a torch module itself, which is callable, too.
    functions = {
        name: _function(vars(module)[name])
        for name in FUNCTIONS
        if callable(vars(module).get(name))
    }
    return replace(code, functions=functions)


def user_code(**given: Any) -> UserCode:
    """The same from functions, or from the model or the data that they would return."""
    made = {name: what for name, what in given.items() if what is not None}
    functions = {name: _function(what) for name, what in made.items()}
    return UserCode("your code", functions, "\n".join(map(text_of, made.values())))


@contextmanager
def time_limit(seconds: float, what: str) -> Iterator[None]:
    """Raise `InputError` if loading `what`, a user's file, takes longer.

    It needs the main thread and the alarm signal of POSIX; elsewhere there is no limit. A long call
    into compiled code is interrupted when it returns.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not (in_main and hasattr(signal, "setitimer")) or seconds > _LONGEST_ALARM:
        yield
        return
    handler = signal.signal(signal.SIGALRM, _raise_timeout)
    # The alarm is repeated, for code that catches every exception.
    alarm = max(seconds, _SHORTEST_ALARM), _ALARM_AGAIN
    timer = signal.setitimer(signal.ITIMER_REAL, *alarm)
    try:
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    except _Timeout:
        raise InputError(
            f"{what}: loading it did not end within the budget of {round(seconds, 1):g} s"
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


class _Timeout(BaseException):
    """Not an `Exception`, so that the user's code does not catch it by chance."""


def _raise_timeout(signum: int, frame: Any) -> None:
    raise _Timeout


def _function(what: Any) -> Callable[..., Any]:
    if callable(what) and not is_module(what):
        return what  # type: ignore[no-any-return]
    return lambda: what


def _code(function: Any) -> types.CodeType | None:
    """The code of a function, also of a wrapped one, or of the `__init__` of a class."""
    function = inspect.unwrap(function)
    if isinstance(function, functools.partial):
        return _code(function.func)
    code = getattr(function, "__code__", None) or getattr(
        getattr(function, "__init__", None), "__code__", None
    )
    return code if isinstance(code, types.CodeType) else None


def _is_ours(error: BaseException) -> bool:
    """Whether this package raised it itself, and not code that it calls."""
    *_, (last, _) = walk_tb(error.__traceback__)
    # A call with wrong arguments has no frame but that of the call.
    calls = (UserCode.call.__code__, UserCode.call_unseeded.__code__)
    return last.f_code not in calls and _in_package(last.f_code)


def _in_package(code: types.CodeType) -> bool:
    return Path(__file__).parents[1] in Path(code.co_filename).parents


def _place(error: BaseException, files: Collection[str]) -> str:
    """The innermost line of the user's files that an error passed through."""
    place = ""
    for frame, number in walk_tb(error.__traceback__):
        code = frame.f_code
        if code.co_filename in files or is_beside(code.co_filename):
            linecache.checkcache(code.co_filename)
            line = linecache.getline(code.co_filename, number).strip()
            where = "" if code.co_name == "<module>" else f" in {code.co_name}"
            name = Path(code.co_filename).name
            place = f"{name}, line {number}{where}" + (f" ({line})" if line else "")
    return place


@dataclass
class _Directory:
    """The working directory of the user's code: where it last moved to."""

    _path: str | None = None

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Work there, and go back at the end, also in nested calls."""
        before = _working_directory()
        _move(self._path)
        start = _working_directory()
        try:
            yield
        finally:
            if (now := _working_directory()) != start:
                self._path = now
            if now != before:
                _move(before)


def _working_directory() -> str | None:
    with suppress(OSError):  # deleted meanwhile
        return os.getcwd()
    return None


def _move(path: str | None) -> None:
    with suppress(OSError):
        if path is not None:
            os.chdir(path)


@contextmanager
def _unwritten() -> Iterator[None]:
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
