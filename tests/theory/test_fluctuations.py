"""The linear-noise covariance against derivatives, closed limits and symmetries."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sgdphase.theory import (
    asymptotic_fluctuations,
    averages,
    constants,
    fluctuations,
    mean_abs_x1,
    online,
)
from sgdphase.theory._compiled import drift_and_jacobian
from sgdphase.theory._online import Setting


def drift(w1: float, w_perp: float, s: Setting) -> np.ndarray:
    a = averages(w1 / w_perp, s.margin * math.sqrt(s.dim) / w_perp, s.chi)
    root_d = math.sqrt(s.dim)
    ito = s.temperature * a.unfitted / (2 * w_perp)
    return np.array(
        [a.g1 / root_d - s.weight_decay * w1, a.g_perp / root_d + ito - s.weight_decay * w_perp]
    )


@pytest.mark.parametrize("point", [(0.3, 1.0), (2.0, 1.0), (9.0, 0.4), (-0.2, 1.5), (1.0, 0.01)])
def test_jacobian_is_the_derivative_of_the_drift(point: tuple[float, float]) -> None:
    s = Setting(0.7, 50, 0.2, 1.3, 0.05)
    w1, w = point
    h = 1e-4 * w
    by_w1 = (drift(w1 + h, w, s) - drift(w1 - h, w, s)) / (2 * h)
    by_w = (drift(w1, w + h, s) - drift(w1, w - h, s)) / (2 * h)
    got = drift_and_jacobian(w1, w, s.compiled())
    np.testing.assert_allclose(got[:2], drift(w1, w, s), rtol=1e-12)
    # the difference quotient is good to (h/w)^2 r^2
    want = [by_w1[0], by_w[0], by_w1[1], by_w[1]]
    np.testing.assert_allclose(got[2:6], want, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("chi", [-0.5, 0.0, 0.5, 1.0, 3.0])
def test_limits(chi: float) -> None:
    """The Lyapunov equation ends at the coupled constants, not at the diagonal ones."""
    temperature, dim = 2.0, 64
    kw = dict(chi=chi, dim=dim, margin=1e-7, temperature=temperature)
    t = 1e15 * temperature * dim
    f, lam = fluctuations(t, **kw), float(online(t, **kw).lam)
    limit = asymptotic_fluctuations(chi)
    # corrections: lam^-2, and lam^(-1-chi) from the square of the mean gradient
    rtol = 10 * (lam**-2 + lam ** (-1 - chi)) + 1e-5
    assert f.var_w1 / temperature**2 == pytest.approx(limit.var_w1, rel=rtol)
    assert f.var_w_perp / temperature**2 == pytest.approx(limit.var_w_perp, rel=rtol)
    c = constants(chi)
    gain = 1 + chi * (1 + chi) ** 2 * c.c_n / c.c11
    assert limit.var_w1 / limit.var_w1_diagonal == pytest.approx(gain, rel=1e-12)
    if chi != 0:
        assert abs(f.var_w1 / temperature**2 / limit.var_w1_diagonal - 1) > 10 * rtol


def test_while_every_point_is_unfitted() -> None:
    chi, dim, temperature, decay = 1.0, 100, 2.0, 3.0
    t = np.array([0.0, 1e-7, 1e-6])
    kw = dict(chi=chi, dim=dim, margin=0.1, temperature=temperature)
    var_x = 1 + chi - mean_abs_x1(chi) ** 2
    f = fluctuations(t, **kw)
    np.testing.assert_allclose(f.var_w1, temperature / dim * var_x * t, rtol=1e-12)
    np.testing.assert_allclose(f.var_w_perp, temperature / dim * t / 2, rtol=1e-12)
    np.testing.assert_array_equal(f.cov, 0)
    # continuous through the hand-over to the integrated equation
    edge = Setting(chi, dim, 0.1, temperature, decay).untouched_until()
    around = fluctuations([edge * (1 - 1e-6), edge * (1 + 1e-6)], weight_decay=decay, **kw)
    np.testing.assert_allclose(around.var_w1[0], around.var_w1[1], rtol=1e-5)
    np.testing.assert_allclose(around.var_w_perp[0], around.var_w_perp[1], rtol=1e-5)


def test_fall_as_the_inverse_root_of_the_dimension() -> None:
    kw = dict(chi=1.0, margin=0.1, temperature=1.0)
    t = np.logspace(-2, 5, 8)
    relative = []
    for dim in (16, 1024):
        f, o = fluctuations(t * dim, dim=dim, **kw), online(t * dim, dim=dim, **kw)
        relative.append([np.sqrt(f.var_w1) / o.w1, np.sqrt(f.var_w_perp) / o.w_perp])
    np.testing.assert_allclose(np.array(relative[0]) / np.array(relative[1]), 8.0, rtol=1e-6)


def test_relative_fluctuation_of_w1_falls_as_lam() -> None:
    """Exponent -1/(3+chi) in time (SI 4.B prints -1/(1+chi))."""
    chi, dim = 1.0, 64
    t = np.array([1e14, 1e16])
    kw = dict(chi=chi, dim=dim, margin=1e-7, temperature=1.0)
    relative = np.sqrt(fluctuations(t, **kw).var_w1) / online(t, **kw).w1
    exponent = math.log(relative[1] / relative[0]) / math.log(100)
    assert exponent == pytest.approx(-1 / (3 + chi), abs=1e-4)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="temperature = 0"):
        fluctuations([1.0], chi=1.0, dim=10, margin=0.1, temperature=0)
