"""Every constant against the integral that it is the limit of."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sgdphase.theory import asymptotic, averages, constants

CHIS = [-0.9, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0]
# so large that corrections, of relative order lam^-2 and lam^(-1-chi), are below 1e-3 even at
# chi = -0.9, and at rounding for chi >= -0.5
LAM = 1e40


@pytest.mark.parametrize("chi", CHIS)
def test_limits_of_the_averages(chi: float) -> None:
    c, a = constants(chi), averages(LAM, 0.0, chi)
    rtol = 1e-11 + 10 * LAM ** (-1 - chi)
    assert LAM ** (chi + 2) * a.g1 == pytest.approx(c.c1, rel=1e-11)
    assert -(LAM ** (chi + 1)) * a.g_perp == pytest.approx(c.c2, rel=1e-11)
    assert LAM ** (chi + 1) * a.unfitted == pytest.approx(c.c_n, rel=1e-11)
    assert LAM ** (chi + 3) * a.sigma11 == pytest.approx(c.c11, rel=rtol)
    assert LAM ** (chi + 2) * a.sigma12 == pytest.approx(c.c12, rel=rtol)
    assert LAM ** (chi + 1) * a.sigma22 == pytest.approx(c.c22, rel=rtol)


@pytest.mark.parametrize("chi", CHIS)
def test_forms_of_the_paper(chi: float) -> None:
    """The printed expressions, with Gamma(1+chi/2) put back into c22."""
    c, g, pi = constants(chi), math.gamma, math.sqrt(math.pi)
    assert c.c_n == pytest.approx(g(1 + chi / 2) / (2 * pi * g((3 + chi) / 2)), rel=1e-13)
    c11 = 2 * g(2 + chi / 2) / (pi * (3 + chi) * g((1 + chi) / 2))
    assert c.c11 == pytest.approx(c11, rel=1e-12)
    assert c.c12 == pytest.approx(-g(1 + chi / 2) / (pi * g((1 + chi) / 2)), rel=1e-12)
    printed = (2 + chi) / (2 * pi * g((3 + chi) / 2))
    assert c.c22 == pytest.approx(printed * g(1 + chi / 2), rel=1e-12)
    assert c.b == pytest.approx(1 + 2 * c.gamma)


@pytest.mark.parametrize("chi", CHIS)
def test_power_law_solves_the_asymptotic_equations(chi: float) -> None:
    """dw1/dt = c1 lam^(-chi-2)/sqrt(d), and the two forces on w_perp cancel (Eq. 7)."""
    dim, temperature, c = 100, 3.0, constants(chi)
    t = np.array([1e4, 1e4 * (1 + 1e-6)])
    s = asymptotic(t, chi=chi, dim=dim, temperature=temperature)
    slope = np.diff(s.w1)[0] / np.diff(t)[0]
    lam = s.lam.mean()
    assert slope == pytest.approx(c.c1 * lam ** (-chi - 2) / math.sqrt(dim), rel=1e-5)
    push = temperature * c.c_n / (2 * s.w_perp[0])
    assert push == pytest.approx(c.c2 / math.sqrt(dim), rel=1e-12)
    np.testing.assert_allclose(s.w1 / s.w_perp, s.lam, rtol=1e-14)
    np.testing.assert_allclose(s.unfitted, c.c_n * s.lam ** (-1 - chi), rtol=1e-14)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="chi = -1: must be"):
        constants(-1)
    with pytest.raises(ValueError, match="time = 0: must be"):
        asymptotic(0, chi=1.0, dim=10, temperature=1.0)
    with pytest.raises(ValueError, match="temperature = 0: must be"):
        asymptotic(1, chi=1.0, dim=10, temperature=0)
