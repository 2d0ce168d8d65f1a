"""A text that identifies a user's function, the same in every process."""

from __future__ import annotations

import functools
import hashlib
import inspect
import types
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np


def is_module(what: Any) -> bool:
    """Whether this is a torch module, and not a function that makes one."""
    return hasattr(what, "parameters") and not isinstance(what, type)


def text_of(given: Any, known: set[int] | None = None) -> str:
    """A text that identifies a function: its source, and all values that it uses from outside.

    A function or a class of the same module counts with its source.
    """
    known = set() if known is None else known
    known.add(id(given))
    if isinstance(given, functools.partial):
        return "\n".join([text_of(given.func, known), _repr(given.args), _repr(given.keywords)])
    try:
        parts = [inspect.getsource(given)]
    except (OSError, TypeError):
        code = getattr(given, "__code__", None)
        parts = [_bytecode(code) if code else _repr(given)]
    for value in _surroundings(given):
        is_code = inspect.isfunction(value) or inspect.isclass(value)
        if is_code and value.__module__ == given.__module__:
            parts += [] if id(value) in known else [text_of(value, known)]
        else:
            parts.append(_repr(value))
    return "\n".join(parts)


def _bytecode(code: types.CodeType) -> str:
    """Nested code is a constant; its repr has an address and cannot be used."""
    inner = [_bytecode(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return repr((code.co_code, code.co_names, inner))


def _surroundings(given: Any) -> Iterator[Any]:
    """The values that a function uses from outside: defaults, closure, globals."""
    if not inspect.isfunction(given):
        return
    yield from given.__defaults__ or ()
    for cell in given.__closure__ or ():
        with suppress(ValueError):  # not filled yet
            yield cell.cell_contents
    for name in given.__code__.co_names:
        yield given.__globals__.get(name)


def _repr(given: Any) -> str:
    """A text of a value that is the same in every process: its content, or at least a name."""
    if isinstance(given, str | int | float | bool | bytes | None):
        return repr(given)
    if isinstance(given, Mapping):
        given = sorted(given.items(), key=str)
    if isinstance(given, tuple | list):
        return repr([_repr(part) for part in given])
    name = str(getattr(given, "__qualname__", type(given).__qualname__))
    if isinstance(given, type):
        return name
    # Strange objects of a notebook must not raise here.
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
