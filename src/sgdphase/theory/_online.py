"""The deterministic online dynamics: Eq. 3 without its noise (main text 1.A, SI 6.B).

    dw1/dt     = g1/sqrt(d) - Lambda w1
    dw_perp/dt = g_perp/sqrt(d) + T n/(2 w_perp) - Lambda w_perp

from ``w = 0``, with the averages of SI 6.A. In ``q = w_perp^2`` the second one is regular at 0:
``dq/dt = 2 w_perp g_perp/sqrt(d) + T n - 2 Lambda q``.

While every point is unfitted (``g1 = E|x1|``, ``g_perp = 0``, ``n = 1``) the solution is

    w1 = (E|x1|/sqrt(d)) (1 - e^(-Lambda t))/Lambda,      q = T (1 - e^(-2 Lambda t))/(2 Lambda)

(``t E|x1|/sqrt(d)`` and ``T t`` without decay). It holds up to corrections below 1e-300 as long as
both weights are 1/80 of ``margin sqrt(d)``; from there on ``ln w1`` and ``ln q`` are integrated
over ``ln t``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sgdphase._display import ShownFields
from sgdphase._typing import FloatArray
from sgdphase.errors import LARGEST, SMALLEST, InputError, one_line
from sgdphase.theory._averages import quadrature
from sgdphase.theory._constants import (
    CHI_MAX,
    check_chi,
    check_dim,
    check_not_negative,
    check_positive,
    mean_abs_x1,
    numbers,
)

if TYPE_CHECKING:
    from sgdphase.theory._compiled import Model

# Both weights, in units of margin sqrt(d), up to which no point at all is fitted.
UNTOUCHED = 1 / 80
# Of the logarithms, per step; the solution is then good to better than 1e-8.
TOLERANCE = 2e-11
# With weight decay every deviation relaxes at a rate of at least about Lambda: after this many
# 1/Lambda the solution is stationary. Times are cut there, as larger ones make the solver stiff.
STATIONARY = 300.0


Drift = Callable[[FloatArray, float, "Model"], FloatArray]


@dataclass(frozen=True, repr=False)
class Online(ShownFields):
    """The solution at each time, in the order given; returned by ``online``.

    At ``time = 0``: ``w1 = w_perp = 0``, ``lam = 0`` (its limit), ``r = inf``, ``unfitted = 1``.
    At temperature 0: ``w_perp = 0``, ``lam = r = inf``.

    Attributes
    ----------
    time : ndarray; ``lr x steps``
    w1, w_perp : ndarray
        Weight along the teacher, and length of the rest.
    lam, r : ndarray
        ``w1/w_perp`` and ``margin sqrt(d)/w_perp``.
    unfitted : ndarray
        Fraction of the data distribution below the margin, from 0 to 1.
    """

    time: FloatArray
    w1: FloatArray
    w_perp: FloatArray
    lam: FloatArray
    r: FloatArray
    unfitted: FloatArray


@dataclass(frozen=True)
class Setting:
    """Data exponent, input dimension, hinge margin, temperature lr/batch and weight decay."""

    chi: float
    dim: int
    margin: float
    temperature: float
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        check_chi(self.chi, CHI_MAX)
        check_dim(self.dim)
        check_positive(margin=self.margin)
        check_not_negative(temperature=self.temperature, weight_decay=self.weight_decay)

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value:g}" for name, value in vars(self).items())

    def compiled(self) -> Model:
        """The form that the compiled functions take."""
        from sgdphase.theory._compiled import Model

        root_d = math.sqrt(self.dim)
        return Model(
            root_d,
            self.margin * root_d,
            float(self.temperature),
            float(self.weight_decay),
            quadrature(float(self.chi)),
        )

    def untouched(self, time: float) -> tuple[float, float]:
        """``(w1, q)`` while every point is unfitted."""
        w1 = mean_abs_x1(self.chi) / math.sqrt(self.dim) * decayed_time(time, self.weight_decay)
        return w1, self.temperature * decayed_time(time, 2 * self.weight_decay)

    def untouched_until(self) -> float:
        """A time up to which every point is unfitted."""
        limit = UNTOUCHED * self.margin * math.sqrt(self.dim)
        # both weights are below their values without decay
        until = limit * math.sqrt(self.dim) / mean_abs_x1(self.chi)
        if self.temperature > 0:
            return min(until, limit**2 / self.temperature)
        return until


def online(
    times: npt.ArrayLike,
    *,
    chi: float,
    dim: int,
    margin: float,
    temperature: float,
    weight_decay: float = 0.0,
) -> Online:
    """The solution of Eq. 3 without its noise, from ``w = 0``.

    The equation is the paper's: exact for ``d -> inf`` at fixed ``t/d``; at finite ``d`` it leaves
    out the noise and the factor (d-2)/d of the Ito term. Relative error below 1e-8.

    Parameters
    ----------
    times : array_like
        ``lr x steps``, 0 or from 1e-100 to 1e100, in any order.
    chi : float
        Exponent of the data density at the boundary, above -1.
    dim : int
        Dimension ``d`` of the inputs, at least 2.
    margin : float
        Margin of the hinge loss, above 0.
    temperature : float
        ``T = lr/batch``, at least 0; 0 is gradient flow.
    weight_decay : float, default 0
        ``Lambda``, at least 0, per unit of time.

    Examples
    --------
    >>> path = online([0.0, 1.0, 100.0], chi=1.0, dim=128, margin=0.01, temperature=0.5)
    >>> path.unfitted.round(3).tolist()
    [1.0, 0.524, 0.152]
    """
    setting = Setting(chi, dim, margin, temperature, weight_decay)
    t = check_times(times)
    from sgdphase.theory._compiled import unfitted_many

    unique, inverse = np.unique(t, return_inverse=True)
    w1, w_perp = (values[inverse.reshape(t.shape)] for values in solve(unique, setting))
    with np.errstate(divide="ignore", invalid="ignore"):
        lam = np.where(t > 0, w1 / w_perp, 0.0)
        r = np.where(t > 0, margin * math.sqrt(dim) / w_perp, math.inf)
    unfitted = unfitted_many(w1.ravel(), w_perp.ravel(), setting.compiled())
    unfitted = unfitted.reshape(t.shape)
    return Online(*(values[()] for values in (t, w1, w_perp, lam, r, unfitted)))


def solve(times: FloatArray, setting: Setting) -> tuple[FloatArray, FloatArray]:
    """``(w1, w_perp)`` at increasing ``times``."""
    from sgdphase.theory._compiled import log_drift

    start = setting.untouched_until()
    early = times <= start
    w1, q = np.empty_like(times), np.empty_like(times)
    for i in np.flatnonzero(early):
        w1[i], q[i] = setting.untouched(times[i])
    if not np.all(early):
        first = log_start(start, setting)
        logs = integrate_log_time(log_drift, first, start, times[~early], setting)
        w1[~early], q[~early] = np.exp(logs[:, 0]), np.exp(logs[:, 1])
    return w1, np.sqrt(q) if setting.temperature > 0 else np.zeros_like(q)


def log_start(time: float, setting: Setting) -> list[float]:
    """``[ln w1, ln q]`` at a time when every point is still unfitted."""
    from sgdphase.theory._compiled import LOG_Q_ZERO

    w1, q = setting.untouched(time)
    return [math.log(w1), math.log(q) if q > 0 else LOG_Q_ZERO]


def integrate_log_time(
    drift: Drift, first: list[float], start: float, times: FloatArray, setting: Setting
) -> FloatArray:
    """Integrate ``drift(y, ln t, model)`` from ``start`` to each of the later ``times``."""
    from scipy.integrate import ODEintWarning, odeint

    end = STATIONARY / setting.weight_decay if setting.weight_decay > 0 else math.inf
    grid = np.log(np.clip(np.concatenate([[start], times]), start, max(start, end)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ODEintWarning)
        try:
            y: FloatArray = odeint(
                drift,
                first,
                grid,
                args=(setting.compiled(),),
                rtol=TOLERANCE,
                atol=TOLERANCE,
                mxstep=100_000,
            )
        except ODEintWarning as warning:
            said = str(warning).partition(" Run with")[0].rstrip(".")
            raise InputError(f"{setting}: the solver gave up ({said})") from None
    if not np.all(np.isfinite(y)):
        raise InputError(f"{setting}: the solver reaches no finite solution")
    return y[1:]


def decayed_time(time: float, rate: float) -> float:
    """``(1 - e^(-rate time))/rate``, which is ``time`` at rate 0."""
    return -math.expm1(-rate * time) / rate if rate > 0 else time


def check_times(times: npt.ArrayLike) -> FloatArray:
    """``times`` as an array; they must be finite and not negative."""
    t = numbers("times", times)
    if not np.all((t == 0) | ((t >= SMALLEST) & (t <= LARGEST))):
        raise InputError(
            f"times = {one_line(times)}: must be 0, or from {SMALLEST:g} to {LARGEST:g}"
        )
    return t
