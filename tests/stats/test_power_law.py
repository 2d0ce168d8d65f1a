"""Power laws on synthetic points with a known exponent."""

from __future__ import annotations

import numpy as np
import pytest

from sgdphase.errors import InputError
from sgdphase.stats import (
    effective_power_laws,
    power_law,
)


@pytest.mark.parametrize(("seeds", "level"), [(1, 0.9), (3, 0.9), (3, 0.95), (8, 0.95)])
def test_power_law_covers(covered, seeds, level):
    """500 draws of six points with 20 % common and 10 % own scatter."""
    tries, hits = 500, 0
    x = 2.0 ** np.arange(6)
    for k in range(tries):
        rng = np.random.default_rng(k)
        noise = 0.2 * rng.standard_normal((1, seeds)) + 0.1 * rng.standard_normal((6, seeds))
        law = power_law(x, 3 * x[:, None] ** 0.5 * np.exp(noise), level=level, replicates=500)
        hits += law.exponent.low <= 0.5 <= law.exponent.high
    covered(hits, tries, level)


def test_power_law_numbers():
    x = np.array([1.0, 3.0, 10.0, 20.0])
    law = power_law(x, 5 * x**-1.5)
    assert law.exponent.value == pytest.approx(-1.5) and law.prefactor.value == pytest.approx(5)
    np.testing.assert_allclose(law([2.0, 4.0]), 5 * np.array([2.0, 4.0]) ** -1.5)
    assert law.scatter < 1e-12 and (law.first, law.last) == pytest.approx((1, 20))
    bent = effective_power_laws(x[::-1], (x + 1)[::-1])
    exponents = [b.exponent.value for b in bent]
    assert exponents == sorted(exponents) and [b.first for b in bent] == pytest.approx(x[:-1])
    with pytest.raises(InputError, match="1 points with x > 0 and y > 0"):
        power_law([1.0, 2.0], [1.0, -1.0])
    with pytest.raises(InputError, match="must be"):
        power_law([1.0, 2.0], [1.0])


def test_a_misfit_is_told_from_noise():
    """One seed cannot tell them apart. Several do, with a false alarm in ten: 20 of 200 +- 4."""
    x, off = 2.0 ** np.arange(6), np.array([1, 1.5, 1, 1.5, 1, 1.5])[:, None]
    alarms = 0
    for trial in range(200):
        noise = np.random.default_rng(trial).standard_normal((6, 8))
        y = x[:, None] ** 0.5 * np.exp(0.1 * noise)
        alarms += power_law(x, y, replicates=200).exponent.misfit
        assert power_law(x, off * y, replicates=200).exponent.misfit
    assert 8 <= alarms <= 32
    assert power_law(x, off * y).exponent.mapped(lambda e: -e).misfit
    assert not power_law(x, (off * y)[:, 0]).exponent.misfit
