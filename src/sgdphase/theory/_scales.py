"""Scales of the phase diagram, with the prefactors that the theory gives (SI 5, main text 1.B, 2).

Nothing is fitted: each scale turns an order-of-magnitude comparison of the paper into an equality,
and evaluates it on the asymptotic solution. Expect measured boundaries to differ by factors of
order one; the dependence on ``train_size``, ``dim``, ``margin`` and ``chi`` is the prediction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sgdphase._display import ShownFields
from sgdphase.errors import InputError
from sgdphase.theory._constants import (
    CHI_MAX,
    check_chi,
    check_dim,
    check_positive,
    constants,
    mean_abs_x1,
)


@dataclass(frozen=True, repr=False)
class Scales(ShownFields):
    """Scales of the phase diagram, returned by ``scales``; formulas there.

    Attributes
    ----------
    critical_batch : float; ``B*``, in points
    critical_temperature : float
        ``T_c``, in units of ``lr/batch``.
    crossover_time : float
        ``lr x steps`` at which the training set departs from the distribution, ``t_hat``.
    w1, w_perp, lam, unfitted : float
        Weights, their ratio and the unfitted fraction at the crossover. Without ``lr`` and
        ``batch``, the weights and the time are per unit of temperature.
    first_step_lr : float
        Learning rate at which the first step brings the hardest point to the margin.
    one_step_batch : float
        Batch from which one large step fits all points.
    critical_decay : float
        Weight decay above which the crossover is not reached, per unit of time.
    """

    critical_batch: float
    critical_temperature: float
    crossover_time: float
    w1: float
    w_perp: float
    lam: float
    unfitted: float
    first_step_lr: float
    one_step_batch: float
    critical_decay: float


@dataclass(frozen=True, repr=False)
class FirstStep(ShownFields):
    """Weights after the first step of SGD from 0, returned by ``first_step``.

    Attributes
    ----------
    w1, w_perp : float
        Mean along the teacher, and rms length of the rest.
    """

    w1: float
    w_perp: float


def scales(
    *,
    train_size: float,
    dim: int,
    chi: float,
    margin: float,
    lr: float | None = None,
    batch: float | None = None,
) -> Scales:
    """Where the regimes meet: critical batch, critical temperature, crossover time and others.

    At the crossover (SI 5) the population gradient equals its finite-sample noise,
    ``|g| = |xi|/sqrt(P)``, which on the asymptotic solution reads ``n = 2 pi c_n^2 d/P``:

    - ``unfitted = 2 pi c_n^2 d/P``, ``lam = (c_n/unfitted)^(1/(1+chi))``
    - ``w_perp = k_perp T sqrt(d)``, ``w1 = lam w_perp``
    - ``crossover_time = T d k_perp lam^(3+chi)/((3+chi) c1)``

    with ``T = lr/batch``, or per unit temperature (``T = 1``) when ``lr`` and ``batch`` are left
    out; all three are proportional to T. From them:

    - ``critical_batch = (sqrt(d)/E|x1|) w1/T``: the first step ``lr E|x1|/sqrt(d)`` equals ``w1``
    - ``critical_decay = c1 lam^(-chi-3)/(k_perp T d)``: the stationary ``w1`` under weight decay
      equals ``w1`` (SI 2.B); it is ``1/((3+chi) crossover_time)``

    Without the crossover:

    - ``critical_temperature = margin/k_perp``: ``r = margin sqrt(d)/w_perp = 1`` (main text 1.B)
    - ``first_step_lr = margin d/(E|x1| x_min)``: the first step brings the hardest point to the
      margin; ``x_min = (2^((1+chi)/2) G((3+chi)/2)/P)^(1/(1+chi))`` is where ``P Prob(|x1|<x) = 1``
      with the density's small-x form (main text 2.A i)
    - ``one_step_batch = (d-1) (c_n P)^(2/(1+chi))/E|x1|^2``: after one step far above that line
      ``lam = E|x1| sqrt(batch/(d-1))`` leaves ``n = c_n lam^(-chi-1) = 1/P`` (main text 2.A ii);
      reachable only if it is below ``train_size``

    ``critical_batch``, ``one_step_batch`` and the crossover assume ``lam >> 1``; check this with
    the returned ``lam`` and ``unfitted``. For ``train_size`` not far above ``dim`` they are
    ``lam <~ 1``, ``unfitted ~ 1``: there is then no online power-law stage, and the numbers are
    only extrapolations of the formulas. For ``chi`` near -1 the exponents ``1/(1+chi)`` are large:
    a scale that no float can hold is ``inf``, or 0.

    Parameters
    ----------
    train_size : float
        Number ``P`` of training points, above 0.
    dim, chi, margin
        As in ``online``; ``chi`` up to 100.
    lr, batch : float, default None
        Learning rate and batch, above 0; both or neither (``T = 1``).

    Examples
    --------
    >>> s = scales(train_size=8192, dim=128, chi=1.0, margin=2**-7)
    >>> round(s.critical_batch, 1), round(s.critical_temperature, 4)
    (204.3, 0.0249)
    """
    check_chi(chi, CHI_MAX)
    c = constants(chi)
    check_positive(train_size=train_size, margin=margin)
    check_dim(dim)
    temperature = 1.0
    if lr is not None and batch is not None:
        check_positive(lr=lr, batch=batch)
        temperature = lr / batch
    elif lr is not None or batch is not None:
        given = f"lr = {lr}" if batch is None else f"batch = {batch}"
        raise InputError(f"{given}: lr and batch must be both given or neither")
    mean_x = mean_abs_x1(chi)
    root_d = math.sqrt(dim)

    unfitted = 2 * math.pi * c.c_n**2 * dim / train_size
    lam = _power(c.c_n / unfitted, c.gamma)
    w_perp = c.k_perp * temperature * root_d
    w1 = lam * w_perp
    crossover_time = temperature * dim * c.k_perp * _power(lam, 3 + chi) / ((3 + chi) * c.c1)
    x_min = _power(2 ** ((1 + chi) / 2) * math.gamma((3 + chi) / 2) / train_size, c.gamma)
    return Scales(
        critical_batch=root_d / mean_x * w1 / temperature,
        critical_temperature=margin / c.k_perp,
        crossover_time=crossover_time,
        w1=w1,
        w_perp=w_perp,
        lam=lam,
        unfitted=unfitted,
        first_step_lr=margin * dim / (mean_x * x_min) if mean_x * x_min > 0 else math.inf,
        one_step_batch=(dim - 1) * _power(c.c_n * train_size, 2 * c.gamma) / mean_x**2,
        critical_decay=c.c1 * _power(lam, -chi - 3) / (c.k_perp * temperature * dim),
    )


def _power(base: float, exponent: float) -> float:
    """`base^exponent`, infinite where no float is as large."""
    try:
        return float(base**exponent)
    except (OverflowError, ZeroDivisionError):
        return math.inf


def first_step(*, lr: float, batch: float, dim: int, chi: float) -> FirstStep:
    """Weights after one step of SGD from 0 (main text 2.A), exact at any ``batch``.

    ``w1`` has mean ``lr E|x1|/sqrt(d)``; ``w_perp`` is a Gaussian vector of rms norm
    ``lr sqrt((d-1)/(d batch))``.

    Parameters
    ----------
    lr, batch : float, above 0; learning rate and batch
    dim, chi
        As in ``online``.

    Examples
    --------
    >>> step = first_step(lr=1.0, batch=4, dim=2, chi=0.0)
    >>> round(step.w1, 4), round(step.w_perp, 4)
    (0.5642, 0.3536)
    """
    check_positive(lr=lr, batch=batch)
    check_dim(dim)
    w1 = lr * mean_abs_x1(chi) / math.sqrt(dim)
    return FirstStep(w1=w1, w_perp=lr * math.sqrt((dim - 1) / (dim * batch)))
