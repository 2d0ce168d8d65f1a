"""Numbers with intervals, read off runs.

Exponents come from least squares in logarithms over the cells of a region that the theory's scales
cut out, never from the data. They are *effective* ones: at finite `P` they may drift, and each
claim about an exponent of `P` says how. Intervals are over seeds (`sgdphase.stats`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sgdphase import theory
from sgdphase._records import Training
from sgdphase._typing import FloatArray
from sgdphase.paper._runs import Number, Runs, Where, number
from sgdphase.problems import TeacherTask
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
    power_of_two,
    seed_means,
    seed_replicates,
)

# A regime is looked at where the scale that bounds it is at least this factor away.
AWAY = 4.0

# Sizes in a window of effective exponents. With 3 there is one degree of freedom left to judge the
# scatter about the line by, and the intervals are now and then of no use.
WINDOW = 4


def estimate(values: ArrayLike, of: Callable[[FloatArray], FloatArray]) -> Estimate:
    """A function of the means over seeds of `values [..., seeds]`, which may have axes in front."""
    y = np.asarray(values, dtype=np.float64)
    copies = seed_replicates(y, np.random.default_rng(0), REPLICATES)
    return interval(float(of(seed_means(y))), of(copies), LEVEL)


def mean(values: ArrayLike) -> Estimate:
    """Over all cells and seeds of `values [..., seeds]`."""
    cells = tuple(range(1 - np.ndim(values), 0))
    return estimate(values, lambda means: means.mean(axis=cells))


def geometric_mean(values: ArrayLike) -> Estimate:
    """As `mean`, of the logarithms; what is not above 0 counts as missing."""
    return mean(logarithms(values)).mapped(np.exp)


def share(hits: int, trials: int) -> Estimate:
    """Hits over trials, with the exact binomial interval (Clopper and Pearson).

    >>> share(0, 40)
    0 [0, 0.0722]
    """
    from scipy.stats import beta

    tail = (1 - LEVEL) / 2
    low = float(beta.ppf(tail, hits, trials - hits + 1)) if hits > 0 else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, trials - hits)) if hits < trials else 1.0
    return Estimate(hits / trials, low, high)


def per_seed(values: ArrayLike) -> Estimate:
    """Geometric mean of `[cells, seeds]`, first over the cells that a seed has.

    For numbers that should be the same in all cells: effects of cells are not taken out, as one of
    few seeds would give its noise to all.
    """
    logs = logarithms(values)
    cells = np.isfinite(logs).sum(axis=0)
    return geometric_mean(np.exp(np.nansum(logs, axis=0) / np.where(cells > 0, cells, np.nan)))


def furthest(ratios: ArrayLike) -> Estimate:
    """Of the cells of `ratios [n, seeds]`, the one whose mean is furthest from 1."""
    each = [geometric_mean(row) for row in np.asarray(ratios, dtype=np.float64)]
    return max(each, key=lambda one: abs(np.log(one.value)))


def exponent(x: ArrayLike, y: ArrayLike) -> Estimate:
    """Of the power law of `y [n, seeds]` in `x [n]`."""
    return power_law(x, y).exponent


def exponents(runs: Runs, y: Number, parameters: Sequence[str]) -> dict[str, Estimate]:
    """`y ~ product of parameter^exponent` over all runs.

    A parameter whose exponent these runs cannot determine (it does not vary, or only along with
    another) is left out of the answer.
    """
    if not runs.runs:
        return {}
    table = runs.table()
    at = np.stack([np.log(table[name].astype(np.float64)) for name in parameters], axis=1)
    cells, cell = np.unique(at, axis=0, return_inverse=True)
    seeds, seed = np.unique(table["seed"], return_inverse=True)
    log_y = np.full((len(cells), len(seeds)), np.nan)
    log_y[cell.ravel(), seed] = logarithms([number(run, y) for run in runs.runs])
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


def scales(training: Training) -> theory.Scales:
    """The theory's scales of a training, with their prefactors."""
    return _scales(training.teacher, training.train_size, training.margin, training.temperature)


@lru_cache(maxsize=1024)
def _scales(task: TeacherTask, size: int, margin: float, temperature: float) -> theory.Scales:
    setting: Any = {"train_size": size, "dim": task.dim, "chi": task.chi, "margin": margin}
    return theory.scales(**setting, lr=temperature, batch=1)


def above_critical(parameter: str, factor: float = AWAY) -> Where:
    """Selects trainings this factor above their `B*`, `T_c` or `Lambda*`.

    >>> from sgdphase import grid
    >>> [above_critical("batch")(training) for training in grid(lr=64.0, batch=[64, 1024])]
    [False, True]
    """
    # A batch may lie exactly there: at chi = 0, B* is a quarter of the training set.
    return lambda training: _over_critical(training, parameter) >= factor * (1 - 1e-9)


def below_critical(parameter: str, factor: float = AWAY) -> Where:
    """The same below, where the parameter is not 0."""
    return lambda training: 0 < _over_critical(training, parameter) <= 1 / factor


def _over_critical(training: Training, parameter: str) -> float:
    # Scales of T = 1, so that a batch that lies on a boundary does so at every T.
    unit = _scales(training.teacher, training.train_size, training.margin, 1.0)
    if parameter == "weight_decay":
        return training.weight_decay / (unit.critical_decay / training.temperature)
    return float(getattr(training, parameter) / getattr(unit, f"critical_{parameter}"))


@dataclass(frozen=True)
class Slope:
    """The exponent of `y` in a parameter, over the runs that `where` and `at` select.

    `at` are places among the values of parameters: `{"train_size": -1}` is the largest. With
    `among`, the fit is `y ~ product of parameter^exponent` over these, one point per cell. Without,
    `y` is first averaged in each seed over all other parameters (geometric mean), and with `last`
    only so many of the largest values of the parameter count.
    """

    y: Number
    of: str
    among: Sequence[str] = ()
    where: Where | None = None
    at: Mapping[str, int] = field(default_factory=dict)
    last: int = 0

    def __call__(self, runs: Runs) -> Estimate | None:
        if self.among:
            kept = runs.that(self.where).at(**self.at)
            return exponents(kept, self.y, self.among).get(self.of)
        x, y = (values[-self.last :] for values in self.curve(runs))
        there = np.isfinite(logarithms(y)).any(axis=1)
        return exponent(x, y) if there.sum() >= 2 else None

    def curve(self, runs: Runs) -> tuple[FloatArray, FloatArray]:
        """`y [n, seeds]` at the values of the parameter that `runs` have."""
        return runs.that(self.where).at(**self.at).curve(self.of, self.y)


@dataclass(frozen=True)
class Mean:
    """The mean (`how`) of `y` over seeds and over the values of a parameter.

    `where` and `at` select as in `Slope`; a place may be a slice. With other places `to`, it is the
    mean of `y` over its value there, in each seed: `at={"batch": -1}, to={"batch": 0}`.
    """

    y: Number
    over: str
    where: Where | None = None
    at: Mapping[str, int | slice] = field(default_factory=dict)
    to: Mapping[str, int | slice] = field(default_factory=dict)
    how: Callable[[FloatArray], Estimate] = geometric_mean

    def __call__(self, runs: Runs) -> Estimate:
        return self.how(self.curve(runs)[1])

    def curve(self, runs: Runs) -> tuple[FloatArray, FloatArray]:
        """`y [n, seeds]`, or its ratio, at the values of the parameter that `runs` have."""
        kept = runs.that(self.where)
        x, y = kept.at(**self.at).curve(self.over, self.y)
        if self.to:
            y = y / kept.at(**{**self.at, **self.to}).curve(self.over, self.y)[1]
        return x, y

    def by(self, parameter: str) -> Callable[[Runs], list[Curve]]:
        """A curve over the values per value of another `parameter`, to be collapsed."""
        return lambda runs: [
            Curve(part.only(parameter), *self.curve(part)) for part in runs.split(parameter)
        ]


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
    return f"P = {power_of_two(min(sizes))} to {power_of_two(max(sizes))}"
