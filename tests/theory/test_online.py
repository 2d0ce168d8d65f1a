"""The deterministic online dynamics against a slow integration, closed forms and exponents."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf, gammainc

from sgdphase.theory import asymptotic, averages, constants, mean_abs_x1, online


def slow_online(times, chi, dim, margin, temperature, decay, steps_per_decade=200):
    """RK4 in ln t for (w1, q); averages by a fixed Gauss-Legendre sum, for an integer chi."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    x = 5.0 * (nodes + 1)
    norm = 2 ** ((1 + chi) / 2) * math.gamma((1 + chi) / 2)
    density = weights * 5.0 * x**chi * np.exp(-x * x / 2) / norm

    def slope(log_t, w1, q):
        w_perp = math.sqrt(q)
        a = (margin * math.sqrt(dim) - w1 * x) / w_perp
        bracket = density * (1 + erf(a / math.sqrt(2)))
        g_perp = -math.sqrt(2 / math.pi) * np.sum(density * np.exp(-a * a / 2))
        dw1 = np.sum(bracket * x) / math.sqrt(dim) - decay * w1
        pull = 2 * w_perp * g_perp / math.sqrt(dim)
        dq = pull + temperature * np.sum(bracket) - 2 * decay * q
        return np.array([dw1, dq]) * math.exp(log_t)

    log_t = math.log(1e-7)
    y = np.array([1e-7 * mean_abs_x1(chi) / math.sqrt(dim), 1e-7 * temperature])
    out = []
    for stop in np.log(times):
        count = math.ceil((stop - log_t) * steps_per_decade / math.log(10))
        h = (stop - log_t) / count
        for _ in range(count):
            k1 = slope(log_t, *y)
            k2 = slope(log_t + h / 2, *(y + h / 2 * k1))
            k3 = slope(log_t + h / 2, *(y + h / 2 * k2))
            k4 = slope(log_t + h, *(y + h * k3))
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            log_t += h
        out.append(y)
    return np.array(out)


@pytest.mark.parametrize(
    ("chi", "temperature", "decay"), [(1.0, 2.0, 0.0), (0.0, 0.5, 0.0), (2.0, 1.0, 1e-3)]
)
def test_against_slow_integration(chi: float, temperature: float, decay: float) -> None:
    times = np.array([1e-3, 0.1, 1.0, 10.0, 1e3])
    o = online(times, chi=chi, dim=100, margin=0.1, temperature=temperature, weight_decay=decay)
    slow = slow_online(times, chi, 100, 0.1, temperature, decay)
    # 1e-8 is what online promises; half the steps change the slow version by 5e-10
    np.testing.assert_allclose(o.w1, slow[:, 0], rtol=1e-8)
    np.testing.assert_allclose(o.w_perp, np.sqrt(slow[:, 1]), rtol=1e-8)


@pytest.mark.parametrize("chi", [-0.5, 0.0, 1.0, 3.0])
def test_power_laws_at_late_times(chi: float) -> None:
    c, dim, temperature = constants(chi), 64, 2.0
    t = np.array([1e18, 1.001e18]) * temperature * dim
    o = online(t, chi=chi, dim=dim, margin=1e-7, temperature=temperature)
    # corrections are of order lam^-2, and r = 1e-7/(2 k_perp)
    rtol = 10 * o.lam[0] ** -2 + 1e-6
    slope = np.diff(np.log(o.w1))[0] / np.diff(np.log(t))[0]
    assert slope == pytest.approx(1 / (3 + chi), abs=rtol)
    a = asymptotic(t, chi=chi, dim=dim, temperature=temperature)
    assert o.w_perp[0] == pytest.approx(c.k_perp * temperature * math.sqrt(dim), rel=rtol)
    np.testing.assert_allclose(o.w1, a.w1, rtol=rtol)
    np.testing.assert_allclose(o.unfitted, a.unfitted, rtol=(3 + chi) * rtol)


@pytest.mark.parametrize("chi", [0.0, 1.0])
def test_gradient_flow(chi: float) -> None:
    """At T = 0 only |x1| < margin sqrt(d)/w1 is unfitted: t = int dw/g1(w) can be done."""
    dim, margin = 50, 0.3
    t = np.array([1.0, 10.0, 300.0])
    o = online(t, chi=chi, dim=dim, margin=margin, temperature=0.0)
    assert np.all(o.w_perp == 0)
    wall = margin * math.sqrt(dim)

    def inverse_speed(w: float) -> float:
        speed = mean_abs_x1(chi) * gammainc(1 + chi / 2, (wall / w) ** 2 / 2) if w else None
        return math.sqrt(dim) / (speed or mean_abs_x1(chi))

    for time, w1 in zip(t, o.w1, strict=True):
        assert quad(inverse_speed, 0, w1, epsrel=1e-10)[0] == pytest.approx(time, rel=1e-8)
    np.testing.assert_allclose(o.unfitted, gammainc((1 + chi) / 2, (wall / o.w1) ** 2 / 2))
    cold = online(t, chi=chi, dim=dim, margin=margin, temperature=1e-14)
    np.testing.assert_allclose(cold.w1, o.w1, rtol=1e-6)


def test_weight_decay_stops_the_growth() -> None:
    kw = dict(chi=1.0, dim=128, margin=0.01, temperature=2.0, weight_decay=1e-4)
    o = online([1e6, 1e12], **kw)
    np.testing.assert_allclose(o.w1[0], o.w1[1], rtol=1e-8)
    a = averages(o.lam[1], o.r[1], 1.0)
    assert a.g1 / math.sqrt(128) == pytest.approx(1e-4 * o.w1[1], rel=1e-7)
    pull = -a.g_perp / math.sqrt(128) + 1e-4 * o.w_perp[1]
    assert 2.0 * a.unfitted / (2 * o.w_perp[1]) == pytest.approx(pull, rel=1e-7)


def test_start_and_order_of_times() -> None:
    kw = dict(chi=1.0, dim=100, margin=0.1, temperature=1.0)
    o = online([[3.0, 0.0], [1e-6, 3.0]], **kw)
    assert o.w1.shape == (2, 2)
    assert o.w1[0, 0] == o.w1[1, 1] == online(3.0, **kw).w1
    assert (o.w1[0, 1], o.w_perp[0, 1], o.lam[0, 1], o.r[0, 1]) == (0, 0, 0, math.inf)
    assert o.unfitted[0, 1] == 1
    assert o.w1[1, 0] == pytest.approx(mean_abs_x1(1.0) * 1e-6 / 10, rel=1e-14)
    assert o.w_perp[1, 0] == pytest.approx(1e-3, rel=1e-14)


def test_dimension_scales_out() -> None:
    """w ~ sqrt(d), t ~ d is an exact symmetry of the deterministic equations."""
    kw = dict(chi=0.5, margin=0.1, temperature=1.0)
    t = np.logspace(-3, 6, 10)
    small, large = online(t * 16, dim=16, **kw), online(t * 1024, dim=1024, **kw)
    np.testing.assert_allclose(large.w1, 8 * small.w1, rtol=1e-8)
    np.testing.assert_allclose(large.w_perp, 8 * small.w_perp, rtol=1e-8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chi": -1.5}, "chi = -1.5"),
        ({"dim": 1}, "dim = 1"),
        ({"margin": 0.0}, "margin = 0.0"),
        ({"temperature": -1.0}, "temperature = -1.0"),
        ({"weight_decay": math.nan}, "weight_decay = nan"),
        ({"times": [1.0, -1.0]}, "times = "),
    ],
)
def test_bad_input(change: dict, message: str) -> None:
    kw = dict(times=[1.0], chi=1.0, dim=10, margin=0.1, temperature=1.0) | change
    with pytest.raises(ValueError, match=f"^{message}.*must be"):
        online(kw.pop("times"), **kw)
