"""A number with its interval, and how it is printed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sgdphase.errors import InputError


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Attributes
    ----------
    value : float
    low, high : float
        Ends of the interval; NaN where the data give none (a single seed).
    misfit : bool, default False
        Whether points scatter about a fit by more than their seeds explain. The interval has it
        too, and more seeds would hardly shorten it.

    Examples
    --------
    >>> Estimate(2.0, 1.5, float("nan")).as_dict()
    {'value': 2.0, 'low': 1.5, 'high': None}
    """

    value: float
    low: float
    high: float
    misfit: bool = field(default=False, compare=False, kw_only=True)

    def __repr__(self) -> str:
        return shown(self)

    def mapped(self, function: Callable[[float], float]) -> Estimate:
        """The estimate of a monotonic `function` of the number.

        >>> Estimate(2.0, 1.0, 3.0).mapped(lambda x: -x)
        -2 [-3, -1]
        """
        value, low, high = (float(function(x)) for x in (self.value, self.low, self.high))
        low, high = (high, low) if high < low else (low, high)
        return replace(self, value=value, low=low, high=high)

    def as_dict(self) -> dict[str, float | None]:
        """Plain numbers, None instead of NaN."""
        return {name: plain(float(getattr(self, name))) for name in ("value", "low", "high")}


class Plain:
    """The base of records that are a JSON object field by field."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; None where there is no number."""
        return {name: plain(value) for name, value in vars(self).items()}


def plain(value: Any) -> Any:
    """A value for JSON: records as dicts, tuples as lists, None for what is not finite."""
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if hasattr(value, "as_dict"):
        return value.as_dict()
    value = value.item() if hasattr(value, "item") else value  # of numpy
    return None if isinstance(value, float) and not math.isfinite(value) else value


def shown(estimate: Estimate | None, count: int = 3) -> str:
    """A number with its interval, as text with `count` significant digits.

    >>> shown(Estimate(52.83, 39.6, 1066.9)), shown(Estimate(3.0, float("nan"), float("nan")))
    ('52.8 [39.6, 1070]', '3 [no interval]')
    """
    if estimate is None:
        return "unknown"
    if not (math.isfinite(estimate.low) or math.isfinite(estimate.high)):
        return f"{digits(estimate.value, count)} [no interval]"
    low, high = (digits(edge, count) or "?" for edge in (estimate.low, estimate.high))
    return f"{digits(estimate.value, count)} [{low}, {high}]"


def shown_whole(estimate: Estimate) -> str:
    """A whole number such as a batch, with its interval and all digits.

    >>> shown_whole(Estimate(1024.2, 900.0, math.inf)), shown_whole(Estimate(8.0, math.nan, 9.7))
    ('1024 [900, inf]', '8 [?, 10]')
    """
    return shown(estimate.mapped(lambda x: round(x) if math.isfinite(x) else x), 15)


def digits(value: float, count: int = 3) -> str:
    """A number as text, without a power of ten as long as it is readable; nothing for NaN.

    >>> digits(2421.7), digits(0.012345), digits(float("nan"))
    ('2420', '0.0123', '')
    """
    return "" if math.isnan(value) else f"{float(f'{value:.{count}g}'):.15g}"


def duration(seconds: float) -> str:
    """A duration as text.

    >>> duration(0.3), duration(75), duration(5000), duration(400000), duration(1e9)
    ('less than 1 s', '1 min 15 s', '1 h 23 min', '4 d 15 h', '31 y 259 d')
    """
    if seconds < 1:
        return "less than 1 s"
    whole = round(seconds)
    for size, name, smaller, small_name in (
        (365 * 86400, "y", 86400, "d"),
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            return f"{whole // size} {name} {whole % size // smaller} {small_name}"
    return f"{whole} s"


_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def seconds_of(time: float | str, name: str = "budget") -> float:
    """A time such as `90s`, `10m`, `2h`, or a number of seconds; `name` is for the message.

    >>> seconds_of("10m"), seconds_of("1.5h"), seconds_of(45)
    (600.0, 5400.0, 45.0)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([a-z]*)\s*", str(time))
    unit = _UNITS.get(match[2]) if match else None
    if match is None or unit is None or not float(match[1]) > 0:
        raise InputError(f"{name} = '{time}': must be a time such as 90s, 10m or 2h")
    return float(match[1]) * unit
