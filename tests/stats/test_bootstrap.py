"""Replicates over seeds: their distribution, gaps, and cells off a line."""

from __future__ import annotations

import numpy as np
import pytest

from sgdphase.stats import (
    level_difference,
    line_fit,
    seed_means,
    seed_replicates,
)


@pytest.mark.parametrize("seeds", [2, 3, 8])
def test_replicates_of_a_mean_are_students(covered, seeds):
    """1000 draws at level 0.9, where drawing seeds with replacement covers 0.5 for 2 seeds."""
    tries, hits = 1000, 0
    for k in range(tries):
        rng = np.random.default_rng(k)
        copies = seed_replicates(rng.standard_normal((1, seeds)), rng, 400)[:, 0]
        low, high = np.quantile(copies, [0.05, 0.95])
        hits += low <= 0 <= high
    covered(hits, tries, 0.9)


def test_means_with_gaps_are_compared_within_seeds():
    rng = np.random.default_rng(0)
    y = rng.standard_normal((30, 1)) + 10 * rng.standard_normal(4)
    full = seed_means(y)
    y[rng.random(y.shape) < 0.3] = np.nan
    np.testing.assert_allclose(seed_means(y) - seed_means(y)[0], full - full[0], atol=1e-8)


def test_cells_off_the_line_widen_the_interval():
    rng = np.random.default_rng(0)
    x = np.arange(8.0)
    y = x[:, None] + 0.01 * rng.standard_normal((8, 5))
    bumpy = y + rng.standard_normal((8, 1))
    widths = []
    for data in (y, bumpy):
        copies = seed_replicates(data, rng, 1000)
        widths.append(line_fit(x, data.mean(axis=1), copies, rng)[1][:, 1].std())
    assert widths[1] > 20 * widths[0]
    # Without random numbers the scatter of the cells does not count.
    only_seeds = line_fit(x, bumpy.mean(axis=1), seed_replicates(bumpy, rng, 1000), None)[1]
    assert only_seeds[:, 1].std() == pytest.approx(widths[0], rel=0.2)


def test_a_line_is_that_of_polyfit():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal(9), rng.standard_normal((5, 9))
    (centre, slope), many = line_fit(x, y[0], y, None)
    assert [slope, centre] == pytest.approx(np.polyfit(x - x.mean(), y[0], 1))
    np.testing.assert_allclose(many[:, ::-1].T, np.polyfit(x - x.mean(), y.T, 1), atol=1e-12)


def test_a_difference_of_levels_is_taken_within_seeds():
    """A factor of each seed, far larger than the noise, leaves value and interval as they are."""
    rng = np.random.default_rng(2)
    upper, lower = 3 + 0.1 * rng.standard_normal((4, 5)), 0.1 * rng.standard_normal((6, 5))
    common = 100 * rng.standard_normal(5)
    (plain, one), (shifted, other) = (
        level_difference(upper + shift, lower + shift, np.random.default_rng(0), 500)
        for shift in (0.0, common)
    )
    assert plain == pytest.approx(upper.mean() - lower.mean())
    assert shifted == pytest.approx(plain) and other.std() == pytest.approx(one.std())
