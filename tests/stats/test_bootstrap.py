"""Replicates over seeds: their distribution, gaps, and cells off a line."""

from __future__ import annotations

import numpy as np
import pytest

from sgdphase.stats import (
    linear_fit,
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
    design = np.stack([np.ones(8), x - x.mean()], axis=1)
    y = x[:, None] + 0.01 * rng.standard_normal((8, 5))
    bumpy = y + rng.standard_normal((8, 1))
    widths = []
    for data in (y, bumpy):
        copies = seed_replicates(data, rng, 1000)
        widths.append(linear_fit(design, data.mean(axis=1), copies, rng)[1][:, 1].std())
    assert widths[1] > 20 * widths[0]
