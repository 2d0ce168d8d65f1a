"""Power laws `y = prefactor x^exponent` with errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sgdphase.diagram.bootstrap import (
    LEVEL,
    REPLICATES,
    Estimate,
    interval,
    linear_fit,
    seed_means,
    seed_replicates,
)
from sgdphase.diagram.cells import FloatArray
from sgdphase.errors import InputError

__all__ = ["PowerLaw", "effective_power_laws", "power_law"]


@dataclass(frozen=True)
class PowerLaw:
    """A fit: `exponent` in `[low, high]`, and `prefactor` with an interval of its own.

    `scatter` is the rms distance of the points from the line, in natural logarithms; `first` and
    `last` are the ends of the range of `x`.
    """

    exponent: float
    low: float
    high: float
    prefactor: Estimate
    scatter: float
    first: float
    last: float

    def __call__(self, x: ArrayLike) -> FloatArray:
        """The fitted line at `x`."""
        return np.asarray(self.prefactor.value * np.asarray(x, dtype=np.float64) ** self.exponent)


def power_law(
    x: ArrayLike,
    y: ArrayLike,
    *,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> PowerLaw:
    """Least squares in logarithms of `y [n]` or `y [n, seeds]` on `x [n]`; NaN is left out.

    With seeds, the interval comes from the bootstrap over them and from any scatter of the points
    beyond what they explain; without, from the scatter about the line alone (3 points or more).

    >>> law = power_law([1, 2, 4, 8], [3, 6, 12, 24])
    >>> round(law.exponent, 6), round(law.prefactor.value, 6)
    (1.0, 3.0)
    """
    log_x, log_y = _logs(x, y)
    if log_x.size < 2:
        raise InputError(f"{log_x.size} points with x > 0 and y > 0: a power law needs 2 or more")
    rng = np.random.default_rng(seed)
    mean = seed_means(log_y)
    copies = seed_replicates(log_y, rng, replicates)
    design = np.stack([np.ones_like(log_x), log_x - log_x.mean()], axis=1)
    (centre, slope), many = linear_fit(design, mean, copies, rng)
    exponent = interval(float(slope), many[:, 1], level)
    with np.errstate(over="ignore"):  # a replicate with a steep slope may have no finite prefactor
        at_one = np.exp(many[:, 0] - many[:, 1] * log_x.mean())
    rest = mean - design @ np.array([centre, slope])
    return PowerLaw(
        exponent=exponent.value,
        low=exponent.low,
        high=exponent.high,
        prefactor=interval(float(np.exp(centre - slope * log_x.mean())), at_one, level),
        scatter=float(np.sqrt(np.mean(rest**2))),
        first=float(np.exp(log_x.min())),
        last=float(np.exp(log_x.max())),
    )


def effective_power_laws(
    x: ArrayLike, y: ArrayLike, *, window: int = 2, level: float = LEVEL
) -> list[PowerLaw]:
    """The exponent over each `window` of consecutive `x`: how it drifts."""
    xs = np.asarray(x, dtype=np.float64)
    if not 2 <= window <= xs.size:
        raise InputError(f"window = {window}: must be from 2 to the number of points {xs.size}")
    order = np.argsort(xs)
    xs, ys = xs[order], np.asarray(y, dtype=np.float64)[order]
    starts = range(xs.size - window + 1)
    return [power_law(xs[i : i + window], ys[i : i + window], level=level) for i in starts]


def _logs(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    ys = ys[:, None] if ys.ndim == 1 else ys
    if xs.ndim != 1 or ys.ndim != 2 or len(ys) != xs.size:
        raise InputError(
            f"x of shape {xs.shape} and y of shape {ys.shape}: must be [n] and [n] or [n, seeds]"
        )
    log_y = np.full(ys.shape, np.nan)
    np.log(ys, out=log_y, where=ys > 0)
    keep = (xs > 0) & np.isfinite(log_y).any(axis=1)
    return np.log(xs[keep]), log_y[keep]
