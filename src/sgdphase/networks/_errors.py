"""Fractions of a set of points: errors, and points that are not fitted."""

from __future__ import annotations

import math

from torch import Tensor


def error(z: Tensor) -> float:
    """The fraction of points on the wrong side (`z <= 0`)."""
    return float((z <= 0).cpu().double().mean()) if z.isfinite().all() else math.nan


def unfitted(z: Tensor, short: float) -> float:
    """The fraction of points with a margin below `short`."""
    return float((z < short).cpu().double().mean()) if z.isfinite().all() else math.nan
