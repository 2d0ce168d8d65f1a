"""The law `lr ~ batch^x` through the best learning rates of several batches, and where it bends.

A line in log batch and log lr weighs each batch by its uncertainty. If two lines that meet at a
*bend* describe the points clearly better, there are two exponents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.stats import LEVEL, Estimate, Plain, interval, linear_fit
from sgdphase.stats._smooth import SmoothCurve

# A bend is called so if two lines are better with this probability of error.
_ERROR = 0.01
# Batches that each of the two lines needs.
_PER_LINE = 3
# An estimate of the best lr is never better than this, in log lr: a 32nd of an octave.
_RESOLUTION = math.log(2) / 32


@dataclass(frozen=True)
class RateLaw(Plain):
    """The law `lr ~ batch^exponent` over a range of batches, returned by `rule`.

    Attributes
    ----------
    exponent : Estimate
    first, last : float; ends of the range
    """

    exponent: Estimate
    first: float
    last: float


def rate_laws(
    batches: Sequence[float], curves: Sequence[SmoothCurve], level: float
) -> tuple[RateLaw | None, Estimate | None, tuple[RateLaw, ...]]:
    """One line through the minima; a bend and two lines if they are clearly better."""
    if len(batches) < 2:
        return None, None, ()
    x = np.log(batches)
    minima = [curve.minimum() for curve in curves]
    y, copies = np.array([at for at, _ in minima]), np.stack([many for _, many in minima], axis=1)
    error = np.maximum(np.nan_to_num(copies.std(axis=0)), _RESOLUTION)
    rng = np.random.default_rng(0)

    def fit(*columns: FloatArray, own: bool = True) -> tuple[FloatArray, FloatArray, float]:
        design = np.column_stack([np.ones(x.size), *columns])
        extra = _excess(design, y, error) if own else 0.0
        scale, freedom = np.hypot(error, extra), max(x.size - design.shape[1], 1)
        student = np.sqrt(freedom / rng.chisquare(freedom, len(copies)))[:, None]
        noisy = copies + extra * student * rng.standard_normal(copies.shape)
        values, many = linear_fit(design / scale[:, None], y / scale, noisy / scale, rng)
        return values, many, float((((y - design @ values) / scale) ** 2).sum())

    values, many, _ = fit(x)
    law = RateLaw(interval(float(values[1]), many[:, 1], level), batches[0], batches[-1])
    bend = _bend(x, fit)
    if bend is None:
        return law, None, (law,)
    values = fit(np.minimum(x, bend.value), np.maximum(x, bend.value) - bend.value)[0]
    # The place of the bend is uncertain, too: replicates are drawn from all of its interval.
    places = np.linspace(bend.low, bend.high, 9)
    many = np.concatenate(
        [fit(np.minimum(x, at), np.maximum(x, at) - at)[1][k::9] for k, at in enumerate(places)]
    )
    first, last = (interval(float(values[k]), many[:, k], level) for k in (1, 2))
    middle = bend.mapped(math.exp)
    pieces = RateLaw(first, batches[0], middle.value), RateLaw(last, middle.value, batches[-1])
    return law, middle, pieces


def _excess(design: FloatArray, y: FloatArray, error: FloatArray) -> float:
    """The deviation, beyond their errors, that makes points scatter about a fit as they do.

    Without it, a point that is known well outweighs all others even where the law is not exact.
    """
    freedom = y.size - design.shape[1]

    def surplus(extra: float) -> float:
        scale = np.hypot(error, extra)
        residual = y - design @ np.linalg.lstsq(design / scale[:, None], y / scale, rcond=None)[0]
        return float(((residual / scale) ** 2).sum() - freedom)

    if freedom < 1 or surplus(0.0) <= 0:
        return 0.0
    low, high = 0.0, float(np.ptp(y)) + float(error.max())
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if surplus(middle) > 0 else (low, middle)
    return high


def _bend(x: FloatArray, fit: Any) -> Estimate | None:
    """Where two lines meet, if they are clearly better than one."""
    from scipy.special import chdtrc, fdtrc, fdtri

    freedom = x.size - 4
    if freedom < 1 or x.size < 2 * _PER_LINE:
        return None
    one = fit(x, own=False)[2]
    places = np.linspace(x[_PER_LINE - 1], x[-_PER_LINE], 65)
    squares = np.array([fit(np.minimum(x, p), np.maximum(x, p) - p, own=False)[2] for p in places])
    least = max(float(squares.min()), 1e-12)
    # A weighted fit that is better than its own errors allow is not a better one.
    noise = max(least / freedom, 1.0)
    # Two more parameters: the second slope and the place. Errors that explain the scatter are known
    known = noise == 1.0
    chance = chdtrc(2, one - least) if known else fdtrc(2, freedom, (one - least) / 2 / noise)
    # The best place was searched for: as if there were two independent ones.
    if 2 * chance > _ERROR:
        return None
    near = places[squares <= least + noise * float(fdtri(1, freedom, LEVEL))]
    return Estimate(float(places[squares.argmin()]), float(near.min()), float(near.max()))
