"""The errors a user can cause: a value that is not valid, and a fault in the user's code."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from pathlib import Path

# The range of numbers such as learning rates: the product of three of them is a float still.
SMALLEST, LARGEST = 1e-100, 1e100
# Endings of the pictures that are drawn.
PICTURES = (".png", ".pdf", ".svg")


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


def require_whole(name: str, value: float | None, least: int = 1) -> None:
    """Raise `InputError` unless `value` is a whole number of at least `least`.

    >>> require_whole("depth", 2.5)
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: depth = 2.5: must be an integer of at least 1
    """
    require(name, value, lambda n: n >= least and n == n // 1, f"an integer of at least {least}")


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


def check_folder(folder: Path) -> Path:
    """A folder that files can be written into, or that can be made; before any work."""
    place = folder
    try:
        while not os.path.lexists(place) and place != place.parent:
            place = place.parent
        if not place.is_dir():
            raise InputError(f"{folder}: cannot be a folder, as '{place}' is a file")
    except OSError as error:
        raise InputError(f"{folder}: cannot be created ({error.strerror or error})") from None
    if not os.access(place, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be written (Permission denied)")
    return folder


def check_output(path: Path, endings: Collection[str] = ()) -> Path:
    """The path of a file that can be written there, and has one of `endings`; before any work.

    >>> check_output(Path("diagram.gif"), (".png", ".pdf"))
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: diagram.gif: must end in .png or .pdf
    """
    if endings and path.suffix.lower() not in endings:
        raise InputError(f"{path}: must end in {listed(endings)}")
    try:
        path.stat()
        if not path.is_file():
            raise InputError(f"{path}: cannot be written (not a file)")
        place = path
    except FileNotFoundError:
        place = path.parent
        if not place.is_dir():
            raise InputError(f"{path}: there is no folder '{place}'") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None
    if not os.access(place, os.W_OK):
        raise InputError(f"{path}: cannot be written (Permission denied)")
    return path


def check_memory(needed: float, what: str) -> None:
    """Raise `InputError` if `what` needs more bytes than this machine has at all.

    >>> check_memory(2.0**80, "train size = 2^70")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: train size = 2^70: needs at least 1e+06 EiB of memory, and ...
    """
    try:
        held = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # a system that does not say
        return
    if needed > held:
        raise InputError(
            f"{what}: needs at least {_bytes(needed)} of memory, and this machine has "
            f"{_bytes(held)}"
        )


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.2g} EiB"
