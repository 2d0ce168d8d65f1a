"""Averages over the data distribution (SI 6.A).

With ``lam = w1/w_perp``, ``r = margin sqrt(d)/w_perp``, ``a(x) = r - lam x`` and the density
``rho(x) = x^chi exp(-x^2/2)/Z``, everything the online dynamics needs is made of

    I_k = int_0^inf rho x^k (1 + erf(a/sqrt(2))) dx          k = 0, 1, 2
    J_k = int_0^inf rho x^k exp(-a^2/2) dx                   k = 0, 1, 2
    D_k = int_0^inf rho x^k (-a) exp(-a^2/2) dx              k = 0, 1
    E   = int_0^inf rho a^2 exp(-a^2/2) dx.

I and J give the averages; D and E their derivatives, since dI_k/dr = sqrt(2/pi) J_k,
dI_k/dlam = -sqrt(2/pi) J_{k+1}, dJ_k/dr = D_k, dJ_k/dlam = -D_{k+1}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.special import roots_jacobi, roots_legendre

from sgdphase._typing import FloatArray
from sgdphase.errors import InputError
from sgdphase.theory._constants import CHI_MAX, check_chi, one_line

# The smallest counts at which the error against 30-digit integrals stops falling, plus a few.
JACOBI_NODES = 64
LEGENDRE_NODES = 48

# exp(-s^2/2) and erfc(s/sqrt(2)) are below 1e-17 of their value at 0 beyond this.
TAIL = 9.0
# Above this r the bracket 1 + erf is first 2, then a step: the two parts are integrated apart.
SPLIT = 12.0

SQRT_2_PI = math.sqrt(2 / math.pi)


class Rule(NamedTuple):
    """Quadrature rules for one ``chi``: nodes and weights, both on [0, 1]."""

    chi: float
    norm: float  # Z, such that rho integrates to 1/2 over x > 0
    nodes: FloatArray  # for int_0^1 t^chi f(t) dt
    weights: FloatArray
    flat_nodes: FloatArray  # for int_0^1 f(t) dt
    flat_weights: FloatArray


@dataclass(frozen=True)
class Averages:
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
    """Gradient, unfitted fraction and covariance, from the integrals I, J, D of this module.

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
    check_chi(chi, CHI_MAX)
    lam_in, r_in = np.asarray(lam, dtype=np.float64), np.asarray(r, dtype=np.float64)
    if not np.all(np.isfinite(lam_in)):
        raise InputError(f"lam = {one_line(lam)}: must be finite")
    if not np.all(r_in >= 0):
        raise InputError(f"r = {one_line(r)}: must be >= 0 (inf allowed)")
    lam_all, r_all = np.broadcast_arrays(lam_in, r_in)
    # Copies: arrays that share memory by broadcasting are not to be written to.
    flat = _averages_many(lam_all.flatten(), r_all.flatten(), quadrature(float(chi)))
    return Averages(*(flat[:, i].reshape(lam_all.shape)[()] for i in range(6)))


@lru_cache(maxsize=64)
def quadrature(chi: float) -> Rule:
    """Gauss-Jacobi (weight t^chi) and Gauss-Legendre rules on [0, 1], kept per ``chi``."""
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
    y, w = roots_jacobi(count, 0.0, power)
    return (1 + y) / 2, w / 2 ** (1 + power)


@njit(cache=True)
def _erfc_integrals(lam: float, r: float, rule: Rule) -> tuple[float, float, float]:
    """``int_0^inf rho x^k erfc((lam x - r)/sqrt(2)) dx``, k = 0, 1, 2, ``lam >= 0``, any ``r``."""
    bulk = math.sqrt(rule.chi + 2) + TAIL  # rho x^2 is nothing beyond
    i0 = i1 = i2 = 0.0
    if r <= SPLIT:
        reach = max(r, 0.0) + bulk
        end = bulk if reach >= bulk * lam else reach / lam
        for i in range(rule.nodes.size):
            x = end * rule.nodes[i]
            step = math.erfc((lam * x - r) / math.sqrt(2.0))
            f = rule.weights[i] * math.exp(-0.5 * x * x) * step
            i0 += f
            i1 += f * x
            i2 += f * x * x
        scale = end ** (rule.chi + 1) / rule.norm
        return i0 * scale, i1 * scale, i2 * scale

    # 0 < x < start: erfc is 2
    start = bulk if r - TAIL >= bulk * lam else (r - TAIL) / lam
    for i in range(rule.nodes.size):
        x = start * rule.nodes[i]
        f = 2 * rule.weights[i] * math.exp(-0.5 * x * x)
        i0 += f
        i1 += f * x
        i2 += f * x * x
    scale = start ** (rule.chi + 1) / rule.norm
    i0, i1, i2 = i0 * scale, i1 * scale, i2 * scale
    if start >= bulk:
        return i0, i1, i2

    # the step, in s = lam x - r, so that it is resolved for any r and lam
    width = TAIL + min(TAIL, bulk * lam - r)
    scale = width / lam / rule.norm
    for i in range(rule.flat_nodes.size):
        s = -TAIL + width * rule.flat_nodes[i]
        x = (r + s) / lam
        step = math.erfc(s / math.sqrt(2.0))
        f = scale * rule.flat_weights[i] * x**rule.chi * math.exp(-0.5 * x * x) * step
        i0 += f
        i1 += f * x
        i2 += f * x * x
    return i0, i1, i2


@njit(cache=True)
def _gauss_integrals(
    lam: float, r: float, rule: Rule
) -> tuple[float, float, float, float, float, float]:
    """``(J_0, J_1, J_2, D_0, D_1, E)`` for ``lam >= 0`` and any ``r``.

    The two Gaussians make one: with h = sqrt(1+lam^2), u = h x, mu = r lam/h,
    x^2 + (r - lam x)^2 = (u - mu)^2 + (r/h)^2 and lam x - r = (lam/h)(u - mu) - r/h^2.
    """
    h = math.hypot(1.0, lam)
    front = math.exp(-0.5 * (r / h) ** 2) / rule.norm
    if front == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    slope = lam / h
    shift = r / h / h
    mu = r * slope
    peak = 0.5 * (mu + math.hypot(mu, 2 * math.sqrt(rule.chi + 4)))  # of u^(chi+4) e^(-(u-mu)^2/2)
    near = mu <= SPLIT  # the window reaches u = 0, where the density has its power law
    if near:
        origin, width = -mu, peak + TAIL
        front *= (width / h) ** rule.chi * width / h
        nodes, weights = rule.nodes, rule.weights
    else:
        origin, width = -TAIL, peak - mu + 2 * TAIL
        front *= width / h
        nodes, weights = rule.flat_nodes, rule.flat_weights
    j0 = j1 = j2 = d0 = d1 = e = 0.0
    for i in range(nodes.size):
        s = origin + width * nodes[i]  # u - mu
        x = width * nodes[i] / h if near else (mu + s) / h
        a = slope * s - shift
        f = weights[i] * math.exp(-0.5 * s * s)
        if not near:
            f *= x**rule.chi
        j0 += f
        j1 += f * x
        j2 += f * x * x
        d0 += f * a
        d1 += f * a * x
        e += f * a * a
    return front * j0, front * j1, front * j2, front * d0, front * d1, front * e


@njit(cache=True)
def moments(
    lam: float, r: float, rule: Rule
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """``(I_0, I_1, I_2, J_0, J_1, J_2, D_0, D_1, E)`` for any finite ``lam`` and ``r >= 0``."""
    if lam >= 0:
        i0, i1, i2 = _erfc_integrals(lam, r, rule)
        j0, j1, j2, d0, d1, e = _gauss_integrals(lam, r, rule)
        return i0, i1, i2, j0, j1, j2, d0, d1, e
    # 1 + erf((r + |lam| x)/sqrt(2)) = 2 - erfc((|lam| x - (-r))/sqrt(2)), and a changes sign
    i0, i1, i2 = _erfc_integrals(-lam, -r, rule)
    f0, f1, f2 = _erfc_integrals(0.0, math.inf, rule)
    j0, j1, j2, d0, d1, e = _gauss_integrals(-lam, -r, rule)
    return f0 - i0, f1 - i1, f2 - i2, j0, j1, j2, -d0, -d1, e


@njit(cache=True)
def averages_at(
    lam: float, r: float, rule: Rule
) -> tuple[float, float, float, float, float, float]:
    """The six fields of ``Averages`` at one point."""
    i0, i1, i2, j0, j1, _, d0, _, _ = moments(lam, r, rule)
    g_perp = -SQRT_2_PI * j0
    sigma22 = i0 + SQRT_2_PI * d0 - g_perp * g_perp
    return i1, g_perp, i0, i2 - i1 * i1, -SQRT_2_PI * (j1 - i1 * j0), sigma22


@njit(cache=True)
def _averages_many(lam: FloatArray, r: FloatArray, rule: Rule) -> FloatArray:
    out = np.empty((lam.size, 6))
    for i in range(lam.size):
        out[i] = averages_at(lam[i], r[i], rule)
    return out
