"""The critical batch of networks: `B*` of each curve, its law in `P`, and what lies above it.

A curve is what is learnt at the end of training against `B`, at one size, one learning rate and
one seed. It passes from a power law to a constant at its own `B*` and at its own height
(`sgdphase.stats.crossovers`). Curves of one learning rate have one shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sgdphase._typing import FloatArray, Mask
from sgdphase.paper._measure import AWAY
from sgdphase.paper._runs import Runs, with_observables
from sgdphase.stats import (
    Curve,
    Estimate,
    LogLinear,
    crossovers,
    logarithms,
    loglinear,
    power_of_two,
    seed_means,
)

# Sizes in a window of the exponent, and batches of a size that count as its largest.
WINDOW, LARGEST = 3, 4


@dataclass(frozen=True, eq=False)
class CriticalBatches:
    """`B*` of each cell, a size at a learning rate, in order of both.

    Attributes
    ----------
    rates, sizes : ndarray [n]
    batches : ndarray [m]; all of them, in increasing order
    learnt : ndarray [n, m, seeds]; NaN where a training did not end or is not in the plan
    at : ndarray [n, seeds]; `B*`, NaN if it is not between the first and the last batch
    steepness : ndarray [n]; exponent of the power law below `B*`, of the learning rate
    """

    rates: FloatArray
    sizes: FloatArray
    batches: FloatArray
    learnt: FloatArray
    at: FloatArray
    steepness: FloatArray

    @cached_property
    def counts(self) -> Mask:
        """The cells in which most seeds have a crossover: fewer would be a selection of seeds."""
        return np.asarray(2 * np.isfinite(self.at).sum(axis=1) > self.at.shape[1])

    @cached_property
    def middle(self) -> FloatArray:
        """The geometric mean of `B*` over the seeds of each cell; NaN if it does not count."""
        logs = np.where(self.counts[:, None], np.log(self.at), np.nan)
        return np.exp(seed_means(logs))

    def law(self, among: Mask | None = None) -> LogLinear | None:
        """`B* ~ P^exponent`, with a prefactor per learning rate; None if too few sizes have one.

        It needs `WINDOW` sizes, and one cell more than it has coefficients.
        """
        there = self.counts if among is None else self.counts & among
        design = [np.log(self.sizes[there]), *indicators(self.rates[there])]
        return fitted(design, np.log(self.at[there]), sizes=self.sizes[there])

    def windows(self) -> list[float]:
        """The exponent over each `WINDOW` consecutive sizes, smallest first; NaN if none."""
        sizes = np.unique(self.sizes)
        laws = [
            self.law((self.sizes >= first) & (self.sizes <= last))
            for first, last in zip(sizes, sizes[WINDOW - 1 :], strict=False)
        ]
        return [law.exponent(1).value if law else float("nan") for law in laws]

    def missing(self) -> str:
        """Which cells have no crossover, in words; empty if all have one."""
        parts = []
        for rate in np.unique(self.rates):
            own = self.rates == rate
            lost = [power_of_two(size) for size in self.sizes[own & ~self.counts]]
            if lost:
                every = len(lost) == own.sum()
                parts.append(f"eta = {rate:g}" + ("" if every else f" at P = {', '.join(lost)}"))
        return "; ".join(parts)

    def above(self) -> tuple[Estimate, Estimate] | None:
        """Exponents of what is learnt in `P` and in `B` well above `B*`, at given `eta`.

        The cells are the `LARGEST` batches of each size, if they are `AWAY` above its `B*`.
        """
        cells = [
            (i, j)
            for i in np.flatnonzero(self.counts)
            for j in np.flatnonzero(np.isfinite(self.learnt[i]).any(axis=1))[-LARGEST:]
            if self.batches[j] >= AWAY * self.middle[i]
        ]
        if not cells:
            return None
        i, j = np.array(cells).T
        design = [np.log(self.sizes[i]), np.log(self.batches[j]), *indicators(self.rates[i])]
        law = fitted(design, logarithms(self.learnt[i, j]), sizes=self.sizes[i])
        return (law.exponent(1), law.exponent(0, 1)) if law else None


def critical_batches(runs: Runs, observable: str) -> CriticalBatches:
    """`B*` of every curve of an observable against the batch."""
    batches = np.array(runs.values("batch"), dtype=np.float64)
    cells, learnt, at, steepness = [], [], [], []
    for part in runs.fitted().split("lr"):
        curves = [
            Curve(own.only("train_size"), batches, _at(batches, *own.curve("batch", observable)))
            for own in part.split("train_size")
        ]
        found = crossovers(curves)
        cells += [(part.only("lr"), curve.size) for curve in curves]
        learnt += [curve.y for curve in curves]
        at.append(found.at)
        steepness += [found.steepness] * len(curves)
    rates, sizes = np.array(cells, dtype=np.float64).T
    return CriticalBatches(
        rates, sizes, batches, np.array(learnt), np.concatenate(at), np.array(steepness)
    )


def difference(one: CriticalBatches, other: CriticalBatches) -> Estimate | None:
    """How much larger the exponent of `one` is, in seeds that both have in common.

    One fit of both: a seed has the same initial weights and points in both.
    """
    a, b = one.counts, other.counts
    if one.law() is None or other.law() is None:
        return None
    sizes = np.concatenate([one.sizes[a], other.sizes[b]])
    which = np.repeat([True, False], [a.sum(), b.sum()])
    # Another sign, so that both may have the same learning rate.
    rates = np.concatenate([one.rates[a], -other.rates[b]])
    design = [np.log(sizes) * which, np.log(sizes) * ~which, *indicators(rates)]
    law = fitted(design, np.log(np.concatenate([one.at[a], other.at[b]])), sizes=sizes)
    return law.exponent(1, -1) if law else None


def indicators(labels: FloatArray) -> list[FloatArray]:
    """A column of 0 and 1 for each label but the first: a prefactor of its own."""
    return [(labels == label).astype(np.float64) for label in np.unique(labels)[1:]]


def fitted(
    columns: Sequence[FloatArray], log_y: FloatArray, *, sizes: FloatArray
) -> LogLinear | None:
    """The log-linear fit, if the cells determine it and the scatter about it."""
    design = np.stack(columns, axis=1)
    if np.unique(sizes).size < WINDOW or len(design) <= len(columns) + 1:
        return None
    centred = design - design.mean(axis=0)
    if np.linalg.matrix_rank(centred, tol=1e-6) < len(columns):
        return None
    return loglinear(design, log_y)


def over_seed_factors(runs: Runs, observable: str) -> Runs:
    """The same runs, with the observable over the factor that its seed has in all cells."""
    table = runs.table()
    names = ("train_size", "lr", "batch")
    cell = np.unique(np.stack([table[name] for name in names]), axis=1, return_inverse=True)[1]
    seed = np.unique(table["seed"], return_inverse=True)[1]
    values = np.full((cell.max() + 1, seed.max() + 1), np.nan)
    values[cell.ravel(), seed] = table[observable]
    own = _without_seed_factors(values)[cell.ravel(), seed]
    pairs = zip(runs.runs, own, strict=True)
    return Runs(tuple(with_observables(run, {observable: float(y)}) for run, y in pairs))


def _without_seed_factors(values: FloatArray) -> FloatArray:
    """`values [..., seeds]` over the factor that each seed has in common in all cells.

    >>> _without_seed_factors(np.array([[1.0, 4.0], [2.0, 8.0]])).round(6).tolist()
    [[2.0, 2.0], [4.0, 4.0]]
    """
    logs = logarithms(values)
    factor = seed_means(logs.reshape(-1, logs.shape[-1]).T)
    return np.asarray(np.exp(logs - factor + np.nanmean(factor)))


def _at(batches: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """`y [n, seeds]` at all batches; NaN where there is none."""
    values = np.full((batches.size, y.shape[1]), np.nan)
    values[np.searchsorted(batches, x)] = y
    return values
