"""Powers of two: as numbers, as text, as TeX."""

from __future__ import annotations

import math


def powers(first: int, last: int, step: int = 1) -> list[float]:
    """Powers of two with the exponents `first, first + step, ...` up to `last`.

    Parameters
    ----------
    first, last : int
    step : int, default 1

    Examples
    --------
    >>> powers(-1, 3, 2)
    [0.5, 2.0, 8.0]
    """
    return [2.0**k for k in range(first, last + 1, step)]


def whole_powers(first: int, last: int, step: int = 1) -> list[int]:
    """`powers` as integers.

    Parameters
    ----------
    first, last : int, at least 0
    step : int, default 1

    Examples
    --------
    >>> whole_powers(0, 3)
    [1, 2, 4, 8]
    """
    return [2**k for k in range(first, last + 1, step)]


def nearest_power(value: float) -> int:
    """The power of two nearest to a number (in log), and at least 1.

    >>> nearest_power(100), nearest_power(0.1)
    (128, 1)
    """
    return int(2 ** max(round(math.log2(value)), 0))


def power_or_digits(value: float, count: int = 3, below: float = math.inf) -> str:
    """A power of two as `2^k` if it is less than `below`, other numbers with `count` digits.

    >>> power_or_digits(2.0**-10), power_or_digits(16, below=1), power_or_digits(0.3)
    ('2^-10', '16', '0.3')
    """
    if 0 < value < below and math.isfinite(value):
        power = math.log2(value)
        if abs(power - round(power)) < 1e-9:  # values may be rounded to 12 digits
            return power_of_two(value)
    return f"{value:.{count}g}"


def power_of_two(value: float) -> str:
    """`2^k` for the nearest whole `k`, as text.

    >>> power_of_two(0.0078125), power_of_two(100)
    ('2^-7', '2^7')
    """
    return f"2^{round(math.log2(value))}"


def power_of_two_tex(value: float) -> str:
    """`2^k` for the nearest whole `k`, in TeX.

    >>> power_of_two_tex(1024)
    '2^{10}'
    """
    return f"2^{{{round(math.log2(value))}}}"
