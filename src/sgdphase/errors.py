"""The errors a user can cause: a value that is not valid, and a fault in the user's code."""

from __future__ import annotations

from collections.abc import Callable


class InputError(ValueError):
    """Bad input. The message is one line: what was given and what is valid."""


class UserError(InputError):
    """A fault in the user's code. The message has its file and line."""


def require(name: str, value: float, valid: Callable[[float], bool], wanted: str) -> None:
    """Raise `InputError` unless `valid(value)`; NaN is never valid.

    >>> require("chi", 1.0, lambda chi: chi > -1, "a number above -1")
    >>> require("chi", -2.0, lambda chi: chi > -1, "a number above -1")
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: chi = -2.0: must be a number above -1
    """
    if value != value or not valid(value):
        raise InputError(f"{name} = {value}: must be {wanted}")
