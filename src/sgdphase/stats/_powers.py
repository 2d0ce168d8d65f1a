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
