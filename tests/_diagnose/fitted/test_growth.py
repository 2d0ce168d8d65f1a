"""How `B*` grows with the data: exact laws, coverage, and how many sizes it takes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sgdphase._diagnose.fitted.answer import Size
from sgdphase._diagnose.fitted.growth import growth
from sgdphase.stats import Estimate

STAR = Estimate(64.0, 48.0, 80.0)


def test_growth_is_exact_for_a_law_without_noise() -> None:
    sizes = [Size(p, Estimate(b := 3 * p**0.4, b / 1.001, b * 1.001), 9) for p in (100, 1000)]
    found = growth(sizes, [10_000])
    assert found is not None
    assert found.exponent.value == pytest.approx(0.4)
    assert found.chi.value == pytest.approx(1.5)
    assert found.extrapolated[10_000].value == pytest.approx(3 * 10_000**0.4)


def test_growth_covers_as_often_as_it_says() -> None:
    # 200 draws of three sizes: 90 % cover means 180 +- 4.2; below 168 has probability 0.3 %.
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(200):
        sizes = []
        for p in (256, 1024, 4096):
            sigma = 0.15
            b = math.exp(0.5 * math.log(p) + sigma * rng.standard_normal())
            half = math.exp(1.645 * sigma)
            sizes.append(Size(p, Estimate(b, b / half, b * half), 9))
        found = growth(sizes, [40960])
        assert found is not None
        covered += (
            found.extrapolated[40960].low <= math.sqrt(40960) <= found.extrapolated[40960].high
        )
    assert covered >= 168


def test_growth_takes_two_sizes_with_intervals() -> None:
    assert growth([Size(64, STAR, 9)], [128]) is None
    assert growth([Size(64, STAR, 9), Size(128, None, 9)], [256]) is None
    open_ended = Estimate(64.0, math.nan, math.nan)
    assert growth([Size(64, STAR, 9), Size(128, open_ended, 9)], [256]) is None
