"""The critical batch of networks: `B*` of each curve, its law in `P`, and what lies above it.

A curve is what is learnt at the end of training against `B`, at one size, one learning rate and
one seed. It passes from a power law to a constant at its own `B*` and at its own height
(`sgdphase.stats.crossovers`). Curves of one learning rate have one shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sgdphase._sweep import Run
from sgdphase._typing import FloatArray, Mask
from sgdphase.paper._measure import AWAY, size_range
from sgdphase.paper._runs import Runs, with_observables
from sgdphase.stats import (
    Curve,
    Estimate,
    LogLinear,
    crossovers,
    interval,
    linear_fit,
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
    seeds : ndarray [n]; how many there are
    streams : ndarray [n]
        Of the random numbers of intervals: the same for curves of the same seeds.
    """

    rates: FloatArray
    sizes: FloatArray
    batches: FloatArray
    learnt: FloatArray
    at: FloatArray
    steepness: FloatArray
    seeds: FloatArray
    streams: FloatArray

    @cached_property
    def counts(self) -> Mask:
        """The cells in which most seeds have a crossover: fewer would be a selection of seeds."""
        return np.asarray(2 * np.isfinite(self.at).sum(axis=1) > self.seeds)

    @property
    def coldest(self) -> Mask:
        """The cells of the lowest learning rate."""
        return np.asarray(self.rates == self.rates.min())

    @cached_property
    def middle(self) -> FloatArray:
        """The geometric mean of `B*` over the seeds of each cell; NaN if it does not count."""
        logs = np.where(self.counts[:, None], np.log(self.at), np.nan)
        return np.exp(seed_means(logs))

    def law(self, among: Mask | None = None) -> Law | None:
        """The exponent of `B*` in `P`; None if no learning rate has `WINDOW` sizes with a `B*`."""
        there = self.counts if among is None else self.counts & among
        fits = {
            rate: self._fit(rate, [self.sizes[own]], np.log(self.at[own]))
            for rate, own in self._by_rate(there)
        }
        return law_over(fits, 0)

    def windows(self, among: Mask) -> list[float]:
        """The exponent over each `WINDOW` consecutive sizes, smallest first; NaN if none."""
        sizes = np.unique(self.sizes[among])
        laws = [
            self.law(among & (self.sizes >= first) & (self.sizes <= last))
            for first, last in zip(sizes, sizes[WINDOW - 1 :], strict=False)
        ]
        return [law.value if law else float("nan") for law in laws]

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
        fits = {}
        for rate, own in self._by_rate(self.counts):
            cells = [
                (i, j)
                for i in np.flatnonzero(own)
                for j in np.flatnonzero(np.isfinite(self.learnt[i]).any(axis=1))[-LARGEST:]
                if self.batches[j] >= AWAY * self.middle[i]
            ]
            i, j = np.array(cells, dtype=np.int64).reshape(-1, 2).T
            log_y = logarithms(self.learnt[i, j])
            fits[rate] = self._fit(rate, [self.sizes[i], self.batches[j]], log_y)
        size, batch = law_over(fits, 0), law_over(fits, 1)
        return (size.exponent, batch.exponent) if size and batch else None

    def _fit(
        self, rate: float, columns: Sequence[FloatArray], log_y: FloatArray
    ) -> LogLinear | None:
        """The log-linear fit in sizes and other columns, if the cells determine it.

        Curves of the same seeds share the noise of seeds; the scatter is of this fit alone.
        """
        if np.unique(columns[0]).size < WINDOW or len(log_y) <= len(columns) + 1:
            return None
        design = np.log(np.stack(columns, axis=1))
        if np.linalg.matrix_rank(design - design.mean(axis=0), tol=1e-6) < len(columns):
            return None
        seed, mark = int(self.streams[self.rates == rate][0]), round(1024 * rate)
        there = np.isfinite(log_y).any(axis=0)
        return loglinear(design, log_y[:, there], seed=seed, own=[mark])

    def _by_rate(self, among: Mask) -> list[tuple[float, Mask]]:
        """The cells of each learning rate."""
        rates = np.unique(self.rates).tolist()
        return [(rate, among & (self.rates == rate)) for rate in rates]


@dataclass(frozen=True, eq=False)
class Law:
    """An exponent, the mean of those at several learning rates.

    Attributes
    ----------
    each : dict; the exponent at each learning rate
    value : float
    replicates : ndarray; with what the learning rates differ by beyond noise
    misfit : bool; whether cells or learning rates scatter by more than their seeds explain
    """

    each: dict[float, Estimate]
    value: float
    replicates: FloatArray
    misfit: bool

    @property
    def exponent(self) -> Estimate:
        """With its interval."""
        return replace(interval(self.value, self.replicates), misfit=self.misfit)


def law_over(fit_of: Mapping[float, LogLinear | None], place: int) -> Law | None:
    """The exponent at a `place` of the fit of each learning rate, over all; None without any."""
    fits = {rate: fit for rate, fit in fit_of.items() if fit}
    if not fits:
        return None
    values = np.array([fit.exponents[place] for fit in fits.values()])
    copies = np.stack([fit.replicates[:, 1 + place] for fit in fits.values()], axis=1)
    weights = np.eye(place + 1)[place]
    each = {rate: fit.exponent(*weights) for rate, fit in fits.items()}
    ones, rng = np.ones((len(fits), 1)), np.random.default_rng(0)
    mean, with_scatter = linear_fit(ones, values, copies, rng)
    scatters = not np.array_equal(with_scatter, linear_fit(ones, values, copies, None)[1])
    misfit = scatters or any(fit.misfit for fit in fits.values())
    return Law(each, float(mean[0]), with_scatter[:, 0], misfit)


def critical_batches(runs: Runs, observable: str) -> CriticalBatches:
    """`B*` of every curve of an observable against the batch."""
    batches = np.array(runs.values("batch"), dtype=np.float64)
    cells, steepness, seeds, streams = [], [], [], []
    learnt: list[FloatArray] = []
    at: list[FloatArray] = []
    for part in runs.fitted().split("lr"):
        curves = [
            Curve(own.only("train_size"), batches, _at(batches, *own.curve("batch", observable)))
            for own in part.split("train_size")
        ]
        found = crossovers(curves)
        cells += [(part.only("lr"), curve.size) for curve in curves]
        learnt += [np.asarray(curve.y) for curve in curves]
        at.append(found.at)
        steepness += [found.steepness] * len(curves)
        seeds += [len(part.values("seed"))] * len(curves)
        streams += [part.values("seed")[0]] * len(curves)
    rates, sizes = np.array(cells, dtype=np.float64).T
    return CriticalBatches(
        rates, sizes, batches, np.array(_filled(learnt)), np.concatenate(_filled(at)),
        np.array(steepness), np.array(seeds), np.array(streams),
    )  # fmt: skip


def described(critical: CriticalBatches) -> str:
    """What a claim says about its `B*`: sizes, steepness, how the exponent moves."""
    rates, first = np.unique(critical.rates, return_index=True)
    steep = ", ".join(f"{s:.2g}" for s in critical.steepness[first])
    moves = [f"{x:.2f}" if np.isfinite(x) else "none" for x in critical.windows(critical.coldest)]
    law = critical.law()
    each = ", ".join(f"{rate:g}: {one}" for rate, one in law.each.items()) if law else "none"
    return (
        f"crossover of each curve at the lowest eta, effective exponent at "
        f"{size_range(critical.sizes)}; by eta: {each}; steepness "
        f"{steep} at eta = {', '.join(f'{rate:g}' for rate in rates)}; over {WINDOW} consecutive "
        f"sizes, smallest first: {', '.join(moves) or 'none'}"
    )


def _filled(each: Sequence[FloatArray]) -> list[FloatArray]:
    """Arrays `[..., seeds]` with as many seeds as the one that has most; NaN where there is none.

    Learning rates may have seeds of their own.
    """
    most = max(values.shape[-1] for values in each)
    return [np.pad(v, [(0, 0), (0, most - v.shape[-1])], constant_values=np.nan) for v in each]


def difference(one: Law | None, other: Law | None) -> Estimate | None:
    """How much larger the exponent of `one` is.

    The noise of seeds that both have drops out: they have the same initial weights and points.
    """
    if one is None or other is None:
        return None
    gap = interval(one.value - other.value, one.replicates - other.replicates)
    return replace(gap, misfit=one.misfit or other.misfit)


def over_seed_factors(runs: Runs, observable: str) -> Runs:
    """The same runs, with the observable over the factor that its seed has in all cells.

    For each learning rate, which may have seeds of its own.
    """
    changed: list[Run] = []
    for part in runs.split("lr"):
        table = part.table()
        cell = np.unique(np.stack([table[name] for name in ("train_size", "batch")]),
                         axis=1, return_inverse=True)[1].ravel()  # fmt: skip
        seed = np.unique(table["seed"], return_inverse=True)[1].ravel()
        values = np.full((cell.max() + 1, seed.max() + 1), np.nan)
        values[cell, seed] = table[observable]
        own = _without_seed_factors(values)[cell, seed].tolist()
        changed += [
            with_observables(run, {observable: y}) for run, y in zip(part.runs, own, strict=True)
        ]
    return Runs(tuple(changed))


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
