"""The row for `B*`: a learning rate at which large batches are first-step-dominated.

At a batch above `B*`, `m` is fixed in the GD regime and grows as `lr` above the first-step line.
The slope of `log m` over a factor 4 of `lr`, within one seed, distinguishes them. The search goes
up from the given learning rate, and stays there if it is high enough. In the GD regime the first
step's share of `m` is `lr` over the first-step line: it says how far to go in one jump.
"""

from __future__ import annotations

import math
from collections.abc import Generator

from sgdphase._diagnose.fitted.reasons import left_out
from sgdphase._diagnose.learner import Observations, Trial
from sgdphase._records import Outcome

STEP = 4.0  # in lr, between the two runs of a slope
DOWN = 256  # how far below the start a lower lr is tried
STEPS = 8  # a factor of at least 2^16
# A slope is measured down to lr/4. Where m is the larger of m_gd and b lr, 0.7 puts lr at 2.6 times
# the first-step line; where it is their sum, at 5 times.
CLEAR = 0.7
# Half way from GD (0) to the first step (1).
HALF = 0.5


def row_search(
    observations: Observations, lr: float, batch: int
) -> Generator[tuple[Trial, ...], None, tuple[float | None, str]]:
    """Asks for runs of seed 0 at one batch; returns lr of the row, or None and why."""
    best: tuple[float, float] = (-math.inf, lr)  # the steepest slope so far, and where
    unusable_from = math.inf
    x = lr
    tried: list[Trial] = []
    for _ in range(STEPS):
        tried += [Trial(x, batch, 0), Trial(x / STEP, batch, 0)]
        yield (tried[-2], tried[-1])
        if math.isnan(observations.log((x, batch), 0)):
            unusable_from = min(unusable_from, x)
            # Back by small steps; below the start if the start itself is of no use.
            x = x / STEP
            if (x <= best[1] and best[0] > -math.inf) or x < lr / DOWN:
                break
            continue
        upper, lower = (observations.log((rate, batch), 0) for rate in (x, x / STEP))
        slope = (upper - lower) / math.log2(STEP)
        if slope >= CLEAR:
            return x, ""
        if math.isnan(slope):
            slope = -math.inf  # the lower run is of no use; the next pair uses this one
        passed = slope < best[0] and best[0] >= HALF  # beyond the steepest: the rate is too high
        best = max(best, (slope, x))
        higher = x * _factor(slope, observations.share((x, batch), 0))
        while higher > x and higher >= unusable_from:
            higher /= STEP
        if passed or higher <= x:
            break
        x = higher
    if best[0] >= HALF:
        return best[1], ""
    runs = [observations.runs[trial] for trial in dict.fromkeys(tried)]
    return None, _why(best, batch, unusable_from, runs)


def _factor(slope: float, share: float) -> float:
    """How far up to go: to `STEP` times the first-step line if the first step's share says."""
    if math.isnan(share):
        return STEP**2 if slope < 0.2 else STEP
    steps = round(math.log2(STEP / share) / math.log2(STEP))
    return float(STEP ** min(max(steps, 1), 4))


def _why(best: tuple[float, float], batch: int, unusable_from: float, runs: list[Outcome]) -> str:
    reason = left_out(runs)
    if math.isinf(best[0]):
        apart = f"at batch {batch} no two runs of lr a factor {STEP:g} apart can be compared"
        return f"{apart}: {reason}"
    grows = f"at batch {batch} the alignment grows as lr^{best[0]:.2f} at most (at lr {best[1]:g})"
    if math.isfinite(unusable_from):
        return (
            f"{grows}, and runs from lr {unusable_from:g} up are of no use ({reason}): "
            "no first-step-dominated regime is within reach"
        )
    return f"{grows}: the first-step-dominated regime, if there is one, is at a higher lr"
