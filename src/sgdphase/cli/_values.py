"""Numbers on the command line: `0.5`, `1e-3`, `2^-7`, `3/4`; ranges `2^0..2^13`; lists `1,2,8`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import typer

from sgdphase.errors import InputError

# Whole numbers of arrays and compiled loops are below this.
_WHOLE_MAX = 2**63
_VALID = "a number such as 0.5, 1e-3, 1/64 or 2^-7"


def for_option(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """The parser of an option. Typer below 0.29 drops the text of any other error."""

    def parse(text: str) -> Any:
        try:
            return read(text)
        except InputError as error:
            raise typer.BadParameter(str(error)) from None

    return parse


def number(text: str) -> float:
    """A number, where `^` is a power and `/` one division.

    >>> number("2^-7"), number("1/64"), number("1e-3")
    (0.0078125, 0.015625, 0.001)
    """
    # Defaults come here too, as the numbers they are.
    match = re.fullmatch(r"\s*([^\s^/]+)(?:\s*([\^/])\s*([^\s^/]+))?\s*", str(text))
    try:
        if match is None:
            raise ValueError
        left, operator, right = match.groups()
        value = float(left)
        if operator == "^":
            value = value ** float(right)
        elif operator == "/":
            value = value / float(right)
        if not isinstance(value, float) or math.isnan(value):
            raise ValueError
    except OverflowError:
        raise InputError(f"'{text}' is too large for a number of this machine") from None
    except (ValueError, ZeroDivisionError):
        raise InputError(f"'{text}' is not {_VALID}") from None
    return value


def integer(text: str) -> int:
    """A whole number, written as any number.

    >>> integer("2^13"), integer("1e4")
    (8192, 10000)
    """
    return _whole(number(text), f"'{text}'")


def numbers(text: str) -> list[float]:
    """A list `1,2,8`, a range `a..b` by powers of two, or `a..b*4` by powers of four; or a mix.

    >>> numbers("2^-2..2"), numbers("1..64*4"), numbers("1,3..12")
    ([0.25, 0.5, 1.0, 2.0], [1.0, 4.0, 16.0, 64.0], [1.0, 3.0, 6.0, 12.0])
    """
    values: list[float] = []
    for part in text.split(","):
        values.extend(_range(part) if ".." in part else [number(part)])
    if len(set(values)) < len(values):
        raise InputError(f"'{text}' names a value twice")
    return values


def integers(text: str) -> list[int]:
    """As `numbers`, whole ones only."""
    return [_whole(value, f"'{text}' holds {value:g}, which") for value in numbers(text)]


def _whole(value: float, text: str) -> int:
    if not math.isfinite(value) or value != int(value):
        raise InputError(f"{text} is not a whole number such as 128 or 2^13")
    if abs(value) >= _WHOLE_MAX:
        raise InputError(f"{text} is too large: whole numbers are below 2^63")
    return int(value)


def _range(text: str) -> list[float]:
    wanted = "a range such as 2^-10..2^12 or 1..4096*4"
    match = re.fullmatch(r"(.+?)\.\.([^*]+)(?:\*(.+))?", text.strip())
    if match is None:
        raise InputError(f"'{text}' is not {wanted}")
    low, high = number(match[1]), number(match[2])
    factor = number(match[3]) if match[3] else 2.0
    if not (0 < low <= high < math.inf and 1 < factor < math.inf):
        raise InputError(
            f"'{text}' is not {wanted}, from a positive number up, by a factor above 1"
        )
    # A little slack, so that the end of the range is in it whatever rounding does.
    count = math.floor((math.log(high) - math.log(low)) / math.log(factor) + 1e-9) + 1
    if count > 10_000:
        raise InputError(f"'{text}' holds {count} values; a range may hold 10000")
    return [_times_power(low, factor, k) for k in range(count)]


def _times_power(low: float, factor: float, k: int) -> float:
    try:
        return low * factor**k
    except OverflowError:  # the power alone
        return low * factor ** (k // 2) * factor ** (k - k // 2)
