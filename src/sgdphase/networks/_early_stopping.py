"""The best test error during training, and its step (SI, Figs. S5 and S6)."""

from __future__ import annotations

import math
from collections.abc import Sequence


def early_stopped(steps: Sequence[float], test_errors: Sequence[float]) -> tuple[float, float]:
    """The lowest error and the first step that had it; NaN without any.

    >>> early_stopped([1, 2, 4], [0.5, 0.25, 0.25])
    (0.25, 2)
    """
    pairs = [(e, s) for e, s in zip(test_errors, steps, strict=True) if not math.isnan(e)]
    return min(pairs, default=(math.nan, math.nan))
