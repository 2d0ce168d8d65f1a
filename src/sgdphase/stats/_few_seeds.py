"""Numbers from few seeds: Student's quantiles, pooled deviations, where a curve crosses zero."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from sgdphase._typing import FloatArray

__all__ = ["crossing", "pooled", "quantile"]

# Of the local line through the points: a factor of the square root of two in what is a logarithm.
_BANDWIDTH = math.log(2) / 2


def quantile(freedom: int, level: float) -> float:
    """Of Student's distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))


def pooled(groups: Iterable[FloatArray]) -> tuple[float, int]:
    """The deviation within groups, and its degrees of freedom."""
    several = [group for group in groups if group.size > 1]
    freedom = sum(group.size - 1 for group in several)
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in several)
    return (math.sqrt(squares / freedom), freedom) if freedom else (math.nan, 0)


def crossing(u: FloatArray, y: FloatArray, n: FloatArray, first: int) -> tuple[float, float]:
    """Where a local line through the points is zero between two of them, and its slope.

    Points count by their seeds and by how near they are.
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
