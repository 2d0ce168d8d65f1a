"""Verdicts: whether the deciding metric of a training is the same as the user's."""

from __future__ import annotations

import math
from typing import Literal

from sgdphase.stats import Estimate

# Tolerance of a verdict, relative to the user's value, unless seeds scatter more.
TOLERANCE = 0.05
# A share above this is in per cent.
_PER_CENT = 1.5

# `not worse`: the same or better, which of the two is open.
Verdict = Literal["the same", "better", "not worse", "worse", "cannot tell"]
ACCEPTED: tuple[Verdict, ...] = ("the same", "better", "not worse")


def part_of(relative: float, value: float, *, share: bool) -> float:
    """A part of a value; of a share, such as an accuracy, of what is missing to one.

    In per cent it is what is missing to 100: then values are above `_PER_CENT`. Beyond its end,
    where the curve through noisy values may lie, nothing is missing.

    >>> [round(part_of(0.05, value, share=True), 6) for value in (0.9, 90.0, 1.0001)]
    [0.005, 0.5, 0.0]
    >>> part_of(0.05, 90.0, share=False)
    4.5
    """
    size = abs(value)
    if share and value > 0:
        size = max((1 if value <= _PER_CENT else 100) - value, 0.0)
    return relative * size


def verdict_of(change: Estimate | None, tolerance: float, worse: float) -> Verdict:
    """What a `change` of the deciding metric means; more of it, times `worse`, is worse."""
    if change is None or not math.isfinite(change.low):
        return "cannot tell"
    low, high = sorted((worse * change.low, worse * change.high))
    if -tolerance <= low and high <= tolerance:
        return "the same"
    if low > tolerance:
        return "worse"
    if high < -tolerance:
        return "better"
    return "not worse" if high <= tolerance else "cannot tell"
