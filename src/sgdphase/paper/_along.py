"""Numbers read off trajectories, one for each seed, and their means with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sgdphase._typing import FloatArray
from sgdphase.stats import (
    LEVEL,
    REPLICATES,
    Estimate,
    interval,
    power_law,
    seed_means,
    seed_replicates,
)

Trajectory = Mapping[str, FloatArray]


def mean(values: ArrayLike) -> Estimate:
    """Over all cells and seeds of `values [..., seeds]`, with an interval from the seeds."""
    y = np.asarray(values, dtype=np.float64)
    copies = seed_replicates(y, np.random.default_rng(0), REPLICATES)
    cells = tuple(range(1, copies.ndim))
    return interval(float(np.mean(seed_means(y))), copies.mean(axis=cells), LEVEL)


def geometric_mean(values: ArrayLike) -> Estimate:
    """As `mean`, of the logarithms; what is not above 0 counts as missing."""
    y = np.asarray(values, dtype=np.float64)
    logs = np.full(y.shape, np.nan)
    np.log(y, out=logs, where=y > 0)
    of_logs = mean(logs)
    return Estimate(*(float(np.exp(x)) for x in (of_logs.value, of_logs.low, of_logs.high)))


def furthest(values: ArrayLike, predicted: float = 1.0) -> Estimate:
    """Of the cells of `values [n, seeds]`, the one whose mean is furthest from the prediction."""
    each = [geometric_mean(row) for row in np.asarray(values, dtype=np.float64)]
    return max(each, key=lambda one: abs(np.log(one.value / predicted)))


def exponent(x: ArrayLike, y: ArrayLike) -> Estimate:
    """Of the power law of `y [n, seeds]` in `x [n]`."""
    law = power_law(x, y)
    return law.exponent


def mean_since(trajectories: Sequence[Trajectory], name: str, time: float) -> FloatArray:
    """The geometric mean of a column from `time` on, for each seed."""
    return np.array([np.exp(np.mean(np.log(t[name][t["time"] >= time]))) for t in trajectories])


def mean_until(trajectories: Sequence[Trajectory], name: str, time: float) -> FloatArray:
    """The geometric mean of a column up to `time`, for each seed."""
    return np.array([np.exp(np.mean(np.log(t[name][t["time"] <= time]))) for t in trajectories])


def first_time(trajectory: Trajectory, reached: FloatArray) -> float:
    """The first time at which a condition holds, NaN if there is none."""
    where = np.flatnonzero(reached)
    return float(trajectory["time"][where[0]]) if where.size else float("nan")
