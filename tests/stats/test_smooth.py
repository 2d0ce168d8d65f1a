"""Smooth curves: exact where they must be, and intervals that cover."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sgdphase.stats._smooth import Points, pure_deviation, smooth_curves


def test_a_parabola_is_reproduced_exactly():
    x = np.log(2.0) * np.arange(8)
    [curve] = smooth_curves([Points(x, 3 + (x - 2.2) ** 2, np.ones(8))])
    np.testing.assert_allclose(curve.y, 3 + (curve.x - 2.2) ** 2, atol=1e-9)
    place, many = curve.minimum()
    assert abs(place - 2.2) < 1e-6
    assert np.ptp(many) < 1e-3


def test_three_points_have_a_curve_and_no_noise_of_their_own():
    [curve] = smooth_curves([Points(np.arange(3.0), np.array([2.0, 1.0, 2.0]), np.ones(3))])
    assert abs(curve.minimum()[0] - 1) < 1e-9
    assert np.isnan(curve.replicates).all()


def test_a_cliff_far_above_the_valley_does_not_move_it():
    x = np.arange(9.0) * math.log(2)
    y = 1 + 0.01 * (x - 2) ** 2
    cliff = np.where(x > 4.5, 7.0, y)
    (plain,), (steep,) = (smooth_curves([Points(x, each, np.ones(9))]) for each in (y, cliff))
    assert abs(steep.minimum()[0] - plain.minimum()[0]) < 0.02


def test_a_plateau_of_failed_runs_is_left_out():
    y = np.array([0.62, 0.55, 0.5, 0.56, 100, 100, 100, 100, 100])
    [curve] = smooth_curves([Points(np.arange(9.0), y, np.ones(9))])
    assert 1.5 < curve.minimum()[0] < 2.5
    assert 0.45 < curve.y.min() < 0.51


@pytest.mark.parametrize(("noise", "seeds"), [(0.003, 1), (0.006, 3)])
def test_intervals_of_the_minimum_cover(noise: float, seeds: int):
    """320 valleys, steeper on the right.

    Coverage depends on the shape, from 85 % on; three deviations (1.9 %) below that are too few.
    """
    rng = np.random.default_rng(5)
    hits = []
    for _ in range(40):
        points, runs_of, true = [], [], []
        for j in range(8):
            x = np.arange(-3, 2.6, 0.5) * math.log(2) + rng.uniform(-0.2, 0.2)
            at = -0.5 + 0.1 * j
            depth = 0.03 * (np.exp(0.9 * (x - at)) - 0.9 * (x - at) - 1)
            scale = noise * (1 + depth / 0.05)[:, None]
            runs = 2.4 + depth[:, None] + scale * rng.standard_normal((x.size, seeds))
            points.append(Points(x, runs.mean(axis=1), np.full(x.size, float(seeds))))
            runs_of.append(list(runs))
            true.append(at)
        for curve, at in zip(smooth_curves(points, pure_deviation(runs_of)), true, strict=True):
            low, high = np.quantile(curve.minimum()[1], [0.05, 0.95])
            hits.append(low <= at <= high)
    assert 0.79 <= np.mean(hits) <= 0.99


def test_places_per_replicate():
    x = np.linspace(0, 1, 5)
    [curve] = smooth_curves([Points(x, x, np.ones(5))])
    places = np.linspace(0, 1, len(curve.replicates))
    np.testing.assert_allclose(curve.at(places)[1], places, atol=1e-6)
