"""The log-linear fit: `y = prefactor * product of x_k^exponent_k` over cells and seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from sgdphase._typing import FloatArray
from sgdphase.stats._bootstrap import (
    LEVEL,
    REPLICATES,
    interval,
    line_fit,
    seed_means,
    seed_replicates,
)
from sgdphase.stats._estimate import Estimate


@dataclass(frozen=True, eq=False)
class LogLinear:
    """A log-linear fit about the centre of the cells, returned by `loglinear`.

    Attributes
    ----------
    centre : float
        Fitted `log y` at the mean of `log x`.
    exponents : ndarray [k]; one per variable
    replicates : ndarray [R, 1 + k]
        Of `centre` (first column) and `exponents`.
    scatter : float
        Rms distance of the cells from the fit, in natural logarithms.
    level : float; coverage of intervals
    misfit : bool
        Whether cells scatter about the fit by more than their seeds explain.
    """

    centre: float
    exponents: FloatArray
    replicates: FloatArray
    scatter: float
    level: float
    misfit: bool

    def exponent(self, *weights: float) -> Estimate:
        """A sum of exponents with these `weights`: `exponent(0, 1)` is the second exponent."""
        w = np.array(weights)
        copies = self.replicates[:, 1 : 1 + w.size] @ w
        found = interval(float(self.exponents[: w.size] @ w), copies, self.level)
        return replace(found, misfit=self.misfit)


def loglinear(
    log_x: ArrayLike,
    log_y: ArrayLike,
    *,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    seed: int = 0,
    own: Sequence[int] = (),
) -> LogLinear:
    """Least squares of `log y = centre + sum_k exponent_k (log x_k - mean log x_k)`.

    Intervals come from the bootstrap over seeds and from any scatter of the cells beyond what the
    seeds explain (`linear_fit`).

    Parameters
    ----------
    log_x : array_like [n] or [n, k]
        Natural logarithms of the variables, one row per cell.
    log_y : array_like [n, seeds]
        Natural logarithms; NaN where a run is missing.
    level : float, default 0.9; coverage of intervals
    replicates : int, default 1000; number of bootstrap replicates
    seed : int, default 0; of the bootstrap
    own : sequence of int, default none
        With `seed`, that of the scatter of the cells: others for fits that share only their seeds.

    Examples
    --------
    >>> x = np.log([1.0, 2.0, 4.0])
    >>> round(loglinear(x, (3 * x)[:, None] + [0.1, -0.1]).exponent(1).value, 6)
    3.0
    """
    x, y = np.asarray(log_x, dtype=np.float64), np.asarray(log_y, dtype=np.float64)
    x = x[:, None] if x.ndim == 1 else x
    rng = np.random.default_rng(seed)
    mean, copies = seed_means(y), seed_replicates(y, rng, replicates)
    # Scatter of the cells is of this fit alone; the noise of seeds may be shared with another one.
    rng = np.random.default_rng([seed, *own]) if own else rng
    fit, many = line_fit(x, mean, copies, rng)
    by_seeds = line_fit(x, mean, copies, None)[1]
    misfit = bool(np.isfinite(by_seeds).any() and not np.array_equal(many, by_seeds))
    residuals = mean - fit[0] - (x - x.mean(axis=0)) @ fit[1:]
    scatter = float(np.sqrt(np.mean(residuals**2)))
    return LogLinear(float(fit[0]), fit[1:], many, scatter, level, misfit)


def logarithms(values: ArrayLike) -> FloatArray:
    """Natural logarithms; NaN for what is not above 0.

    >>> logarithms([1.0, 0.0]).tolist()
    [0.0, nan]
    """
    y = np.asarray(values, dtype=np.float64)
    logs = np.full(y.shape, np.nan)
    np.log(y, out=logs, where=y > 0)
    return logs
