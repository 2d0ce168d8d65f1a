"""The errors a user can cause: a value that is not valid, and a fault in the user's code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
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
    try:
        if value is not None and value == value and valid(value):
            return
    except (TypeError, ValueError):  # a text, or an array
        pass
    raise InputError(f"{name} = {one_line(value)}: must be {wanted}")


def require_type(name: str, value: object, kind: type | tuple[type, ...], wanted: str) -> None:
    """Raise `InputError` unless `value` is of this type."""
    if not isinstance(value, kind):
        raise InputError(f"{name} = {one_line(value)}: must be {wanted}")


def one_line(value: object) -> str:
    """`value` on one short line, for messages; a number of numpy as Python's."""
    first, *more = str(value).splitlines() or [""]
    text = first if len(first) <= 60 and not more else f"{first[:57]}..."
    return f"'{text}'" if isinstance(value, str) else text


def listed(names: Iterable[str], last: str = "or") -> str:
    """Names as a text.

    >>> listed(["sgd"]), listed(["relu", "gelu", "tanh"])
    ('sgd', 'relu, gelu or tanh')
    """
    *first, final = [*names] or [""]
    return f"{', '.join(first)} {last} {final}" if first else final


def likely(name: object, names: Iterable[str]) -> str:
    """What may have been meant, whatever its capitals: ` (did you mean fig1a?)`, or nothing."""
    meant = {each.lower(): each for each in names}
    matches = get_close_matches(str(name).lower(), meant, 1)
    return "".join(f" (did you mean {meant[each]}?)" for each in matches)


def make_folder(folder: Path) -> None:
    """Make a folder, if it is missing; say in one line why it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created ({error.strerror or error})") from None
