"""How much is wrong: errors and unfitted points, as parts of a set."""

from __future__ import annotations

import math

from torch import Tensor


def error(z: Tensor) -> float:
    """The part of the points that are not on the right side (`z <= 0`)."""
    return float((z <= 0).cpu().double().mean()) if z.isfinite().all() else math.nan


def unfitted(z: Tensor, short: float) -> float:
    """The part of the points that are short of the margin."""
    return float((z < short).cpu().double().mean()) if z.isfinite().all() else math.nan
