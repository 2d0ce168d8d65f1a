"""Averages of SI 6.A against 20-digit integrals, closed forms and a sample of the data."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import erf, gammainc

from sgdphase.theory import Averages, averages, constants, mean_abs_x1

FIELDS = ("g1", "g_perp", "unfitted", "sigma11", "sigma12", "sigma22")

# (lam, r): moderate points, both sides of the switch between rules (r = 12), extremes of the range
POINTS = [
    (0.0, 0.0),
    (0.0, 3.0),
    (0.0, 1e3),
    (1e-3, 0.5),
    (0.5, 0.1),
    (1.0, 1.0),
    (1.0, 12.5),
    (5.0, 11.9),
    (12.0, 12.1),
    (40.0, 0.0),
    (100.0, 50.0),
    (1e3, 1e3),
    (1e6, 0.0),
    (1e6, 1e3),
    (-0.3, 0.7),
    (-2.0, 0.1),
]
CHIS = [-0.99, -0.5, 0.0, 1.0, 10.0]


def exact(lam: float, r: float, chi: float) -> list[mp.mpf]:
    """The six averages by mpmath; its tolerance is absolute, so x is in units of the width."""
    unit = 1 / max(1.0, lam / (1 + r))
    end = (math.sqrt(chi + 2) + 12) / unit
    marks = [(r + s) / lam / unit for s in (-12, -4, 0, 4, 12, 24)] if lam > 0 else []
    cuts = sorted({0.0, 1 / unit, 4 / unit, end, *(m for m in marks if 0 < m < end)})
    norm = mp.mpf(2) ** ((1 + mp.mpf(chi)) / 2) * mp.gamma((1 + mp.mpf(chi)) / 2)

    def integral(f, k):
        def g(v):
            x = v * unit
            return v**k * mp.exp(-x * x / 2) * f(lam * x - r)

        power = 1 / (1 + mp.mpf(chi))  # v = y^power takes the singularity at 0 away
        if chi < 0:
            first = mp.quad(lambda y: g(y**power) * power, [0, mp.mpf(cuts[1]) ** (1 + chi)])
        else:
            first = mp.quad(lambda v: v**chi * g(v), cuts[:2])
        rest = mp.quad(lambda v: v**chi * g(v), cuts[1:])
        return (first + rest) * mp.mpf(unit) ** (1 + chi + k) / norm

    with mp.workdps(20):
        i0, i1, i2 = (integral(lambda a: mp.erfc(a / mp.sqrt(2)), k) for k in range(3))
        j0, j1 = (integral(lambda a: mp.exp(-a * a / 2), k) for k in range(2))
        d0 = integral(lambda a: a * mp.exp(-a * a / 2), 0)
        s = mp.sqrt(2 / mp.pi)
        return [i1, -s * j0, i0, i2 - i1**2, -s * (j1 - i1 * j0), i0 + s * d0 - (s * j0) ** 2]


@pytest.mark.parametrize(("index", "point"), list(enumerate(POINTS)))
def test_against_quadrature_of_high_precision(index: int, point: tuple[float, float]) -> None:
    # two chi per point, such that every chi meets moderate and extreme points
    for chi in (CHIS[index % 5], CHIS[(index + 2) % 5]):
        result = averages(*point, chi)
        for name, want in zip(FIELDS, exact(*point, chi), strict=True):
            error = abs(float(mp.mpf(float(getattr(result, name))) - want))
            # 1e-18 is the absolute error of the reference
            assert error <= 1e-11 * abs(want) + 1e-18, (name, point, chi)


@pytest.mark.parametrize("chi", [-0.99, 0.0, 1.0, 3.5, 10.0])
def test_closed_form_without_signal(chi: float) -> None:
    r = np.array([0.0, 0.3, 2.0, 7.0, 11.9, 12.1, 50.0, 1e3, 1e100, np.inf])
    cdf = (1 + erf(r / math.sqrt(2))) / 2
    with np.errstate(over="ignore"):
        pdf = np.exp(-r * r / 2) / math.sqrt(2 * math.pi)
    m1, m2 = mean_abs_x1(chi), 1 + chi
    a = averages(0.0, r, chi)
    np.testing.assert_allclose(a.unfitted, cdf, rtol=1e-12)
    np.testing.assert_allclose(a.g1, m1 * cdf, rtol=1e-12)
    np.testing.assert_allclose(a.g_perp, -pdf, rtol=1e-12)
    np.testing.assert_allclose(a.sigma11, m2 * cdf - (m1 * cdf) ** 2, rtol=1e-11)
    np.testing.assert_allclose(a.sigma12, -m1 * pdf * (1 - cdf), atol=1e-15)
    r_pdf = np.where(pdf > 0, np.where(np.isfinite(r), r, 0.0) * pdf, 0.0)
    np.testing.assert_allclose(a.sigma22, cdf - r_pdf - pdf**2, rtol=1e-12)


@pytest.mark.parametrize("chi", [-0.5, 0.0, 2.0])
def test_sharp_wall(chi: float) -> None:
    """w_perp -> 0 at fixed w1: exactly the points with |x1| below r/lam are unfitted."""
    wall = np.array([1e-3, 0.1, 1.0, 3.0, 8.0])
    a = averages(1e100, 1e100 * wall, chi)
    part = [gammainc((1 + chi + k) / 2, wall**2 / 2) for k in range(3)]
    np.testing.assert_allclose(a.unfitted, part[0], rtol=1e-12)
    np.testing.assert_allclose(a.g1, mean_abs_x1(chi) * part[1], rtol=1e-12)
    sigma11 = (1 + chi) * part[2] - (mean_abs_x1(chi) * part[1]) ** 2
    np.testing.assert_allclose(a.sigma11, sigma11, rtol=1e-11)
    np.testing.assert_allclose(a.g_perp, 0.0, atol=1e-90)


def test_far_beyond_the_range() -> None:
    c = constants(0.0)
    a = averages(1e100, 0.0, 0.0)
    assert float(a.unfitted) == pytest.approx(c.c_n * 1e-100, rel=1e-12)
    assert float(a.g1) == pytest.approx(c.c1 * 1e-200, rel=1e-12)
    for lam in (0.0, 1e-100, 1.0, 1e100):
        for r in (0.0, 1.0, 1e100, np.inf):
            values = [getattr(averages(lam, r, 1.0), f) for f in FIELDS]
            assert np.all(np.isfinite(values)), (lam, r)


def test_opposite_students_share_the_points() -> None:
    lam = np.logspace(-3, 3, 13)
    total = averages(lam, 0.0, 0.7).unfitted + averages(-lam, 0.0, 0.7).unfitted
    np.testing.assert_allclose(total, 1.0, rtol=1e-13)


@pytest.mark.parametrize(("lam", "r", "chi"), [(0.8, 0.5, 1.0), (3.0, 1.5, -0.3)])
def test_against_sampled_data(lam: float, r: float, chi: float) -> None:
    """Power: with 10^6 points, 4 sigma is at most 2.5% of each average."""
    rng = np.random.default_rng(7)
    size = 1_000_000
    x = np.sqrt(2 * rng.standard_gamma((1 + chi) / 2, size))  # |x1|
    z = rng.standard_normal(size)  # y x_perp . w_perp/|w_perp|
    out = (lam * x + z < r).astype(float)
    g1, g_perp = (out * x).mean(), (out * z).mean()
    samples = {
        "g1": out * x,
        "g_perp": out * z,
        "unfitted": out,
        "sigma11": (out * x - g1) ** 2,
        "sigma12": (out * x - g1) * (out * z - g_perp),
        "sigma22": (out * z - g_perp) ** 2,
    }
    a = averages(lam, r, chi)
    for name, sample in samples.items():
        error = sample.std() / math.sqrt(size)
        assert abs(sample.mean() - float(getattr(a, name))) < 4.5 * error, name
        assert 4 * error < 0.025 * abs(float(getattr(a, name))), name


def test_broadcasts() -> None:
    a = averages(np.ones((3, 1)), [0.0, 1.0], 1.0)
    assert isinstance(a, Averages)
    assert a.g1.shape == a.sigma22.shape == (3, 2)
    assert np.ndim(averages(1.0, 1.0, 1.0).g1) == 0


@pytest.mark.parametrize(
    ("lam", "r", "chi"),
    [
        (1.0, 1.0, -1.0),
        (1.0, 1.0, np.nan),
        (np.inf, 1.0, 0.0),
        (1.0, -1.0, 0.0),
        (1.0, np.nan, 0.0),
    ],
)
def test_bad_input(lam: float, r: float, chi: float) -> None:
    with pytest.raises(ValueError, match=r"^(chi|lam|r) = .*must be [^\n]*$"):
        averages(lam, r, chi)


def test_arrays_of_one_element_broadcast() -> None:
    assert averages(np.array([2.0]), 0.5, 1.0).g1.shape == (1,)
