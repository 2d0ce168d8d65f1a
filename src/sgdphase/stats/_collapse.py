r"""Data collapse: the exponents for which curves at several sizes fall onto one.

Curves `y_P(x)` obey scaling if `y_P(x) = P^alpha F(x / P^gamma)`. In logarithms a change of
`gamma` shifts the curves sideways. The measure is that of Bhattacharjee and Seno, weighted by the
noise as in Houdayer and Hartmann: each point of a curve is compared with every other curve,
interpolated at the same rescaled `x`,

    chi2 = 1/N sum_{p != q} sum_{i in overlap} w D^2
    D = ln y_p(x_i) - ln y_q(x_i (q/p)^gamma) - alpha ln(p/q)

with `1/w` the variance of the difference. `chi2` near 1 is a collapse as good as the noise allows;
well above 1 the curves do not have one shape. Interpolation is by cubic splines: with straight
lines, shifts by whole grid steps would look better than others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sgdphase._typing import FloatArray
from sgdphase.errors import InputError
from sgdphase.stats._bootstrap import LEVEL, interval, seed_means
from sgdphase.stats._estimate import Estimate
from sgdphase.stats._loglinear import logarithms
from sgdphase.stats._lowest import lowest

COPIES = 400
COARSE, FINE = 121, 41  # exponents tried: over the whole range, then where the copies end up
MIN_OVERLAP = 0.4  # share of the points that must be compared; less is not a collapse


@dataclass(frozen=True)
class Curve:
    """A curve `y(x)` of the system of one size.

    Attributes
    ----------
    size : float; size of the system, above 0
    x : array_like [n]
        Above 0, each value once; `collapse` needs 3 or more.
    y : array_like [n] or [n, seeds]
        Above 0; other entries are left out.

    Examples
    --------
    >>> Curve(size=8, x=[1, 2, 4], y=[1, 4, 16]).size
    8
    """

    size: float
    x: ArrayLike
    y: ArrayLike


@dataclass(frozen=True)
class Collapse:
    """The best collapse, returned by `collapse`.

    Attributes
    ----------
    exponent, y_exponent : Estimate
        `gamma` and `alpha` of `y_P(x) = P^alpha F(x / P^gamma)`.
    chi2 : float
        Quality: about 1 if the curves agree within their noise, well above 1 if they do not.
    sizes : tuple of float
        Sizes of the curves, increasing.
    """

    exponent: Estimate
    y_exponent: Estimate
    chi2: float
    sizes: tuple[float, ...]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{size:g}" for size in self.sizes)
        return (
            f"y = size^a F(x / size^b) with b = {self.exponent}, a = {self.y_exponent}; "
            f"chi2 {self.chi2:.3g}, sizes {sizes}"
        )


def collapse(
    curves: Sequence[Curve],
    *,
    y_exponent: float | None = 0.0,
    between: tuple[float, float] = (-0.5, 2.0),
    same_seeds: bool = False,
    level: float = LEVEL,
    copies: int = COPIES,
    seed: int = 0,
) -> Collapse:
    """The `gamma` for which the curves collapse best: `y_P(x) = P^alpha F(x / P^gamma)`.

    Intervals come from a bootstrap over the seeds of each curve. With one seed per curve there is
    no interval, and the noise is taken as equal everywhere.

    Parameters
    ----------
    curves : sequence of Curve; of 2 or more sizes
    y_exponent : float or None, default 0; `alpha`, or None to fit it too
    between : (float, float), default (-0.5, 2)
        Range of `gamma` that is searched. The best value must lie inside.
    same_seeds : bool, default False
        Whether column `s` of every curve has something in common, such as the initial weights.
        Sizes are then compared within seeds, and a factor common to all sizes is not noise.
    level : float, default 0.9; coverage of the intervals
    copies : int, default 400; number of bootstrap replicates
    seed : int, default 0; of the bootstrap

    Examples
    --------
    >>> x = np.geomspace(1, 64, 13)
    >>> curves = [Curve(P, x, 1 / (1 + (x / P**0.5) ** 2)) for P in (16, 64, 256)]
    >>> round(collapse(curves).exponent.value, 2)
    0.5
    """
    logs = [_log_curve(curve) for curve in curves]
    if same_seeds:
        logs = _without_factors(logs)
    sizes = np.array([np.log(curve.size) for curve in curves])
    if np.unique(sizes).size < 2:
        raise InputError(f"curves of {np.unique(sizes).size} size: a collapse needs 2 or more")
    if not between[0] < between[1]:
        raise InputError(f"between = {between}: must be two increasing numbers")
    rng = np.random.default_rng(seed)
    means = [seed_means(log_y) for _, log_y in logs]
    variances = _variances(logs)
    rows = [mean[None] for mean in means]
    if all(log_y.shape[1] > 1 for _, log_y in logs):
        rows = _replicates([log_y for _, log_y in logs], means, same_seeds, rng, copies)
    xs = [log_x for log_x, _ in logs]

    grid = np.linspace(*between, COARSE)
    chi2, _ = _measure(grid, sizes, xs, rows, variances, y_exponent)
    if not np.isfinite(chi2[0]).any():
        raise InputError(f"between = {between}: the curves do not overlap for any such exponent")
    first = grid[chi2.argmin(axis=1)]
    # Half a percent at each end is left to the coarse grid, so that a stray copy does not blur it.
    low, high = np.quantile(first, [0.005, 0.995])
    step = grid[1] - grid[0]
    grid = np.linspace(max(low - 2 * step, between[0]), min(high + 2 * step, between[1]), FINE)
    chi2, alpha = _measure(grid, sizes, xs, rows, variances, y_exponent)
    gamma = lowest(grid, chi2.T)
    stray = (first < grid[0]) | (first > grid[-1])
    gamma = np.where(stray, first, gamma)
    alphas = np.array([np.interp(g, grid, a) for g, a in zip(gamma, alpha, strict=True)])
    if gamma[0] <= between[0] + step or gamma[0] >= between[1] - step:
        raise InputError(
            f"between = {between}: the best exponent {gamma[0]:.3g} is at the end; widen the range"
        )
    return Collapse(
        exponent=interval(gamma[0], gamma[1:], level),
        y_exponent=interval(alphas[0], alphas[1:], level),
        chi2=float(chi2[0].min()),
        sizes=tuple(sorted({float(curve.size) for curve in curves})),
    )


def effective_collapses(curves: Sequence[Curve], *, window: int = 2, **how: Any) -> list[Collapse]:
    """How the exponent drifts with size: `collapse` over each window of consecutive sizes.

    Parameters
    ----------
    curves, **how
        As in `collapse`.
    window : int, default 2
        Number of sizes per collapse, from 2 to the number of sizes.

    Examples
    --------
    >>> x = np.geomspace(1, 64, 13)
    >>> curves = [Curve(P, x, 1 / (1 + (x / P**0.5) ** 2)) for P in (16, 64, 256)]
    >>> [(c.sizes, round(c.exponent.value, 2)) for c in effective_collapses(curves)]
    [((16.0, 64.0), 0.5), ((64.0, 256.0), 0.5)]
    """
    sizes = sorted({float(curve.size) for curve in curves})
    if not 2 <= window <= len(sizes):
        raise InputError(f"window = {window}: must be from 2 to the number of sizes {len(sizes)}")
    return [
        collapse([c for c in curves if sizes[i] <= c.size <= sizes[i + window - 1]], **how)
        for i in range(len(sizes) - window + 1)
    ]


def _measure(
    gammas: FloatArray,
    sizes: FloatArray,
    xs: list[FloatArray],
    rows: list[FloatArray],
    variances: list[FloatArray],
    y_exponent: float | None,
) -> tuple[FloatArray, FloatArray]:
    """`chi2` and the best alpha, `[copy, gamma]`; infinite where too few points overlap.

    For a given gamma the differences are linear in alpha, so the best one is explicit.
    """
    from scipy.interpolate import CubicSpline

    shape = (len(rows[0]), gammas.size)
    dd, dl, ll = np.zeros(shape), np.zeros(shape), np.zeros(gammas.size)
    points = np.zeros(gammas.size)
    for q, (x_q, y_q) in enumerate(zip(xs, rows, strict=True)):
        # A spline is linear in its values: its matrix serves all copies. Between grid points the
        # noise of several is averaged, each with its weight in the spline.
        basis = CubicSpline(x_q, np.eye(x_q.size), axis=1)
        for p, (x_p, y_p) in enumerate(zip(xs, rows, strict=True)):
            if sizes[p] == sizes[q]:
                continue
            distance = sizes[p] - sizes[q]
            at = x_p[None] - gammas[:, None] * distance  # [gamma, point]
            inside = (at >= x_q[0] - 1e-9) & (at <= x_q[-1] + 1e-9)
            matrix = basis(np.clip(at, x_q[0], x_q[-1]))  # [value, gamma, point]
            noise = np.einsum("kgi,k->gi", matrix**2, variances[q])
            weight = inside / (variances[p] + noise)
            # The differences of all copies, times the root of their weight.
            root = np.sqrt(weight)
            both = np.concatenate([np.eye(x_p.size)[:, None] * root, -matrix * root])
            values = np.concatenate([y_p, y_q], axis=1)
            difference = (values @ both.reshape(len(both), -1)).reshape(*shape, x_p.size)
            dd += np.einsum("rgi,rgi->rg", difference, difference)
            dl += distance * (values @ (both * root).sum(axis=2))
            ll += distance**2 * weight.sum(axis=1)
            points += inside.sum(axis=1)
    free = y_exponent is None
    alpha = dl / np.maximum(ll, 1e-300) if free else np.full(shape, y_exponent, dtype=np.float64)
    total = dd - 2 * alpha * dl + alpha**2 * ll
    # The points that could be compared at best, each curve's within each other's length.
    most = sum(min(len(a), len(b)) for i, a in enumerate(xs) for b in xs[:i]) * 2
    chi2 = np.where(points >= MIN_OVERLAP * most, total / np.maximum(points, 1), np.inf)
    return chi2, alpha


def _without_factors(
    logs: list[tuple[FloatArray, FloatArray]],
) -> list[tuple[FloatArray, FloatArray]]:
    """The curves without the factor that each seed has in common at all sizes and all `x`."""
    if len({log_y.shape[1] for _, log_y in logs}) > 1:
        raise InputError("curves of different numbers of seeds: they are not the same ones")
    every = np.concatenate([log_y for _, log_y in logs])
    factor = seed_means(every.T)
    return [(log_x, log_y - factor) for log_x, log_y in logs]


def _replicates(
    logs: list[FloatArray],
    means: list[FloatArray],
    same: bool,
    rng: np.random.Generator,
    count: int,
) -> list[FloatArray]:
    """The means of each curve, then `count` replicates, `[1 + count, point]`."""
    seeds = [log_y.shape[1] for log_y in logs]
    # The noise is known from the seeds of all curves, but the outer sizes weigh most: count half.
    dofs = seeds[0] - 1.0 if same else sum(n - 1 for n in seeds) / 2
    scale = np.sqrt(dofs / rng.chisquare(dofs, count))[:, None]
    noise, rows = np.empty(0), list[FloatArray]()
    for log_y, mean, n in zip(logs, means, seeds, strict=True):
        if not (rows and same):
            noise = rng.standard_normal((count, n)) * scale
        residual = np.nan_to_num(log_y - mean[:, None])
        rows.append(np.vstack([mean, mean + noise @ residual.T / np.sqrt(n * (n - 1))]))
    return rows


def _variances(logs: list[tuple[FloatArray, FloatArray]]) -> list[FloatArray]:
    """Variance of each mean, pooled over the points of all curves at a similar `x`.

    A variance from the few seeds of one point would be a poor weight, and one that favours points
    whose seeds agree by chance: intervals came out a fifth too short.
    """
    if any(y.shape[1] < 2 for _, y in logs):
        return [np.ones(x.size) for x, _ in logs]
    n = [np.maximum(np.isfinite(y).sum(axis=1), 1) for _, y in logs]
    scatter = [
        np.nansum((y - np.nanmean(y, axis=1, keepdims=True)) ** 2, axis=1) / np.maximum(m - 1, 1)
        for (_, y), m in zip(logs, n, strict=True)
    ]
    every_x, every = np.concatenate([x for x, _ in logs]), np.concatenate(scatter)
    reach = 2.5 * np.median(np.concatenate([np.diff(x) for x, _ in logs]))
    floor = max(1e-12, 1e-6 * float(every.mean()))  # curves without noise still need a weight
    return [
        np.maximum((near * every).sum(axis=1) / near.sum(axis=1), floor) / m
        for (x, _), m in zip(logs, n, strict=True)
        for near in [np.abs(x[:, None] - every_x) <= reach]
    ]


def _log_curve(curve: Curve) -> tuple[FloatArray, FloatArray]:
    """Logarithms sorted in `x`; points that lack all seeds are left out."""
    x, y = np.asarray(curve.x, dtype=np.float64), np.asarray(curve.y, dtype=np.float64)
    y = y[:, None] if y.ndim == 1 else y
    if x.ndim != 1 or y.ndim != 2 or len(y) != x.size or not curve.size > 0:
        raise InputError(
            f"curve of size {curve.size}, x of shape {x.shape}, y of shape {y.shape}: "
            "must be a positive size, [n], and [n] or [n, seeds]"
        )
    log_y = logarithms(y)
    keep = (x > 0) & np.isfinite(log_y).any(axis=1)
    if np.unique(x[keep]).size < max(3, keep.sum()):
        raise InputError(
            f"curve of size {curve.size:g}: must have 3 or more points, each x once, x > 0, y > 0"
        )
    order = np.argsort(x[keep])
    return np.log(x[keep][order]), log_y[keep][order]
