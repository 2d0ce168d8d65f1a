"""Up to which batch a metric stays within a tolerance: one curve through all batches.

The curve is the least squares one that never falls. It starts from zero at the user's batch and is
linear in log batch between the others. Replicates are drawn about it; half of the variance of a
difference to the user's training comes from that training, and is common to all batches. The basic
bootstrap removes the bias: noise bends a rising curve upwards in the replicates as in the data.
"""

from __future__ import annotations

import math

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.stats._bootstrap import LEVEL, REPLICATES
from sgdphase.stats._estimate import Estimate


def curve_end(
    batches: FloatArray,
    worse: FloatArray,
    half_widths: FloatArray,
    tolerance: float,
    *,
    level: float = LEVEL,
) -> Estimate:
    """The batch at which the curve leaves the tolerance.

    `batches` are the user's and `n` larger ones, increasing. At these the metric is `worse` by so
    much, with intervals of these `half_widths` at `level`. If the curve stays within the
    tolerance, the estimate is the last batch with `high` infinite.

    >>> end = curve_end(np.array([8.0, 16, 32]), np.array([0.0, 2.0]), np.array([0.1, 0.1]), 1.0)
    >>> round(end.value, 1), 16 < end.low < end.value < end.high < 32
    (22.6, True)
    """
    from scipy.optimize import isotonic_regression
    from scipy.special import ndtri

    x, value = np.log2(batches), np.array([0.0, *worse])
    error = half_widths / float(ndtri((1 + level) / 2))
    least = max(float(error.min()), 1e-150)
    weight = np.array([1e6 / least**2, *(1 / np.maximum(error, least) ** 2)])
    curve = isotonic_regression(value, weights=weight).x
    rng = np.random.default_rng(0)
    own, common = rng.standard_normal((REPLICATES, len(error))), rng.standard_normal(REPLICATES)
    noise = (own + common[:, None]) / math.sqrt(2) * error
    end = _end(x, curve, tolerance)
    ends = [
        _end(x, isotonic_regression(curve + np.array([0.0, *row]), weights=weight).x, tolerance)
        for row in noise
    ]
    upper, lower = np.quantile(ends, [(1 + level) / 2, (1 - level) / 2])
    low, high = 2 * end - float(upper), max(2 * end - float(lower), end)
    first, last = float(x[0]), float(x[-1])
    return Estimate(
        2.0 ** min(end, last),
        2.0 ** min(max(low, first), end, last),
        2.0**high if high <= last else math.inf,
    )


def _end(x: FloatArray, rising: FloatArray, tolerance: float) -> float:
    """Where a rising curve passes the tolerance; beyond the last point if it does not."""
    over = np.flatnonzero(rising > tolerance)
    if not over.size:
        return float(x[-1]) + 1.0
    after = int(over[0])
    if after == 0:
        return float(x[0])
    share = (tolerance - rising[after - 1]) / (rising[after] - rising[after - 1])
    return float(x[after - 1] + share * (x[after] - x[after - 1]))
