"""Numbers with intervals, read off runs.

Exponents come from least squares in logarithms over the cells of a region that the theory's scales
cut out, never from the data. They are *effective* ones: at finite `P` they may drift, and each
claim about an exponent of `P` says how. Intervals are over seeds (`sgdphase.stats`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sgdphase import theory
from sgdphase._sweep import Run, Table
from sgdphase._typing import FloatArray, Mask
from sgdphase.paper.runs import Runs, Trajectory
from sgdphase.stats import (
    LEVEL,
    REPLICATES,
    Collapse,
    Curve,
    Estimate,
    PowerLaw,
    effective_power_laws,
    interval,
    logarithms,
    loglinear,
    power_law,
    seed_means,
    seed_replicates,
)

# A regime is looked at where the scale that bounds it is at least this factor away.
AWAY = 4.0

# Sizes in a window of effective exponents. With 3 there is one degree of freedom left to judge the
# scatter about the line by, and the intervals are now and then of no use.
WINDOW = 4


def converted(estimate: Estimate, by: Callable[[float], float]) -> Estimate:
    """A monotonic function of a number and of its interval.

    >>> converted(Estimate(2.0, 1.0, 3.0), lambda x: -x)
    -2 [-3, -1]
    """
    low, high = sorted([by(estimate.low), by(estimate.high)])
    return Estimate(float(by(estimate.value)), float(low), float(high))


def estimate(values: ArrayLike, of: Callable[[FloatArray], FloatArray]) -> Estimate:
    """A function of the means over seeds of `values [..., seeds]`, which may have axes in front."""
    y = np.asarray(values, dtype=np.float64)
    copies = seed_replicates(y, np.random.default_rng(0), REPLICATES)
    return interval(float(of(seed_means(y))), of(copies), LEVEL)


def mean(values: ArrayLike) -> Estimate:
    """Over all cells and seeds of `values [..., seeds]`."""
    cells = tuple(range(1 - np.ndim(values), 0))
    return estimate(values, lambda means: means.mean(axis=cells))


def scales(runs: Runs, temperature: float = 1.0) -> theory.Scales:
    """The theory's scales of runs of one size, with their prefactors."""
    at = {name: runs.only(name) for name in ("train_size", "dim", "chi", "margin")}
    return theory.scales(**at, lr=temperature, batch=1)


def geometric_mean(values: ArrayLike) -> Estimate:
    """As `mean`, of the logarithms; what is not above 0 counts as missing."""
    return converted(mean(logarithms(values)), lambda x: float(np.exp(x)))


def furthest(ratios: ArrayLike) -> Estimate:
    """Of the cells of `ratios [n, seeds]`, the one whose mean is furthest from 1."""
    each = [geometric_mean(row) for row in np.asarray(ratios, dtype=np.float64)]
    return max(each, key=lambda one: abs(np.log(one.value)))


def exponent(x: ArrayLike, y: ArrayLike) -> Estimate:
    """Of the power law of `y [n, seeds]` in `x [n]`."""
    return power_law(x, y).exponent


def exponents(table: Table, y: str, parameters: Sequence[str], keep: Mask) -> dict[str, Estimate]:
    """`y ~ product of parameter^exponent` over the runs kept.

    A parameter whose exponent these runs cannot determine (it does not vary, or only along with
    another) is left out of the answer.
    """
    if not keep.any():
        return {}
    at = np.stack([np.log(table[name][keep].astype(np.float64)) for name in parameters], axis=1)
    cells, cell = np.unique(at, axis=0, return_inverse=True)
    seeds, seed = np.unique(table["seed"][keep], return_inverse=True)
    log_y = np.full((len(cells), len(seeds)), np.nan)
    log_y[cell.ravel(), seed] = logarithms(table[y][keep])
    centred = cells - cells.mean(axis=0)
    # Columns that are no combination of earlier ones.
    ranks = [_rank(centred[:, :i]) for i in range(len(parameters) + 1)]
    columns = [i for i in range(len(parameters)) if ranks[i + 1] > ranks[i]]
    if not columns or len(cells) <= len(columns) + 1:
        return {}
    fit = loglinear(centred[:, columns], log_y)
    return {
        parameters[column]: fit.exponent(*np.eye(len(columns))[i])
        for i, column in enumerate(columns)
        if _rank(centred) > _rank(np.delete(centred, column, axis=1))
    }


def _rank(columns: FloatArray) -> int:
    return int(np.linalg.matrix_rank(columns, tol=1e-6)) if columns.size else 0


def effective(sizes: FloatArray, y: FloatArray) -> list[PowerLaw]:
    """The exponent over each window of consecutive sizes."""
    return effective_power_laws(sizes, y, window=min(WINDOW, len(sizes)))


def drift(sizes: FloatArray, y: FloatArray) -> str:
    """How the exponent changes with `P`: its value over windows of consecutive sizes."""
    return listed(effective(sizes, y), min(WINDOW, len(sizes)))


def listed(fits: Sequence[PowerLaw] | Sequence[Collapse], window: int) -> str:
    """The exponents of several windows, in order of size."""
    values = ", ".join(f"{fit.exponent.value:.2f}" for fit in fits)
    return f"over {window} consecutive sizes, smallest first: {values}"


def size_range(sizes: Sequence[float] | FloatArray) -> str:
    """`P = 2^10 to 2^15`."""
    return f"P = 2^{np.log2(min(sizes)):.0f} to 2^{np.log2(max(sizes)):.0f}"


def curves_by_size(runs: Runs, y: str, power: float) -> list[Curve]:
    """`y / eta^power` against `B` for each `P`: the mean over `eta` within each seed.

    Cells of one seed share a training set, so they are one curve with one error, not several. A
    batch at which a seed did not end, at whatever `eta`, lacks that seed.
    """
    curves = []
    for size in runs.values("train_size"):
        own, logs = runs.where(train_size=size), []
        for rate in own.values("lr"):
            batch, values = own.curve("batch", y, lr=rate)
            logs.append(logarithms(values / rate**power))
        curves.append(Curve(size, batch, np.exp(np.mean(logs, axis=0))))
    return curves


def at(time: ArrayLike, along: Trajectory, values: FloatArray) -> FloatArray:
    """Values of a trajectory at other times; constant before its start and after its end."""
    log_t = np.log(np.asarray(time, dtype=np.float64))
    return np.asarray(np.interp(log_t, np.log(along["time"]), values))


def time_grid(runs: Sequence[Run]) -> FloatArray:
    """Times from the first step to the last of any of the runs, four per octave."""
    first = min(float(run.outcome.trajectory["time"][0]) for run in runs)
    last = max(run.outcome.time for run in runs)
    return np.geomspace(first, last, 2 + int(4 * np.log2(last / first)))


def mean_at(
    time: ArrayLike, runs: Sequence[Run], values: Callable[[Trajectory], FloatArray]
) -> FloatArray:
    """Mean over seeds of `values` of a trajectory at these times; NaN where it is not above 0."""
    paths = [run.outcome.trajectory for run in runs]
    average = np.mean([at(time, along, values(along)) for along in paths], axis=0)
    return np.where(average > 0, average, np.nan)


def expected_unfitted(along: Trajectory, chi: float) -> FloatArray:
    """Unfitted fraction of the data distribution: that of a test set of infinite size."""
    return theory.averages(along["lambda"], along["r"], chi).unfitted


def expected_error(lam: ArrayLike, chi: float) -> FloatArray:
    """Test error of a student with `lambda = w1/|w_perp|`: the points with `y f <= 0`."""
    angle = np.asarray(lam, dtype=np.float64)
    return theory.averages(angle, np.zeros_like(angle), chi).unfitted


def unfitted_at_crossover(run: Run) -> float:
    """Unfitted fraction of the data distribution at `t_hat`; NaN if the run ends before."""
    along, t_hat = run.outcome.trajectory, run.outcome["crossover_time"]
    if not np.isfinite(t_hat):
        return float("nan")
    return float(at(t_hat, along, expected_unfitted(along, run.training.teacher.chi)))
