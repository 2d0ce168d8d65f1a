"""Fluctuations around the online solution at large dimension (SI 4.B).

Linearising Eq. 3 around its deterministic solution, ``z = (w1, w_perp) - deterministic`` is a
time-dependent Ornstein-Uhlenbeck process

    dz = A z dt + sqrt(T/d) sqrt(Sigma) dW,      dC/dt = A C + C A^T + (T/d) Sigma,   C = <z z^T>,

with ``A`` the derivatives of the drift. Here ``A`` is exact and ``Sigma`` has its off-diagonal
term, where SI 4.B takes the leading order in ``lam`` of both and leaves the off-diagonals out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sgdphase._display import ShownFields
from sgdphase._typing import FloatArray
from sgdphase.theory._averages import averages
from sgdphase.theory._constants import check_positive, constants
from sgdphase.theory._online import (
    Setting,
    check_times,
    decayed_time,
    integrate_log_time,
    log_start,
)


@dataclass(frozen=True, repr=False)
class Fluctuations(ShownFields):
    """Covariance of ``w1`` and ``w_perp`` in time, returned by ``fluctuations``.

    Attributes
    ----------
    time : ndarray; ``lr x steps``
    var_w1, var_w_perp, cov : ndarray; variances and covariance
    """

    time: FloatArray
    var_w1: FloatArray
    var_w_perp: FloatArray
    cov: FloatArray


@dataclass(frozen=True, repr=False)
class AsymptoticFluctuations(ShownFields):
    """Limits for ``lam -> inf``, ``r -> 0``, returned by ``asymptotic_fluctuations``.

    Attributes
    ----------
    var_w1, var_w_perp : float
        ``<z1^2>/T^2`` and ``<z_perp^2>/T^2``.
    var_w1_diagonal : float
        The paper's ``<z1^2>/T^2``, without the coupling of ``z1`` to ``z_perp``.
    """

    var_w1: float
    var_w_perp: float
    var_w1_diagonal: float


def asymptotic_fluctuations(chi: float) -> AsymptoticFluctuations:
    """Closed forms of SI 4.B, and ``<z1^2>`` with the coupling that it leaves out.

    ``<z_perp^2> = sqrt(pi/2) c22 k_perp T^2``. With a diagonal ``A`` and ``Sigma``,
    ``<z1^2> = c11 k_perp/(2 (chi+2) c1) T^2``. But ``z_perp`` relaxes fast and follows its noise,
    ``z_perp dt = dM_perp/|A22|``, so that ``z1`` is driven by ``dM_1 + (A12/|A22|) dM_perp`` with
    ``A12/|A22| = (1+chi)/lam``: the same order as ``dM_1``. Hence ``c11`` is to be replaced by
    ``c11 + 2 (1+chi) c12 + (1+chi)^2 c22``, which is ``c11 + chi (1+chi)^2 c_n``: the same at
    ``chi = 0``, more above, less below.

    Parameters
    ----------
    chi : float, above -1

    Examples
    --------
    >>> limit = asymptotic_fluctuations(0.0)
    >>> round(limit.var_w1, 6) == round(limit.var_w1_diagonal, 6)
    True
    """
    c = constants(chi)
    unit = c.k_perp / (2 * (chi + 2) * c.c1)
    coupled = c.c11 + 2 * (1 + chi) * c.c12 + (1 + chi) ** 2 * c.c22
    return AsymptoticFluctuations(
        var_w1=coupled * unit,
        var_w_perp=math.sqrt(math.pi / 2) * c.c22 * c.k_perp,
        var_w1_diagonal=c.c11 * unit,
    )


def fluctuations(
    times: npt.ArrayLike,
    *,
    chi: float,
    dim: int,
    margin: float,
    temperature: float,
    weight_decay: float = 0.0,
) -> Fluctuations:
    """Covariance of the weights about the online solution, to leading order in 1/d.

    While every point is unfitted, ``var_w1 = (T/d) Var|x1| phi``, ``var_w_perp = (T/d) phi/2`` and
    ``cov = 0``, with ``phi = (1 - e^(-2 Lambda t))/(2 Lambda)``, or ``t`` without decay.

    Parameters
    ----------
    times, chi, dim, margin, weight_decay
        As in ``online``.
    temperature : float; ``T = lr/batch``, above 0

    Examples
    --------
    >>> early = fluctuations(1e-4, chi=1.0, dim=100, margin=1.0, temperature=2.0)
    >>> round(float(early.var_w_perp), 9)  # (T/d) t/2
    1e-06
    """
    check_positive(temperature=temperature)
    setting = Setting(chi, dim, margin, temperature, weight_decay)
    t = check_times(times)
    from sgdphase.theory._compiled import log_lyapunov

    unique, inverse = np.unique(t, return_inverse=True)
    c = np.zeros((unique.size, 3))  # C11, C12, C22
    start = setting.untouched_until()
    unit = temperature / dim
    var_x = float(averages(0.0, math.inf, chi).sigma11)
    early = unique <= start
    for i in np.flatnonzero(early):
        phi = decayed_time(unique[i], 2 * weight_decay)
        c[i] = unit * var_x * phi, 0.0, unit * phi / 2
    if not np.all(early):
        # While untouched q = T phi, so that these are the values above in units of q/d. In this
        # unit the covariance is of order one at all times.
        first = [*log_start(start, setting), var_x, 0.0, 0.5]
        y = integrate_log_time(log_lyapunov, first, start, unique[~early], setting)
        c[~early] = y[:, 2:] * np.exp(y[:, 1:2]) / dim
    c = c[inverse.reshape(t.shape)]
    return Fluctuations(t, c[..., 0], c[..., 2], c[..., 1])
