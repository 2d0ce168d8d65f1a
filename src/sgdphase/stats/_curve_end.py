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
    from scipy.special import ndtri

    x, value = np.log2(batches), np.array([0.0, *worse])
    error = half_widths / float(ndtri((1 + level) / 2))
    least = max(float(error.min()), 1e-150)
    weight = np.array([1e6 / least**2, *(1 / np.maximum(error, least) ** 2)])
    [curve] = _rising(value[None], weight)
    rng = np.random.default_rng(0)
    own, common = rng.standard_normal((REPLICATES, len(error))), rng.standard_normal(REPLICATES)
    copies = np.tile(curve, (REPLICATES, 1))
    copies[:, 1:] += (own + common[:, None]) / math.sqrt(2) * error
    end, *ends = _ends(x, np.vstack([curve, _rising(copies, weight)]), tolerance).tolist()
    upper, lower = np.quantile(ends, [(1 + level) / 2, (1 - level) / 2])
    low, high = 2 * end - float(upper), max(2 * end - float(lower), end)
    first, last = float(x[0]), float(x[-1])
    return Estimate(
        2.0 ** min(end, last),
        2.0 ** min(max(low, first), end, last),
        2.0**high if high <= last else math.inf,
    )


def _rising(y: FloatArray, weight: FloatArray) -> FloatArray:
    """The least squares curve that never falls, of each of the rows `y [R, n]`.

    At `i` it is the largest over `a <= i` of the smallest over `b >= i` of the mean from `a` to
    `b`.
    """
    best = np.full(y.shape, -np.inf)
    for a in range(y.shape[1]):
        means = np.cumsum(y[:, a:] * weight[a:], axis=1) / np.cumsum(weight[a:])
        smallest = np.minimum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
        best[:, a:] = np.maximum(best[:, a:], smallest)
    return best


def _ends(x: FloatArray, rising: FloatArray, tolerance: float) -> FloatArray:
    """Where each rising curve passes the tolerance; beyond the last point if it does not."""
    over, rows = rising > tolerance, np.arange(len(rising))
    after = np.maximum(over.argmax(axis=1), 1)
    low, high = rising[rows, after - 1], rising[rows, after]
    share = (tolerance - low) / np.where(high > low, high - low, 1.0)
    inner = x[after - 1] + share * (x[after] - x[after - 1])
    ends: FloatArray = np.where(over.any(axis=1), inner, x[-1] + 1.0)
    return np.where(over[:, 0], x[0], ends)
