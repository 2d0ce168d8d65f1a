"""The first step's share: the alignment `m` after one step, divided by `m` at the end."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sgdphase._sweep import Run
from sgdphase.stats import LEVEL, REPLICATES, Estimate, interval, seed_means, seed_replicates

__all__ = ["first_step_share"]


def first_step_share(runs: Iterable[Run]) -> Estimate | None:
    """The mean over the fitted runs of one point, one run per seed; None if no run has it."""
    shares = []
    for run in runs:
        last = run.outcome.observables.get("alignment", np.nan)
        first = run.outcome.observables.get("first_step_alignment", np.nan)
        if run.outcome.status == "fitted" and np.isfinite(first) and last > 0:
            shares.append(first / last)
    if not shares:
        return None
    copies = seed_replicates([shares], np.random.default_rng(0), REPLICATES)
    return interval(float(seed_means([shares])[0]), copies[:, 0], LEVEL)
