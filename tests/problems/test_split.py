"""Every seed splits all points anew."""

from __future__ import annotations

import numpy as np

from sgdphase.problems._split import permutation


def test_a_permutation_holds_every_point_once() -> None:
    # So first and last points are disjoint as long as the sizes add up to no more than all.
    assert np.array_equal(np.sort(permutation(1000, seed=7)), np.arange(1000))
    assert not np.array_equal(permutation(1000, seed=7), permutation(1000, seed=8))
