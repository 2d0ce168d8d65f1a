"""Code of the user's own: a file with `model` and `data` or with `train`, or the functions.

It runs as a guest. What it raises is shown as the user's error, with its line. The random state of
the process is put back after every call, and each call starts from a seed that it is given, so that
what is drawn without one is the same in every process. What it prints goes to standard error, and
loading a file leaves nothing beside it.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
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

FUNCTIONS = ("model", "data", "test_data", "train")
# Folders of files that were loaded: the modules beside them are the user's too. The texts are
# those of the last one's.
_FOLDERS: set[Path] = set()
_NEIGHBOURS: dict[Path, str] = {}


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
    folder = path.absolute().parent
    _FOLDERS.add(folder)
    sys.path[:] = [str(folder), *(entry for entry in sys.path if entry != str(folder))]
    neighbours = _neighbours(path.absolute(), source)
    _forget_others(neighbours)
    code = UserCode(path.name, {}, "\n".join([source, *neighbours.values()]))
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


def _forget_others(neighbours: Mapping[Path, str]) -> None:
    """Have the user's modules imported anew if they changed, or were those beside another file."""
    if neighbours == _NEIGHBOURS:
        return
    _NEIGHBOURS.clear()
    _NEIGHBOURS.update(neighbours)
    importlib.invalidate_caches()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and name not in ("__main__", "user_training") and _is_beside(file):
            del sys.modules[name]


def _is_beside(file: str) -> bool:
    """Whether it is of a module, or of a package, that lies in the folder of a user's file."""
    path = Path(file)
    for folder in _FOLDERS.intersection(path.parents):
        top = path.relative_to(folder).parts[0].removesuffix(".py")
        if top in sys.modules and top != "sgdphase" and "site-packages" not in path.parts:
            return True
    return False


def _neighbours(path: Path, source: str) -> dict[Path, str]:
    """The texts of the modules beside a file that it imports, and of those that they import."""
    texts: dict[Path, str] = {path: source}

    def follow(file: Path) -> None:
        try:
            nodes = list(ast.walk(ast.parse(texts[file])))
        except (SyntaxError, ValueError):
            return
        for place in (place for node in nodes for place in _imported(node, file, path.parent)):
            for near in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
                if near not in texts and near.is_file():
                    with suppress(OSError, UnicodeDecodeError):
                        texts[near] = near.read_text(encoding="utf-8-sig")
                        follow(near)

    follow(path)
    return {file: text for file, text in texts.items() if file != path}


def _imported(node: ast.AST, file: Path, root: Path) -> Iterator[Path]:
    """Where the modules of an import statement would lie, without suffix, parents first."""
    if isinstance(node, ast.Import):
        names = [(root, alias.name) for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        start = file.parents[min(node.level, len(file.parents)) - 1] if node.level else root
        within = f"{node.module}." if node.module else ""
        names = [(start, within + alias.name) for alias in node.names]
    else:
        return
    for place, name in names:
        for part in name.split("."):
            place = place / part
            yield place


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


def _text(given: Any, known: set[int] | None = None) -> str:
    """What tells a function from another: its source, and all that it has from outside.

    A function or a class of the same module counts with its own source.
    """
    known = set() if known is None else known
    known.add(id(given))
    if isinstance(given, functools.partial):
        return "\n".join([_text(given.func, known), _repr(given.args), _repr(given.keywords)])
    try:
        parts = [inspect.getsource(given)]
    except (OSError, TypeError):
        code = getattr(given, "__code__", None)
        parts = [_bytecode(code) if code else _repr(given)]
    for value in _surroundings(given):
        is_code = inspect.isfunction(value) or inspect.isclass(value)
        if is_code and value.__module__ == given.__module__:
            parts += [] if id(value) in known else [_text(value, known)]
        else:
            parts.append(_repr(value))
    return "\n".join(parts)


def _bytecode(code: types.CodeType) -> str:
    """Code inside code is a constant of it, whose own text has an address."""
    inner = [_bytecode(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return repr((code.co_code, code.co_names, inner))


def _surroundings(given: Any) -> Iterator[Any]:
    """The values that a function has from outside: defaults, closure, globals."""
    if not inspect.isfunction(given):
        return
    yield from given.__defaults__ or ()
    for cell in given.__closure__ or ():
        with suppress(ValueError):  # not filled yet
            yield cell.cell_contents
    for name in given.__code__.co_names:
        yield given.__globals__.get(name)


def _repr(given: Any) -> str:
    """What shows of a value in every process alike: a name at least, or its content."""
    if isinstance(given, str | int | float | bool | bytes | None):
        return repr(given)
    if isinstance(given, Mapping):
        given = sorted(given.items(), key=str)
    if isinstance(given, tuple | list):
        return repr([_repr(part) for part in given])
    name = str(getattr(given, "__qualname__", type(given).__qualname__))
    if isinstance(given, type):
        return name
    # Whatever lies around in a notebook must not be in the way.
    with suppress(Exception):
        if is_module(given):
            weights = [_content(weight) for weight in given.parameters()]
            return f"{given!r} {weights}"
        if hasattr(given, "__array__"):
            return _content(given)
    return name


def _content(given: Any) -> str:
    array = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
    if array.dtype.hasobject:
        return str(array.shape)
    return f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"


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
        if code.co_filename in files or _is_beside(code.co_filename):
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
