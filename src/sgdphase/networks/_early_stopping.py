"""The best test error along the way, and when it was (SI, Figs. S5 and S6)."""

from __future__ import annotations

import math
from collections.abc import Sequence


def early_stopped(steps: Sequence[float], test_errors: Sequence[float]) -> tuple[float, float]:
    """The lowest error and the first step that had it; NaN if nothing was seen.

    >>> early_stopped([1, 2, 4], [0.5, 0.25, 0.25])
    (0.25, 2)
    """
    seen = [(e, s) for e, s in zip(test_errors, steps, strict=True) if not math.isnan(e)]
    return min(seen, default=(math.nan, math.nan))
