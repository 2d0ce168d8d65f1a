"""Code of the user's own: a file with `model` and `data` or with `train`, or the functions.

It runs as a guest. What it raises is shown as the user's error, with its line. The random state of
the process is put back after every call, and each call starts from a seed that it is given, so that
what is drawn without one is the same in every process. What it prints goes to standard error, and
loading a file leaves nothing beside it.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import random
import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sgdphase.errors import InputError, UserError
from sgdphase.problems._neighbours import is_beside, neighbours
from sgdphase.problems._usertext import is_module, text_of

FUNCTIONS = ("model", "data", "test_data", "train")


@dataclass(frozen=True, eq=False)
class UserCode:
    """The functions that a file or a call gave, and the text that they were made from."""

    name: str
    functions: Mapping[str, Callable[..., Any]]
    source: str

    def __contains__(self, function: str) -> bool:
        return function in self.functions

    def call(self, function: str, random_seed: int, /, **arguments: Any) -> Any:
        """What the function returns, called with the random state of a seed."""
        with self.guest(function, random_seed):
            return self.functions[function](**arguments)

    @contextmanager
    def guest(self, doing: str, seed: int = 0) -> Iterator[None]:
        """Run the user's code: seeded, its errors named as the user's."""
        if "torch" in self.source:
            # Before the user does: what is not loaded cannot be seeded.
            with suppress(ImportError):
                import torch  # noqa: F401
        with _random_state(seed), redirect_stdout(sys.stderr), _unwritten():
            try:
                yield
            except InputError:
                raise
            except (Exception, SystemExit) as error:
                if _is_ours(error):
                    raise
                raise UserError(self._said(error, doing)) from error

    def _said(self, error: BaseException, doing: str) -> str:
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
    """Execute a file, which is not run as a script: its `__name__` is not `__main__`."""
    path = Path(path)
    try:
        source = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "not a text in UTF-8"
        raise InputError(
            f"{path}: cannot be read ({said}); must be a Python file with model() and data(), "
            "or with train(lr, batch, train_size, seed)"
        ) from None
    module = types.ModuleType("user_training")
    module.__file__ = str(path)
    # Classes of the file are looked up by the name of their module when they are copied.
    sys.modules[module.__name__] = module
    # As when Python runs the file; functions may import later, so that it stays.
    folder = str(path.absolute().parent)
    sys.path[:] = [folder, *(entry for entry in sys.path if entry != folder)]
    code = UserCode(path.name, {}, "\n".join([source, *neighbours(path.absolute(), source)]))
    with code.guest("the file"):
        try:
            exec(compile(source, str(path), "exec", dont_inherit=True), vars(module))
        except SyntaxError as error:
            name = Path(error.filename or path).name
            raise UserError(f"{name}, line {error.lineno}: {error.msg}") from None
        except (Exception, SystemExit) as error:
            said = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
            raise UserError(f"{_place(error, {str(path)}) or path.name}: {said}") from error
    found = {name: vars(module)[name] for name in FUNCTIONS if callable(vars(module).get(name))}
    return UserCode(path.name, found, code.source)


def user_code(**given: Any) -> UserCode:
    """The same from functions, or from the model or the data that they would return."""
    made = {name: what for name, what in given.items() if what is not None}
    functions = {name: _function(what) for name, what in made.items()}
    return UserCode("your code", functions, "\n".join(map(text_of, made.values())))


def _function(what: Any) -> Callable[..., Any]:
    if callable(what) and not is_module(what):
        return what  # type: ignore[no-any-return]
    return lambda: what


def _code(function: Any) -> types.CodeType | None:
    """That of a function, also of one that was wrapped, or of how a class is made."""
    function = inspect.unwrap(function)
    if isinstance(function, functools.partial):
        return _code(function.func)
    found = getattr(function, "__code__", None) or getattr(
        getattr(function, "__init__", None), "__code__", None
    )
    return found if isinstance(found, types.CodeType) else None


def _is_ours(error: BaseException) -> bool:
    """Whether it was raised by this package itself: a user's mistake shows in code we call."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_code is UserCode.call.__code__:
        return False
    return _in_package(trace.tb_frame.f_code)


def _in_package(code: types.CodeType) -> bool:
    return Path(__file__).parents[1] in Path(code.co_filename).parents


def _place(error: BaseException, files: Collection[str]) -> str:
    """The innermost line of the user's own files that an error passed through."""
    found = ""
    trace = error.__traceback__
    while trace is not None:
        code, number = trace.tb_frame.f_code, trace.tb_lineno
        if code.co_filename in files or is_beside(code.co_filename):
            linecache.checkcache(code.co_filename)
            line = linecache.getline(code.co_filename, number).strip()
            where = "" if code.co_name == "<module>" else f" in {code.co_name}"
            name = Path(code.co_filename).name
            found = f"{name}, line {number}{where}" + (f" ({line})" if line else "")
        trace = trace.tb_next
    return found


@contextmanager
def _random_state(seed: int) -> Iterator[None]:
    """The global generators of Python, numpy and torch at a seed, and as they were afterwards."""
    torch: Any = sys.modules.get("torch")
    python, numpy = random.getstate(), np.random.get_state()
    fork = torch.random.fork_rng(range(torch.cuda.device_count())) if torch else None
    if fork:
        fork.__enter__()
    random.seed(seed)
    np.random.seed(seed % 2**32)
    if torch:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        if fork:
            fork.__exit__(None, None, None)


@contextmanager
def _unwritten() -> Iterator[None]:
    """No bytecode beside the user's files."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
