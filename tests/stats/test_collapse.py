"""Data collapse on synthetic curves with known exponents."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from sgdphase.errors import InputError
from sgdphase.stats import (
    Curve,
    collapse,
    effective_collapses,
)

SIZES = 2.0 ** np.arange(10, 15)


def curves(
    rng, gamma=0.5, alpha=0.0, seeds=5, common=0.15, cell=0.1, sizes=SIZES, points=12, shared=0.0
):
    """Scatter of each cell, common to a seed at one size, and shared by a seed at all sizes."""
    x = 2.0 ** np.arange(points)
    out = []
    factor = np.exp(shared * rng.standard_normal(seeds)) if shared else 1.0
    for size in sizes:
        y = size**alpha * ((size**gamma / x) ** 2 + 1) ** 0.5
        noise = common * rng.standard_normal((1, seeds))
        noise = noise + cell * rng.standard_normal((points, seeds))
        out.append(Curve(size, x, y[:, None] * np.exp(noise) * factor))
    return out


@pytest.mark.parametrize("gamma", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("alpha", [0.0, 0.25])
def test_collapse_finds_the_exponents_of_exact_curves(gamma, alpha):
    """The values alone: few copies will do."""
    made = curves(np.random.default_rng(0), gamma, alpha, cell=1e-6, common=0, points=14)
    fixed = collapse(made, y_exponent=alpha, copies=50)
    assert fixed.exponent.value == pytest.approx(gamma, abs=2e-3)
    both = collapse(made, y_exponent=None, copies=50)
    assert both.exponent.value == pytest.approx(gamma, abs=5e-3)
    assert both.y_exponent.value == pytest.approx(alpha, abs=5e-3)


@pytest.mark.parametrize(
    ("seeds", "level", "common", "gamma"), [(3, 0.9, 0.15, 0.5), (5, 0.95, 0.0, 0.3)]
)
def test_collapse_covers(covered, seeds, level, common, gamma):
    """40 draws here; docs/diagram.md has the rates over 400."""
    tries, hits, quality = 40, 0, []
    for k in range(tries):
        made = curves(np.random.default_rng(k), gamma, seeds=seeds, common=common)
        best = collapse(made, between=(-0.2, 1.2), level=level, copies=200)
        hits += best.exponent.low <= gamma <= best.exponent.high
        quality.append(best.chi2)
    covered(hits, tries, level)
    assert 0.8 < np.mean(quality) < 1.3


@pytest.mark.parametrize("seeds", [3, 5])
def test_collapse_of_the_same_seeds_covers(covered, seeds):
    """40 draws, in which a seed has a factor of about e at all sizes."""
    tries, hits, quality = 40, 0, []
    for k in range(tries):
        made = curves(np.random.default_rng(k), 0.5, seeds=seeds, common=0.05, shared=1.0)
        best = collapse(made, between=(-0.2, 1.2), same_seeds=True, copies=200)
        hits += best.exponent.low <= 0.5 <= best.exponent.high
        quality.append(best.chi2)
    covered(hits, tries, 0.9)
    assert 0.8 < np.mean(quality) < 1.3


def test_a_factor_of_the_same_seeds_does_not_matter():
    """Neither for the exponent nor for its interval, where it blurs that of independent seeds."""
    made = curves(np.random.default_rng(0), seeds=3)
    factors = [Curve(c.size, c.x, np.asarray(c.y) * [0.2, 1.0, 7.0]) for c in made]
    plain, scaled = collapse(made, same_seeds=True), collapse(factors, same_seeds=True)
    assert astuple(scaled.exponent) == pytest.approx(astuple(plain.exponent), rel=1e-6)
    assert scaled.chi2 == pytest.approx(plain.chi2, rel=1e-6)
    apart = collapse(factors)
    assert apart.exponent.high - apart.exponent.low > 3 * (
        scaled.exponent.high - scaled.exponent.low
    )
    one, two = curves(np.random.default_rng(0), sizes=SIZES[:2])
    with pytest.raises(InputError, match="different numbers of seeds"):
        collapse([one, Curve(two.size, two.x, np.asarray(two.y)[:, :3])], same_seeds=True)


def test_quality_tells_curves_of_different_shape():
    made = curves(np.random.default_rng(0), common=0, cell=0.05)
    good = collapse(made)
    twisted = [Curve(c.size, c.x, np.asarray(c.y) ** (1 + 0.2 * i)) for i, c in enumerate(made)]
    assert good.chi2 < 2 < 20 < collapse(twisted).chi2


def test_effective_exponent_drifts():
    """`B* = P^0.5 + 40`, whose exponent grows towards 0.5."""
    x = 2.0 ** np.arange(12)
    rng = np.random.default_rng(0)
    made = [
        Curve(p, x, ((p**0.5 + 40) / x + 1)[:, None] * np.exp(0.01 * rng.standard_normal((12, 4))))
        for p in SIZES
    ]
    drift = effective_collapses(made)
    assert [c.sizes for c in drift] == [(a, 2 * a) for a in SIZES[:-1]]
    local = [np.log2((2 * a) ** 0.5 + 40) - np.log2(a**0.5 + 40) for a in SIZES[:-1]]
    np.testing.assert_allclose([c.exponent.value for c in drift], local, atol=0.04)
    assert len(effective_collapses(made, window=3)) == 3


def test_bad_collapses():
    made = curves(np.random.default_rng(0))
    with pytest.raises(InputError, match="needs 2 or more"):
        collapse(made[:1])
    with pytest.raises(InputError, match=r"at the end; widen the range|do not overlap"):
        collapse(made, between=(0.9, 1.5))
    with pytest.raises(InputError, match="window = 9"):
        effective_collapses(made, window=9)
    with pytest.raises(InputError, match="3 or more points"):
        collapse([made[0], Curve(5.0, [1, 2], [1, 2])])


def test_one_seed_collapses_without_an_error():
    made = [Curve(c.size, c.x, np.asarray(c.y)[:, 0]) for c in curves(np.random.default_rng(0))]
    best = collapse(made)
    assert best.exponent.value == pytest.approx(0.5, abs=0.2) and np.isnan(best.exponent.low)
