r"""Intervals: a bootstrap over seeds that is not overconfident when there are few.

Let `y_cs` be a number of cell `c` in seed `s`, with residuals `r_cs` about the mean over the `S`
seeds. A replicate of all means at once is

    y_c + sqrt((S-1)/X) sum_s g_s r_cs / sqrt(S (S-1)),     g_s ~ N(0,1),  X ~ chi^2(S-1)

with the same `g` and `X` for every cell (a wild bootstrap: what is common to the cells of a seed
stays common). For any linear combination of cells and Gaussian noise it has exactly Student's
distribution with `S-1` degrees of freedom, so that the interval covers as often as it says even for
3 seeds. Drawing seeds with replacement would give intervals that are far too short.

A fit must also count cells that do not follow it. `linear_fit` compares the scatter of the cells
about the fit with what the seeds explain, and adds the excess to the replicates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from sgdphase._typing import FloatArray
from sgdphase.errors import InputError
from sgdphase.stats._estimate import Estimate

LEVEL = 0.9  # default coverage of intervals
REPLICATES = 1000  # the 5 % quantile is then known to within 0.7 %


def seed_means(values: ArrayLike) -> FloatArray:
    """Means over seeds: least squares for the additive model `y_cs = cell_c + seed_s`.

    With nothing missing these are the plain means. Otherwise a cell that lacks a seed is compared
    with the others within the seeds that it has. `values` are `[..., seeds]`, NaN where a run is
    missing; a cell without any run has NaN.
    """
    y = np.asarray(values, dtype=np.float64)
    flat = y.reshape(-1, y.shape[-1])
    there = np.isfinite(flat)
    if there.all() or not there.any():
        return finite_mean(flat, axis=1).reshape(y.shape[:-1])
    seed = np.zeros(flat.shape[1])
    cell = finite_mean(flat, axis=1)
    for _ in range(200):
        step = np.nan_to_num(finite_mean(flat - cell[:, None] - seed, axis=0))
        seed += step
        cell = finite_mean(flat - seed, axis=1)
        if np.abs(step).max() < 1e-10:
            break
    present = there.any(axis=0)
    return np.asarray((cell + seed[present].mean()).reshape(y.shape[:-1]))


def seed_replicates(values: ArrayLike, rng: np.random.Generator, count: int) -> FloatArray:
    """Bootstrap replicates `[count, ...]` of `seed_means`; all NaN if there is one seed only.

    Every linear combination has Student's distribution.
    """
    y = np.asarray(values, dtype=np.float64)
    seeds = y.shape[-1]
    mean = seed_means(y)
    if seeds < 2:
        return np.full((count, *mean.shape), np.nan)
    residual = y - mean[..., None]
    n = np.isfinite(residual).sum(axis=-1)
    # With missing runs the seed effects do not average out in a cell; the spread is about the mean.
    residual = residual - finite_mean(residual, axis=-1)[..., None]
    noise = rng.standard_normal((count, seeds))
    scale = np.sqrt((seeds - 1) / rng.chisquare(seeds - 1, count))
    weight = 1 / np.sqrt(np.maximum(n * (n - 1), 1))
    deviation = np.tensordot(noise, np.nan_to_num(residual), (1, -1)) * weight
    if np.any(n == 1):
        # A cell with one seed of several borrows the scatter of the others.
        spread = np.sqrt(
            finite_mean(finite_mean(residual[n > 1] ** 2, axis=-1), axis=None) * seeds / (seeds - 1)
        )
        deviation = np.where(n == 1, spread * rng.standard_normal(deviation.shape), deviation)
    shape = (count,) + (1,) * mean.ndim
    return np.asarray(mean + deviation * scale.reshape(shape))


def linear_fit(
    design: FloatArray, mean: FloatArray, replicates: FloatArray, rng: np.random.Generator | None
) -> tuple[FloatArray, FloatArray]:
    """Least squares of `mean` on `design`, with replicates of the coefficients.

    If fewer than a tenth of the replicates scatter as much about the fit as the means do, the
    excess over their median counts as scatter of the cells. It adds Student noise with `n - k`
    degrees of freedom; without `rng`, it does not count. `design` is `[n, k]`, one row per cell,
    and `replicates` are `[R, n]`, all NaN with a single seed; the result is `[k]` and `[R, k]`.
    """
    n, k = design.shape
    inverse = np.linalg.pinv(design)
    coefficients = inverse @ mean
    copies = replicates @ inverse.T
    if n > k and rng is not None:
        project = np.eye(n) - design @ inverse
        excess = float(np.sum((project @ mean) ** 2)) / (n - k)
        if np.isfinite(replicates).any():
            squares = np.sum(((replicates - mean) @ project.T) ** 2, axis=1) / (n - k)
            # Quantiles, as Student tails leave the mean of squares infinite for 3 seeds or fewer.
            usual, rare = np.nanquantile(squares, [0.5, 0.9])
            excess = excess - float(usual) if excess > rare else 0.0
        else:
            copies = np.tile(coefficients, (len(replicates), 1))
        root = np.linalg.cholesky(inverse @ inverse.T + 1e-15 * np.eye(k))
        draws = rng.standard_normal(copies.shape) @ root.T
        student = np.sqrt((n - k) / rng.chisquare(n - k, len(copies)))
        copies = copies + np.sqrt(excess) * draws * student[:, None]
    return coefficients, copies


def line_fit(
    x: FloatArray, mean: FloatArray, replicates: FloatArray, rng: np.random.Generator | None
) -> tuple[FloatArray, FloatArray]:
    """`linear_fit` of a line: the value at the mean of `x [n]` or `[n, k]`, then the slopes."""
    design = np.column_stack([np.ones(len(x)), x - x.mean(axis=0)])
    return linear_fit(design, mean, replicates, rng)


def level_difference(
    upper: FloatArray, lower: FloatArray, rng: np.random.Generator, count: int
) -> tuple[float, FloatArray]:
    """The mean of `upper` minus that of `lower`, each `[cell, seed]`, with `count` replicates.

    What is common to the runs of a seed drops out.
    """
    cells = np.concatenate([upper, lower])
    design = np.zeros((len(cells), 2))
    design[: len(upper), 0] = design[len(upper) :, 1] = 1
    copies = seed_replicates(cells, rng, count)
    (high, low), many = linear_fit(design, seed_means(cells), copies, rng)
    return float(high - low), many[:, 0] - many[:, 1]


def interval(value: float, replicates: FloatArray, level: float = LEVEL) -> Estimate:
    """The central `level` of the replicates, as the interval of `value`.

    If a tenth of the replicates is not finite, there is no interval.

    >>> interval(50.0, np.arange(101.0), level=0.5).as_dict()
    {'value': 50.0, 'low': 25.0, 'high': 75.0}
    """
    if not 0 < level < 1:
        raise InputError(f"level = {level}: must be between 0 and 1, as 0.9")
    good = replicates[np.isfinite(replicates)]
    if good.size < 0.9 * max(replicates.size, 1):
        return Estimate(float(value), float("nan"), float("nan"))
    low, high = np.quantile(good, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(value), float(low), float(high))


def finite_mean(values: FloatArray, axis: int | None) -> FloatArray:
    """Mean of the finite entries, NaN without a warning where there is none."""
    there = np.isfinite(values)
    total = np.where(there, values, 0.0).sum(axis=axis)
    n = there.sum(axis=axis)
    return np.asarray(np.where(n > 0, total / np.maximum(n, 1), np.nan))


def quantile(freedom: int, level: float) -> float:
    """Quantile of Student's distribution: the value with probability `level` below it.

    >>> round(quantile(2, 0.95), 3)
    2.92
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))


def pooled(groups: Iterable[FloatArray]) -> tuple[float, int]:
    """The pooled standard deviation within groups, and its degrees of freedom (NaN, 0 if none).

    >>> pooled([np.array([1.0, 3.0]), np.array([5.0])])
    (1.4142135623730951, 1)
    """
    several = [group for group in groups if group.size > 1]
    freedom = sum(group.size - 1 for group in several)
    # Groups are small: this takes half the time of `var`.
    about = [group - group.sum() / group.size for group in several]
    squares = sum(float(deviations @ deviations) for deviations in about)
    return (math.sqrt(squares / freedom), freedom) if freedom else (math.nan, 0)
