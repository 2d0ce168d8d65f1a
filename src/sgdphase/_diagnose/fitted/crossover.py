"""`B*` from the runs of one row: where `m = a lr/batch` and `m = b lr` are equal.

`log a` is the mean of `log(m batch)` over the batches of one side, `log b` that of `log m` over the
other's, and `log B* = log a - log b`. All of it is linear in `log m`, so that what is common to the
runs of a seed drops out. Cells that scatter about their law more than the seeds explain widen the
interval. So does the rest of GD on the noise-dominated side, where `m = m_gd + a lr/batch`:
with only a bound on `m_gd`, `B*` may be lower than the laws say, and not higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.stats import (
    REPLICATES,
    Estimate,
    interval,
    level_difference,
    line_fit,
    seed_means,
    seed_replicates,
)

# Half way between the slope of a side in log batch and that of the other.
REACH = 0.5


@dataclass(frozen=True)
class Side:
    """Batches of one side, and `log2 m` of their runs as `[batch, seed]`."""

    batch: Sequence[int]
    log_value: FloatArray


@dataclass(frozen=True)
class Crossover:
    """`B*`, half the width of its interval in octaves, and the slopes in log batch of its sides.

    A side of one batch has no slope.
    """

    critical_batch: Estimate
    half_width: float
    seeds: int
    noise: Estimate | None
    first: Estimate | None

    @property
    def missing_law(self) -> str:
        """The side whose slope is closer to the other law; empty if there is none."""
        if self.noise is not None and abs(self.noise.value + 1) > REACH:
            law = f"below B* the alignment goes as batch^{self.noise.value:.2f}, not as 1/batch"
        elif self.first is not None and abs(self.first.value) > REACH:
            law = (
                f"above B* the alignment goes as batch^{self.first.value:.2f}, and is not constant"
            )
        else:
            return ""
        return f"{law}: the two laws that define B* are not both there"

    @property
    def surely_misses_law(self) -> bool:
        """Whether the whole interval of a slope is closer to the other law."""
        return _beyond(self.noise, -1.0) or _beyond(self.first, 0.0)


def crossover(noise: Side, first: Side, gd_bound: float) -> Crossover | None:
    """`B*` from its two sides; None if no seed has a fitted run on both.

    `log2 m_gd` is at most `gd_bound` in the first of the seeds, -inf if there is no GD regime.
    """
    noise, first = _well_known(noise), _well_known(first)
    if not noise.batch or not first.batch:
        return None
    paired = np.isfinite(noise.log_value).any(axis=0) & np.isfinite(first.log_value).any(axis=0)
    if not paired.any():
        return None
    below, above = noise.log_value[:, paired], first.log_value[:, paired]
    scaled = below + np.log2(noise.batch)[:, None]
    log_star, copies = level_difference(scaled, above, np.random.default_rng(0), REPLICATES)
    if paired.sum() < 2:
        # The scatter of cells alone does not say what another training set would give.
        copies = np.full(REPLICATES, np.nan)
    logs = interval(log_star, copies)
    low = logs.low - _left_of_gd(noise.log_value[:, 0], gd_bound)
    return Crossover(
        critical_batch=Estimate(2.0**logs.value, 2.0**low, 2.0**logs.high),
        half_width=(logs.high - low) / 2,
        seeds=int(paired.sum()),
        noise=_slope(noise.batch, below),
        first=_slope(first.batch, above),
    )


def _well_known(side: Side) -> Side:
    """The batches with at least half as many fitted runs as the best: columns weigh the same."""
    fitted = np.isfinite(side.log_value).sum(axis=1)
    keep = fitted >= max(fitted.max(initial=0) / 2, 1)
    return Side([b for b, k in zip(side.batch, keep, strict=True) if k], side.log_value[keep])


def _left_of_gd(log_values: FloatArray, bound: float) -> float:
    """Octaves by which `m_gd` may have raised the mean of `log m`, from its share of each `m`."""
    share = np.exp2(bound - log_values[np.isfinite(log_values)])
    return float(np.mean(-np.log2(1 - np.minimum(share, 0.5)))) if share.size else 0.0


def _slope(batch: Sequence[int], values: FloatArray) -> Estimate | None:
    """The slope of the means of `values [batch, seed]` in log batch; None for one batch."""
    if len(batch) < 2:
        return None
    copies = seed_replicates(values, np.random.default_rng(0), REPLICATES)
    (_, slope), many = line_fit(np.log2(batch), seed_means(values), copies, None)
    return interval(float(slope), many[:, 1])


def _beyond(slope: Estimate | None, target: float) -> bool:
    return slope is not None and (slope.low > target + REACH or slope.high < target - REACH)
