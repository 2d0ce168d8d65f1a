"""Power laws `y = prefactor x^exponent` with errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sgdphase._typing import FloatArray
from sgdphase.errors import InputError
from sgdphase.stats._bootstrap import LEVEL, REPLICATES, interval
from sgdphase.stats._estimate import Estimate
from sgdphase.stats._loglinear import logarithms, loglinear


@dataclass(frozen=True)
class PowerLaw:
    """The fit `y = prefactor x^exponent`, returned by `power_law`; callable at any `x`.

    Attributes
    ----------
    exponent, prefactor : Estimate
    scatter : float
        Rms distance of the points from the line, in natural logarithms.
    first, last : float; ends of the range of `x`
    """

    exponent: Estimate
    prefactor: Estimate
    scatter: float
    first: float
    last: float

    def __repr__(self) -> str:
        return (
            f"y = a x^b with b = {self.exponent}, a = {self.prefactor}, for x from "
            f"{self.first:.5g} to {self.last:.5g}"
        )

    def __call__(self, x: ArrayLike) -> FloatArray:
        """The fitted line at `x`."""
        return np.asarray(
            self.prefactor.value * np.asarray(x, dtype=np.float64) ** self.exponent.value
        )


def power_law(
    x: ArrayLike,
    y: ArrayLike,
    *,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> PowerLaw:
    """The power law `y = prefactor x^exponent`, by least squares in logarithms.

    With seeds, the interval comes from the bootstrap over them and from any scatter of the points
    beyond what they explain; without, from the scatter about the line alone (3 points or more).

    Parameters
    ----------
    x : array_like [n]
        2 or more values above 0; others are left out.
    y : array_like [n] or [n, seeds]
        Likewise; NaN where a run is missing.
    level, replicates, seed
        As in `loglinear`.

    Examples
    --------
    >>> law = power_law([1, 2, 4, 8], [3, 6, 12, 24])
    >>> round(law.exponent.value, 6), round(law.prefactor.value, 6), float(law(16).round(6))
    (1.0, 3.0, 48.0)
    """
    log_x, log_y = _logs(x, y)
    if log_x.size < 2:
        raise InputError(f"{log_x.size} points with x > 0 and y > 0: a power law needs 2 or more")
    fit = loglinear(log_x, log_y, level=level, replicates=replicates, seed=seed)
    exponent, middle = fit.exponent(1), log_x.mean()
    with np.errstate(over="ignore"):  # a replicate with a steep slope may have no finite prefactor
        at_one = np.exp(fit.replicates[:, 0] - fit.replicates[:, 1] * middle)
    prefactor = float(np.exp(fit.centre - exponent.value * middle))
    return PowerLaw(
        exponent=exponent,
        prefactor=interval(prefactor, at_one, level),
        scatter=fit.scatter,
        first=float(np.exp(log_x.min())),
        last=float(np.exp(log_x.max())),
    )


def effective_power_laws(
    x: ArrayLike, y: ArrayLike, *, window: int = 2, level: float = LEVEL
) -> list[PowerLaw]:
    """How the exponent drifts: `power_law` over each window of consecutive `x`.

    Parameters
    ----------
    x, y, level
        As in `power_law`.
    window : int, default 2
        Number of points per fit, from 2 to the number of points.

    Examples
    --------
    >>> laws = effective_power_laws([1, 2, 4], [1, 2, 8])
    >>> [round(law.exponent.value, 6) for law in laws]
    [1.0, 2.0]
    """
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
    log_y = logarithms(ys)
    keep = (xs > 0) & np.isfinite(log_y).any(axis=1)
    return np.log(xs[keep]), log_y[keep]
