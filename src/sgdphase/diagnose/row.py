"""A learning rate at which large batches are first-step-dominated: the row to find `B*` in.

At a batch above `B*`, `m` is fixed in the GD regime and grows as `lr` above the first-step line.
The slope of `log m` over a factor 4 of `lr` tells them apart, within one seed. The search goes up
from the learning rate it is given, and stays there if that is high enough. The share of the first
step in `m`, which is `lr` over the first-step line in the GD regime, says how far to go at once.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

from sgdphase.diagnose.learner import Trial
from sgdphase.diagnose.told import Told

__all__ = ["STEP", "Row", "row_search"]

STEP = 4.0  # in lr, between the two runs of a slope
DOWN = 256  # below the start, that is far enough to see whether a lower lr helps
STEPS = 8  # a factor 2^16 at least, if nothing says how far to go
# A slope is measured down to lr/4. Where m is the larger of m_gd and b lr, 0.7 puts lr at 2.6 times
# the first-step line; where it is their sum, at 5 times.
CLEAR = 0.7
# Half way from GD (0) to the first step (1): below it a slope is nearer to GD.
HALF = 0.5


@dataclass(frozen=True)
class Row:
    """Where the search ended: `lr` of the row, None if there is none, for the reason given."""

    lr: float | None
    why: str = ""


def row_search(told: Told, lr: float, batch: int) -> Generator[tuple[Trial, ...], None, Row]:
    """Asks for runs of seed 0 at one batch, and returns the row."""
    best: tuple[float, float] = (-math.inf, lr)  # the steepest slope so far, and where
    lowest_unfitted = math.inf
    x = lr
    for _ in range(STEPS):
        yield (Trial(x, batch, 0), Trial(x / STEP, batch, 0))
        if math.isnan(told.log((x, batch), 0)):
            lowest_unfitted = min(lowest_unfitted, x)
            # Back to where it came from, by small steps; below the start if that is unfitted.
            x = x / STEP
            if (x <= best[1] and best[0] > -math.inf) or x < lr / DOWN:
                break
            continue
        slope = (told.log((x, batch), 0) - told.log((x / STEP, batch), 0)) / math.log2(STEP)
        if slope >= CLEAR:
            return Row(x)
        if math.isnan(slope):
            slope = -math.inf  # a low lr may spend its budget; higher ones have this for a pair
        passed = slope < best[0] and best[0] >= HALF  # beyond the steepest: a rate too high
        best = max(best, (slope, x))
        higher = x * _factor(slope, told.share((x, batch), 0))
        while higher > x and higher >= lowest_unfitted:
            higher /= STEP
        if passed or higher <= x:
            break
        x = higher
    if best[0] >= HALF:
        return Row(best[1])
    return Row(None, _why(best, batch, lowest_unfitted))


def _factor(slope: float, share: float) -> float:
    """How far up to go: to `STEP` times the first-step line if the first step's share says."""
    if math.isnan(share):
        return STEP**2 if slope < 0.2 else STEP
    steps = round(math.log2(STEP / share) / math.log2(STEP))
    return float(STEP ** min(max(steps, 1), 4))


def _why(best: tuple[float, float], batch: int, unfitted: float) -> str:
    if math.isinf(best[0]):
        return (
            f"no two runs at batch {batch} and lr a factor {STEP:g} apart were fitted: "
            "it takes a lower lr, or a larger budget"
        )
    grows = f"at batch {batch} the alignment grows as lr^{best[0]:.2f} at most (up to lr"
    if math.isfinite(unfitted):
        return (
            f"{grows} {best[1]:g}), and runs from lr {unfitted:g} up are not fitted: "
            "no first-step-dominated regime is within reach"
        )
    return f"{grows} {best[1]:g}): a higher lr is needed to reach the first-step regime"
