"""Asymptotic constants and exponents of the noise-dominated regime (SI 4.A, SI 6.A).

They describe the averages over the data distribution, and the online solution, when the student
points along the teacher (``lam = w1/w_perp -> inf``) and the margin is negligible
(``r = margin sqrt(d)/w_perp -> 0``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sgdphase._display import ShownFields
from sgdphase._typing import FloatArray
from sgdphase.errors import LARGEST, SMALLEST, InputError, one_line, require


@dataclass(frozen=True, repr=False)
class Constants(ShownFields):
    """Limits of the averages (without 1/sqrt(d), 1/d) times their power of ``lam``.

    Returned by ``constants``.

    ==========  ======================================  ===========================================
    field       is the limit of                         equals
    ==========  ======================================  ===========================================
    ``c1``      ``lam^(chi+2) g1``                      (1+chi)/(sqrt(2 pi)(2+chi))
    ``c2``      ``-lam^(chi+1) g_perp``                 1/sqrt(2 pi)
    ``c_n``     ``lam^(chi+1) unfitted``                G(1+chi/2)/(2 sqrt(pi) G((3+chi)/2))
    ``c11``     ``lam^(chi+3) sigma11``                 2 G(2+chi/2)/(sqrt(pi)(3+chi) G((1+chi)/2))
    ``c12``     ``lam^(chi+2) sigma12``                 -G(1+chi/2)/(sqrt(pi) G((1+chi)/2))
    ``c22``     ``lam^(chi+1) sigma22``                 (2+chi) c_n
    ``k_perp``  ``w_perp / (T sqrt(d))``                c_n sqrt(pi/2)
    ``k1``      ``w1/(T sqrt(d) (t/T/d)^(1/(3+chi)))``  k_perp ((3+chi) c1/k_perp)^(1/(3+chi))
    ==========  ======================================  ===========================================

    ``c22`` differs from the paper and ``c12`` is not in it (``docs/errata.md``).

    Attributes
    ----------
    c1, c2, c_n, c11, c12, c22, k1, k_perp : float; as in the table
    gamma : float
        ``1/(1+chi)``: exponent of ``B*`` and of the final weights in the training set size.
    b : float
        ``1 + 2/(1+chi)``: exponent of the training time.
    """

    c1: float
    c2: float
    c_n: float
    c11: float
    c12: float
    c22: float
    k1: float
    k_perp: float
    gamma: float
    b: float


@dataclass(frozen=True, repr=False)
class Asymptotic(ShownFields):
    """The power-law solution at each time (SI 4.A), returned by ``asymptotic``.

    Attributes
    ----------
    time, w1, w_perp, lam, unfitted : ndarray; as in ``Online``
    """

    time: FloatArray
    w1: FloatArray
    w_perp: FloatArray
    lam: FloatArray
    unfitted: FloatArray


def constants(chi: float) -> Constants:
    """All constants of SI 4.A and SI 6.A.

    Parameters
    ----------
    chi : float
        Exponent of the data density at the boundary, above -1.

    Examples
    --------
    >>> c = constants(1.0)
    >>> c.gamma, c.b, round(c.k_perp, 4)
    (0.5, 2.0, 0.3133)
    """
    check_chi(chi)
    root_pi = math.sqrt(math.pi)
    c1 = (1 + chi) / (math.sqrt(2 * math.pi) * (2 + chi))
    c_n = _gamma_ratio(1 + chi / 2, (3 + chi) / 2) / (2 * root_pi)
    k_perp = c_n * math.sqrt(math.pi / 2)
    return Constants(
        c1=c1,
        c2=1 / math.sqrt(2 * math.pi),
        c_n=c_n,
        c11=(1 + chi) * _gamma_ratio(2 + chi / 2, (3 + chi) / 2) / (root_pi * (3 + chi)),
        c12=-(1 + chi) * c_n,
        c22=(2 + chi) * c_n,
        k1=k_perp * ((3 + chi) * c1 / k_perp) ** (1 / (3 + chi)),
        k_perp=k_perp,
        gamma=1 / (1 + chi),
        b=1 + 2 / (1 + chi),
    )


def mean_abs_x1(chi: float) -> float:
    """``E|x1| = sqrt(2) G(1+chi/2)/G((1+chi)/2)`` over ``rho ~ |x1|^chi exp(-x1^2/2)``.

    Parameters
    ----------
    chi : float, above -1

    Examples
    --------
    >>> round(mean_abs_x1(0.0), 6)  # sqrt(2/pi), of a Gaussian
    0.797885
    """
    check_chi(chi)
    return (1 + chi) * _gamma_ratio(1 + chi / 2, (3 + chi) / 2) / math.sqrt(2)


def asymptotic(time: npt.ArrayLike, *, chi: float, dim: int, temperature: float) -> Asymptotic:
    """The high-temperature solution at large times (SI 4.A).

    ``w_perp = k_perp T sqrt(d)``, ``lam = (k1/k_perp) (t/(T d))^(1/(3+chi))``, ``w1 = lam w_perp``,
    ``unfitted = c_n lam^(-chi-1)``. Holds for ``t >> T d`` and ``T >> margin``; at smaller times
    ``unfitted`` may exceed 1, which means that the law does not hold there.

    Parameters
    ----------
    time : array_like; ``lr x steps``, above 0
    chi, dim
        As in ``online``.
    temperature : float; ``T = lr/batch``, above 0

    Examples
    --------
    >>> late = asymptotic([1e4, 1.6e5], chi=1.0, dim=10, temperature=1.0)
    >>> float((late.w1[1] / late.w1[0]).round(6))  # (t2/t1)^(1/(3+chi))
    2.0
    """
    c = constants(chi)
    check_dim(dim)
    check_positive(temperature=temperature)
    t = numbers("time", time)
    if not np.all(t > 0):
        raise InputError(f"time = {one_line(time)}: must be positive")
    lam = (c.k1 / c.k_perp) * (t / (temperature * dim)) ** (1 / (3 + chi))
    w_perp = np.full_like(lam, c.k_perp * temperature * math.sqrt(dim))
    return Asymptotic(t, lam * w_perp, w_perp, lam, c.c_n * lam ** (-chi - 1))


# Gamma functions and powers of x1 that do not stand in ratios overflow soon above this.
CHI_MAX = 100


def check_chi(chi: float, most: float = 1e300) -> None:
    """The density ``|x1|^chi`` can be normalised only for ``chi > -1``."""
    require("chi", chi, lambda v: -1 < v <= most, f"a number above -1, up to {most:g}")


def check_dim(dim: int) -> None:
    """There must be a direction besides the teacher's."""
    require("dim", dim, lambda v: 2 <= v <= LARGEST, f"a number of at least 2, up to {LARGEST:g}")


def check_positive(**values: float) -> None:
    """Each value must be > 0, and neither so small nor so large that its powers are no floats."""
    wanted = f"finite and > 0, from {SMALLEST:g} to {LARGEST:g}"
    for name, value in values.items():
        require(name, value, lambda v: SMALLEST <= v <= LARGEST, wanted)


def check_not_negative(**values: float) -> None:
    """Each value must be 0, or as `check_positive` has it."""
    for name, value in values.items():
        require(name, value, lambda v: 0 <= v < math.inf, "finite and >= 0")
        if value:
            check_positive(**{name: value})


def numbers(name: str, given: npt.ArrayLike) -> FloatArray:
    """``given`` as an array of numbers."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} = {one_line(given)}: must be a number or an array") from None


def _gamma_ratio(a: float, b: float) -> float:
    return math.exp(math.lgamma(a) - math.lgamma(b))
