"""The lowest place of a curve on an even grid."""

from __future__ import annotations

import numpy as np

from sgdphase._typing import FloatArray


def lowest(x: FloatArray, y: FloatArray) -> FloatArray:
    """Where `y [n, ...]` is least on the even grid `x [n]`: a parabola goes through three points.

    NaN where there is no `y` at the place.

    >>> lowest(np.arange(5.0), (np.arange(5.0) - 1.3)[:, None] ** 2).round(6).tolist()
    [1.3]
    """
    k = np.where(np.isfinite(y), y, np.inf).argmin(axis=0)
    middle = np.clip(k, 1, x.size - 2)
    a, b, c = (np.take_along_axis(y, (middle + i)[None], 0)[0] for i in (-1, 0, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        shift = np.nan_to_num(np.clip(0.5 * (a - c) / (a - 2 * b + c), -1, 1))
    return np.asarray(np.where(np.isfinite(b), x[middle] + shift * (x[1] - x[0]), np.nan))
