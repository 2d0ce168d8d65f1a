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
