"""Where a curve passes from a power law to a constant: `y = h (1 + (b/x)^(sq))^(1/q)`.

The two laws `h (b/x)^s` and `h` are equal at `x = b`. Each curve has its own `b` and its own height
`h`, so that nothing is assumed of how they depend on the size. The steepness `s` of the power law
and the sharpness `q` of the bend are common to all curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.errors import InputError
from sgdphase.stats._bootstrap import finite_mean
from sgdphase.stats._collapse import Curve
from sgdphase.stats._loglinear import logarithms
from sgdphase.stats._lowest import lowest

_STEEPNESS = np.linspace(0.25, 2.5, 46)
_SHARPNESS = (0.5, 1.0, 2.0, 4.0)
_PER_OCTAVE = 16  # places that are tried; between them a parabola is laid through the misfit
# Octaves beyond the ends that are tried too: there a curve is one of the two laws alone. Otherwise
# curves without a crossover would bend the common shape.
_BEYOND = 6


@dataclass(frozen=True, eq=False)
class Crossovers:
    """The crossovers of several curves, returned by `crossovers`.

    Attributes
    ----------
    sizes : ndarray [n]; of the curves
    at : ndarray [n, seeds]
        `b` of each curve and seed; NaN where it is not between the first and the last `x` at which
        the curve has a value.
    steepness, sharpness : float
    scatter : float
        Rms distance of the points from the fits, in natural logarithms.
    """

    sizes: FloatArray
    at: FloatArray
    steepness: float
    sharpness: float
    scatter: float


def crossovers(curves: Sequence[Curve]) -> Crossovers:
    """Where each curve passes from a power law to a constant, by least squares in logarithms.

    Parameters
    ----------
    curves : sequence of Curve
        At the same values of `x`, 4 or more, with the same number of seeds; NaN if missing.

    Examples
    --------
    >>> x = 2.0 ** np.arange(10)
    >>> curves = [Curve(P, x, P * (1 + P**0.5 / x)) for P in (16, 64, 256)]
    >>> found = crossovers(curves)
    >>> found.at[:, 0].round(2).tolist(), round(found.steepness, 6)
    ([4.0, 8.0, 16.0], 1.0)
    """
    x = np.asarray(curves[0].x, dtype=np.float64)
    if x.size < 4 or any(not np.array_equal(curve.x, x) for curve in curves):
        raise InputError(f"curves of {x.size} points: must have the same x, 4 or more")
    values = [np.asarray(curve.y, dtype=np.float64).reshape(x.size, -1) for curve in curves]
    log_x, log_y = np.log(x), logarithms(np.stack(values))  # log_y [curve, x, seed]
    log_y = log_y - finite_mean(log_y, axis=1)[:, None]  # heights are free
    first, last, beyond = log_x.min(), log_x.max(), _BEYOND * np.log(2)
    octaves = round((last - first) / np.log(2)) + 2 * _BEYOND
    places = np.linspace(first - beyond, last + beyond, 1 + _PER_OCTAVE * octaves)
    shapes = [(s, q) for q in _SHARPNESS for s in _STEEPNESS]
    # One at a time: all of them would take much memory.
    total = [np.nansum(_misfits(*shape, places, log_x, log_y).min(axis=0)) for shape in shapes]
    s, q = shapes[int(np.argmin(total))]
    misfit = _misfits(s, q, places, log_x, log_y)
    points = max(int(np.isfinite(log_y).sum()), 1)
    at, there = lowest(places, misfit), np.isfinite(log_y)
    own = np.where(there, log_x[:, None], np.nan)  # [curve, x, seed]
    first, last = np.fmin.reduce(own, axis=1), np.fmax.reduce(own, axis=1)
    return Crossovers(
        sizes=np.array([curve.size for curve in curves], dtype=np.float64),
        at=np.exp(np.where((first <= at) & (at <= last), at, np.nan)),
        steepness=float(s),
        sharpness=q,
        scatter=float(np.sqrt(min(total) / points)),
    )


def _misfits(
    s: float, q: float, places: FloatArray, log_x: FloatArray, log_y: FloatArray
) -> FloatArray:
    """Sums of squares `[place, curve, seed]` about a shape, at the best height."""
    shape = np.logaddexp(0.0, s * q * (places[:, None] - log_x)) / q  # [place, x]
    there = np.isfinite(log_y)
    m, y = there.astype(np.float64), np.where(there, log_y, 0.0)
    n = there.sum(axis=1)  # [curve, seed]
    # Of y - shape - height: sums over x as products of matrices, which takes a twentieth of the
    # time of the differences themselves.
    first, second, mixed = (
        np.tensordot(f, v, (1, 1)) for f, v in ((shape, m), (shape**2, m), (shape, y))
    )
    squares = (y**2).sum(axis=1) - 2 * mixed + second
    with np.errstate(invalid="ignore", divide="ignore"):
        squares -= (y.sum(axis=1) - first) ** 2 / n
    return np.where(n >= 4, np.maximum(squares, 0.0), np.nan)
