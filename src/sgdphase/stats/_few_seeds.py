"""Numbers from few seeds: Student's quantiles, pooled deviations, where a curve crosses zero."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from sgdphase._typing import FloatArray

# Width of the local line in the logarithm `u`: a factor of the square root of two.
_BANDWIDTH = math.log(2) / 2


def quantile(freedom: int, level: float) -> float:
    """Quantile of Student's distribution: the value with probability `level` below it.

    >>> round(quantile(2, 0.95), 3)
    2.92
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))


def pooled(groups: Iterable[FloatArray]) -> tuple[float, int]:
    """The pooled standard deviation within groups, and its degrees of freedom (NaN, 0 if none).

    >>> pooled([np.array([1.0, 3.0]), np.array([5.0])])
    (1.4142135623730951, 1)
    """
    several = [group for group in groups if group.size > 1]
    freedom = sum(group.size - 1 for group in several)
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in several)
    return (math.sqrt(squares / freedom), freedom) if freedom else (math.nan, 0)


def crossing(u: FloatArray, y: FloatArray, n: FloatArray, first: int) -> tuple[float, float]:
    """Where a local line through points `y(u)` is zero, after the point `first`, and its slope.

    Points have weights: their number `n` of seeds times a Gaussian of the distance to the zero.
    `u` increases, and is a natural logarithm.

    >>> at, slope = crossing(np.array([0.0, 1.0, 2.0]), np.array([-1.0, 1.0, 3.0]), np.ones(3), 0)
    >>> round(at, 6), round(slope, 6)
    (0.5, 2.0)
    """
    low, high = u[first], u[first + 1]
    rise = (y[first + 1] - y[first]) / (high - low)
    at = float(low - y[first] / rise) if rise > 0 else float(low)
    for _ in range(4):
        weight = n * np.exp(-(((u - at) / _BANDWIDTH) ** 2))
        centre = float(np.average(u, weights=weight))
        spread = float(np.average((u - centre) ** 2, weights=weight))
        level = float(np.average(y, weights=weight))
        slope = float(np.average((u - centre) * (y - level), weights=weight)) / max(spread, 1e-12)
        if slope <= 0:
            return at, float(rise)
        at = float(np.clip(centre - level / slope, low, high))
    return at, slope
