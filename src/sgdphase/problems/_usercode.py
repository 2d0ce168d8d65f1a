"""Code of the user's own: a file with `model` and `data` or with `train`, or the functions.

It runs as a guest. What it raises is shown as the user's error, with its line. The random state of
the process is put back after every call, and each call starts from a seed that it is given, so that
what is drawn without one is the same in every process. What it prints goes to standard error, and
loading a file leaves nothing beside it.
"""

from __future__ import annotations

import hashlib
import inspect
import linecache
import random
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sgdphase.errors import InputError, UserError

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
        place = _place(error, self.functions.values(), self.name)
        return f"{place or f'{self.name}, in {doing}'}: {what}"


def load(path: str | Path) -> UserCode:
    """Execute a file, which is not run as a script: its `__name__` is not `__main__`."""
    path = Path(path)
    try:
        source = path.read_text(encoding="utf-8")
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
    code = UserCode(path.name, {}, source)
    # As when Python runs the file; functions may import later, so that it stays.
    folder = str(path.absolute().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    with code.guest("the file"):
        try:
            exec(compile(source, str(path), "exec"), vars(module))
        except SyntaxError as error:
            raise UserError(f"{path.name}, line {error.lineno}: {error.msg}") from None
        except Exception as error:
            place = _line_in(error, str(path), path.name)
            raise UserError(f"{place}: {type(error).__name__}: {error}") from error
    found = {name: vars(module)[name] for name in FUNCTIONS if callable(vars(module).get(name))}
    return UserCode(path.name, found, source)


def user_code(**given: Any) -> UserCode:
    """The same from functions, or from the model or the data that they would return."""
    made = {name: what for name, what in given.items() if what is not None}
    functions = {name: _function(what) for name, what in made.items()}
    return UserCode("your code", functions, "\n".join(map(_text, made.values())))


def is_module(what: Any) -> bool:
    """A module, which is callable too, but is no function that makes one."""
    return hasattr(what, "parameters") and not isinstance(what, type)


def _function(what: Any) -> Callable[..., Any]:
    if callable(what) and not is_module(what):
        return what  # type: ignore[no-any-return]
    return lambda: what


def _text(given: Any) -> str:
    """What tells a function from another: its source, or its bytecode if there is none."""
    try:
        return inspect.getsource(given)
    except (OSError, TypeError):
        code = getattr(given, "__code__", None)
        return repr((code.co_code, code.co_consts)) if code else _repr(given)


def _repr(given: Any) -> str:
    """A module is its layers and weights; data are told apart by their content anyway."""
    if not is_module(given):
        return type(given).__qualname__
    weights = hashlib.sha256()
    for weight in given.parameters():
        weights.update(weight.detach().cpu().numpy().tobytes())
    return f"{given!r} {weights.hexdigest()}"


def _is_ours(error: BaseException) -> bool:
    """Whether it was raised by this package itself: a user's mistake shows in code we call."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    ours = Path(__file__).parents[1]
    is_guest = trace is None or trace.tb_frame.f_code is UserCode.call.__code__
    return not is_guest and ours in Path(trace.tb_frame.f_code.co_filename).parents  # type: ignore[union-attr]


def _place(error: BaseException, functions: Any, name: str) -> str:
    """The innermost line of the user's own files that an error passed through."""
    files = {code.co_filename for f in functions if (code := getattr(f, "__code__", None))}
    for file in files:
        shown = name if file.endswith(name) else Path(file).name
        if found := _line_in(error, file, shown):
            return found
    return ""


def _line_in(error: BaseException, file: str, shown: str) -> str:
    found = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == file:
            line = linecache.getline(file, trace.tb_lineno).strip()
            where = "" if code.co_name == "<module>" else f" in {code.co_name}"
            found = f"{shown}, line {trace.tb_lineno}{where}" + (f" ({line})" if line else "")
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
