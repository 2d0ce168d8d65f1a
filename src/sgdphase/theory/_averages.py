"""Averages over the data distribution (SI 6.A), from the integrals of `_compiled`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sgdphase._display import ShownFields
from sgdphase._typing import FloatArray
from sgdphase.errors import InputError, one_line
from sgdphase.theory._constants import CHI_MAX, check_chi, numbers

if TYPE_CHECKING:
    from sgdphase.theory._compiled import Rule

# The smallest counts at which the error against 30-digit integrals stops falling, plus a few.
JACOBI_NODES = 64
LEGENDRE_NODES = 48


@dataclass(frozen=True, repr=False)
class Averages(ShownFields):
    """Averages over the data distribution (SI 6.A), returned by ``averages``.

    Attributes
    ----------
    g1, g_perp : ndarray
        Gradient along the teacher and across it; the paper's times ``sqrt(d)``.
    unfitted : ndarray
        Fraction of points below the margin, from 0 to 1.
    sigma11, sigma12, sigma22 : ndarray
        Covariance of the gradient; the paper's times ``d``.
    """

    g1: FloatArray
    g_perp: FloatArray
    unfitted: FloatArray
    sigma11: FloatArray
    sigma12: FloatArray
    sigma22: FloatArray


def averages(lam: npt.ArrayLike, r: npt.ArrayLike, chi: float) -> Averages:
    """Gradient, unfitted fraction and covariance, from integrals I, J, D over the density.

    ::

        g1       = I_1                                     sigma11 = I_2 - I_1^2
        g_perp   = -sqrt(2/pi) J_0                         sigma12 = -sqrt(2/pi) (J_1 - I_1 J_0)
        unfitted = I_0                                     sigma22 = I_0 + sqrt(2/pi) D_0 - g_perp^2

    The integrals have a relative error below 1e-13 for ``-0.99 <= chi <= 10`` at any ``lam`` and
    ``r``. ``sigma11`` and ``sigma12`` are differences and lose the digits that cancel: the error of
    ``sigma12`` is relative to ``g_perp``.

    Parameters
    ----------
    lam : array_like
        ``w1/w_perp``, finite; negative values occur at the start of the stochastic dynamics.
    r : array_like
        ``margin sqrt(d)/w_perp``, at least 0; ``inf`` is ``w_perp = 0``, every point unfitted.
    chi : float
        Exponent of the data density at the boundary, above -1, up to 100.

    Examples
    --------
    >>> a = averages(lam=[0.0, 10.0], r=0.0, chi=1.0)
    >>> a.unfitted.round(4).tolist(), a.g1.round(4).tolist()
    ([0.5, 0.0025], [0.6267, 0.0003])
    """
    lam_all, r_all = _checked(lam, r, chi)
    from sgdphase.theory._compiled import averages_many

    # Copies: arrays that share memory by broadcasting are not to be written to.
    flat = averages_many(lam_all.flatten(), r_all.flatten(), quadrature(float(chi)))
    return Averages(*(flat[:, i].reshape(lam_all.shape)[()] for i in range(6)))


def unfitted_fraction(lam: npt.ArrayLike, r: npt.ArrayLike, chi: float) -> FloatArray:
    """The unfitted fraction alone, `averages(lam, r, chi).unfitted`.

    Parameters
    ----------
    lam, r, chi
        As in `averages`.

    Examples
    --------
    >>> unfitted_fraction(lam=[0.0, 10.0], r=0.0, chi=1.0).round(4).tolist()
    [0.5, 0.0025]
    """
    lam_all, r_all = _checked(lam, r, chi)
    from sgdphase.theory._compiled import unfitted_at

    flat: FloatArray = unfitted_at(lam_all.flatten(), r_all.flatten(), quadrature(float(chi)))
    return flat.reshape(lam_all.shape)[()]


def _checked(lam: npt.ArrayLike, r: npt.ArrayLike, chi: float) -> tuple[FloatArray, FloatArray]:
    """`lam` and `r` as arrays of one shape."""
    check_chi(chi, CHI_MAX)
    lam_in, r_in = numbers("lam", lam), numbers("r", r)
    if not np.all(np.isfinite(lam_in)):
        raise InputError(f"lam = {one_line(lam)}: must be finite")
    if not np.all(r_in >= 0):
        raise InputError(f"r = {one_line(r)}: must be >= 0 (inf allowed)")
    lam_all, r_all = np.broadcast_arrays(lam_in, r_in)
    return lam_all, r_all


@lru_cache(maxsize=64)
def quadrature(chi: float) -> Rule:
    """Gauss-Jacobi (weight t^chi) and Gauss-Legendre rules on [0, 1], kept per ``chi``."""
    from scipy.special import roots_legendre

    from sgdphase.theory._compiled import Rule

    if chi >= 0:
        nodes, weights = _jacobi(JACOBI_NODES, chi)
    else:
        # As chi -> -1 the weight piles up at 0 and the Gauss rule loses digits there. Its Radau
        # variant has 0 as a node and takes the others from t^(chi+1), which is harmless.
        inner, inner_weights = _jacobi(JACOBI_NODES, chi + 1)
        inner_weights = inner_weights / inner
        nodes = np.concatenate([[0.0], inner])
        weights = np.concatenate([[1 / (1 + chi) - inner_weights.sum()], inner_weights])
    flat_y, flat_w = roots_legendre(LEGENDRE_NODES)
    norm = 2 ** ((1 + chi) / 2) * math.gamma((1 + chi) / 2)
    return Rule(chi, norm, nodes, weights, (1 + flat_y) / 2, flat_w / 2)


def _jacobi(count: int, power: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of ``int_0^1 t^power f(t) dt``."""
    from scipy.special import roots_jacobi

    y, w = roots_jacobi(count, 0.0, power)
    return (1 + y) / 2, w / 2 ** (1 + power)
