"""The curve that never falls, against scipy's."""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression

from sgdphase.stats._curve_end import _rising


def test_the_rising_curves_are_the_least_squares_ones():
    """With weights that differ as much as that of the user's training from the others'."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 7):
        y, weight = rng.standard_normal((50, n)), rng.uniform(0.1, 10, n)
        weight[0] *= 1e6
        expected = [isotonic_regression(row, weights=weight).x for row in y]
        np.testing.assert_allclose(_rising(y, weight), expected, rtol=1e-12)
