r"""Smooth curves through noisy points, and their minima: local polynomials, with replicates.

At each place a parabola or a cubic is fitted to the nearest points, with tricube weights. The
degree and the number of points are weighed by generalised cross-validation over all curves
together: a replicate is drawn with one of these choices, so that intervals include what the data
leave open about them. The residuals of all curves give the noise; so curves with one run per point
have an interval too.

Noise grows with the distance from the minimum, as a loss that rises steeply is rarely repeatable:
a point `e` above the lowest of its curve has the variance `s^2 (1 + (e/c)^2) / n`, with `n` runs
and `c` the median of `e`. Points behind a cliff, as those of runs that failed, are left out first:
those with `e` above 50 times its median over the five lowest points.

On planted valleys (three shapes, two spacings, one to five runs) 90 % intervals of the minimum
cover 85 to 100 %, 90 % on average (`benchmarks/coverage_best_lr.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.stats._bootstrap import REPLICATES, interval
from sgdphase.stats._estimate import Estimate
from sgdphase.stats._lowest import lowest

# Places per unit of `x` at which a curve is evaluated: 32 per factor of two.
_DENSITY = 32 / math.log(2)
_NEAREST = (5, 6, 7, 9, 12, 16, 24)
_DEGREES = (2, 3)
_CLIFF = 50.0
_LOWEST = 5


@dataclass(frozen=True, eq=False)
class Points:
    """Points of one curve: `x` increasing, `y` the mean of `n` runs each."""

    x: FloatArray
    y: FloatArray
    n: FloatArray


@dataclass(frozen=True, eq=False)
class SmoothCurve:
    """A curve with replicates, returned by `smooth_curves`.

    Attributes
    ----------
    x : ndarray [G]; places at equal distances
    y : ndarray [G]
    replicates : ndarray [R, G]
    """

    x: FloatArray
    y: FloatArray
    replicates: FloatArray

    def at(self, x: float | FloatArray) -> tuple[float, FloatArray]:
        """The curve at `x`, and its replicates there, or at one place per replicate."""
        places = np.broadcast_to(np.asarray(x, dtype=np.float64), len(self.replicates))
        position = np.nan_to_num(places - self.x[0]) / (self.x[1] - self.x[0])
        position = np.clip(position, 0, self.x.size - 1)
        left = np.minimum(position.astype(np.int64), self.x.size - 2)
        part, rows = position - left, np.arange(len(places))
        copies = self.replicates
        many = (1 - part) * copies[rows, left] + part * copies[rows, left + 1]
        return float(np.interp(np.median(x), self.x, self.y)), np.asarray(many)

    def place(self, at: float, many: FloatArray, level: float) -> Estimate:
        """A place with its interval; an end is NaN where replicates pile up at that of the curve.

        Beyond it there are no points: what `many` replicates look for may lie there.
        """
        share, found = (1 - level) / 2, interval(at, many, level)
        low = math.nan if np.mean(many <= self.x[0]) > share else found.low
        high = math.nan if np.mean(many >= self.x[-1]) > share else found.high
        return Estimate(at, low, high)

    def minimum(self) -> tuple[float, FloatArray]:
        """The place of the minimum, and its replicates."""
        place, *places = _minima(self.x, np.concatenate([self.y[None], self.replicates]))
        unknown = np.isnan(self.replicates).any(axis=1)
        return float(place), np.where(unknown, np.nan, places)


def smooth_curves(
    points: Sequence[Points],
    pure: tuple[float, int] = (0.0, 0),
    *,
    copies: FloatArray | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> list[SmoothCurve]:
    """A curve through each set of three points or more.

    Parameters
    ----------
    points : sequence of Points
    pure : (float, int), default none
        Deviation of runs at one point, from `pure_deviation`, and its degrees of freedom. It is
        the noise if it is larger than the residuals, or if there are too few points for those.
    copies : ndarray [R, n], optional
        Replicates of the points of a single curve; noise is what residuals show beyond them.

    Examples
    --------
    >>> x = np.linspace(0, 4, 9)
    >>> [curve] = smooth_curves([Points(x, (x - 1.5) ** 2 + 0.01 * np.cos(40 * x), np.ones(9))])
    >>> place, many = curve.minimum()
    >>> bool(abs(place - 1.5) < 0.02), bool(many.std() < 0.1)
    (True, True)
    """
    kept = [_before_the_cliff(each) for each in points] if copies is None else list(points)
    replicates = replicates if copies is None else len(copies)
    weights = [_weights(each.y, each.n) for each in kept]
    fits = _fits(kept, weights)
    rng = np.random.default_rng([seed, 2])
    share = np.array([fit.share for fit in fits])
    pick = rng.choice(len(fits), replicates, p=share)
    deviation = np.array([fit.deviation for fit in fits])
    freedom = np.array([fit.freedom for fit in fits])
    if pure[1]:
        larger = ~(deviation > pure[0])  # also where there is none
        deviation, freedom = (
            np.where(larger, pure[0], deviation),
            np.where(larger, pure[1], freedom),
        )
    with np.errstate(invalid="ignore"):
        student = np.sqrt(freedom[pick] / rng.chisquare(np.maximum(freedom[pick], 1.0)))
    around = [each.y for each in kept]
    if copies is not None:
        around = [copies]
        deviation = np.sqrt(
            np.maximum(np.nan_to_num(deviation) ** 2 - copies.var(axis=0).mean(), 0)
        )
    curves = []
    for k, (each, weight) in enumerate(zip(kept, weights, strict=True)):
        scale = (deviation[pick] * student)[:, None] / np.sqrt(weight)
        noisy = around[k] + scale * rng.standard_normal((replicates, each.y.size))
        matrices = np.stack([fit.matrices[k] for fit in fits])
        curves.append(
            SmoothCurve(
                _places(each.x),
                np.asarray(np.tensordot(share, matrices, 1) @ each.y),
                np.concatenate([noisy[pick == f] @ matrix.T for f, matrix in enumerate(matrices)])[
                    np.argsort(np.argsort(pick, kind="stable"))
                ],
            )
        )
    return curves


def pure_deviation(curves: Sequence[Sequence[FloatArray]]) -> tuple[float, int]:
    """The deviation of runs at one point, and its degrees of freedom (0, 0 if there is none).

    It is scaled to the minimum of its curve. `curves` hold the runs of each point of each curve.

    >>> pure_deviation([[np.array([1.0, 3.0]), np.array([2.0])]])
    (1.4142135623730951, 1)
    """
    squares, freedom = 0.0, 0
    for curve in curves:
        means = np.array([runs.mean() for runs in curve])
        for runs, weight in zip(curve, _weights(means, np.ones(means.size)), strict=True):
            squares += float(weight * ((runs - runs.mean()) ** 2).sum())
            freedom += runs.size - 1
    return (math.sqrt(squares / freedom), freedom) if freedom else (0.0, 0)


def _before_the_cliff(points: Points) -> Points:
    excess = points.y - points.y.min()
    keep = excess <= _CLIFF * _middle(np.sort(excess)[:_LOWEST])
    keep = keep if keep.sum() >= 3 else np.argsort(np.argsort(points.y)) < 3
    return Points(points.x[keep], points.y[keep], points.n[keep])


def _middle(excess: FloatArray) -> float:
    return float(np.median(excess[excess > 0])) if (excess > 0).any() else 0.0


def _weights(y: FloatArray, n: FloatArray) -> FloatArray:
    excess = y - y.min()
    middle = _middle(excess)
    return n / (1 + (excess / middle) ** 2) if middle > 0 else np.asarray(n, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Fit:
    """One choice of degree and number of points: its weight, its noise, and a matrix per curve."""

    share: float
    deviation: float
    freedom: float
    matrices: list[FloatArray]


def _fits(points: Sequence[Points], weights: Sequence[FloatArray]) -> list[_Fit]:
    total = sum(each.x.size for each in points)
    largest = max((each.x.size for each in points), default=0)
    scores, found = [], []
    for degree in _DEGREES:
        for nearest in [k for k in _NEAREST if degree + 2 <= k < largest] + [largest + 1]:
            left, squares = float(total), 0.0
            for each, weight in zip(points, weights, strict=True):
                own = _smoother(each.x, each.x, weight, nearest, degree)
                squares += float((weight * (each.y - own @ each.y) ** 2).sum())
                left -= float(np.trace(own))
            # Curves of few points are fitted by any parabola: that says nothing of the noise.
            if left > 0.1 * total:
                scores.append(total * squares / left**2)
                found.append((math.sqrt(squares / left), left, nearest, degree))
    if not found:
        scores, found = [1.0], [(math.nan, 0.0, largest + 1, _DEGREES[0])]
    share = np.exp(-total / 2 * np.log(np.maximum(scores, 1e-300) / max(min(scores), 1e-300)))
    share = np.where(share > 0.001 * share.sum(), share, 0.0)  # others cost time and say nothing
    return [
        _Fit(
            float(part / share.sum()),
            deviation,
            freedom,
            [
                _smoother(_places(each.x), each.x, weight, nearest, degree)
                for each, weight in zip(points, weights, strict=True)
            ],
        )
        for part, (deviation, freedom, nearest, degree) in zip(share, found, strict=True)
        if part > 0
    ]


def _places(x: FloatArray) -> FloatArray:
    return np.linspace(x[0], x[-1], max(3, round((x[-1] - x[0]) * _DENSITY) + 1))


def _smoother(
    at: FloatArray, x: FloatArray, weight: FloatArray, nearest: int, degree: int
) -> FloatArray:
    """The matrix `[at, x]` that gives a local polynomial through the points."""
    distance = np.abs(at[:, None] - x)
    reach = np.sort(distance, axis=1)[:, min(nearest, x.size) - 1] * 1.001
    if nearest >= x.size:  # all points, the farthest too
        reach = reach * (1 + nearest / x.size)
    kernel = np.clip(1 - (distance / reach[:, None]) ** 3, 0, None) ** 3 * weight
    powers = np.stack([(x - at[:, None]) ** k for k in range(degree + 1)], axis=1)
    right = kernel[:, None] * powers  # [at, power, x]
    normal = right @ powers.transpose(0, 2, 1)
    scale = np.trace(normal, axis1=1, axis2=2)[:, None, None]
    # Three points have no cubic: the pseudo-inverse gives the one that is nearest to zero.
    inverse = np.linalg.pinv(normal / scale, rcond=1e-10, hermitian=True)
    return np.asarray((inverse[:, :1] @ (right / scale))[:, 0])


def _minima(x: FloatArray, y: FloatArray) -> FloatArray:
    """The place of the least of each row, an end of the range if it is there."""
    k = y.argmin(axis=1)
    return np.asarray(np.where((k == 0) | (k == x.size - 1), x[k], lowest(x, y.T)))
