"""The errors a user can cause: a value that is not valid, and a fault in the user's code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path


class InputError(ValueError):
    """Bad input. The message is one line: what was given and what is valid."""


class UserError(InputError):
    """A fault in the user's code. The message has its file and line."""


def require(name: str, value: float | None, valid: Callable[[float], bool], wanted: str) -> None:
    """Raise `InputError` unless `valid(value)`; None and NaN are never valid.

    >>> require("chi", 1.0, lambda chi: chi > -1, "a number above -1")
    >>> require("chi", -2.0, lambda chi: chi > -1, "a number above -1")
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: chi = -2.0: must be a number above -1
    """
    if value is None or value != value or not valid(value):
        raise InputError(f"{name} = {value}: must be {wanted}")


def listed(names: Iterable[str], last: str = "or") -> str:
    """Names as a text.

    >>> listed(["sgd"]), listed(["relu", "gelu", "tanh"])
    ('sgd', 'relu, gelu or tanh')
    """
    *first, final = [*names] or [""]
    return f"{', '.join(first)} {last} {final}" if first else final


def make_folder(folder: Path) -> None:
    """Make a folder, if it is missing; say in one line why it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created ({error.strerror or error})") from None
