"""The sphere task: its labels and its distribution."""

import math

import numpy as np
import pytest
from scipy import stats

from sgdphase import InputError, Sphere


@pytest.mark.parametrize("dim", [2, 8, 128])
def test_labels_are_those_outside_of_the_sphere(dim: int) -> None:
    data = Sphere(dim=dim).train_set(20_000, seed=0)
    squares = (data.x**2).sum(axis=1)
    assert np.array_equal(data.y, np.sign(squares - (dim - 2 + math.sqrt(2))))
    assert stats.kstest(squares, stats.chi2(dim).cdf).pvalue > 1e-3
    # About half of the points: within 0.05 of it in any dimension from 2 on.
    assert abs(stats.chi2(dim).sf(dim - 2 + math.sqrt(2)) - 0.5) < 0.05
    assert Sphere(dim=dim).radius ** 2 == pytest.approx(dim - 2 + math.sqrt(2))


def test_sets_are_nested_and_independent() -> None:
    task = Sphere(dim=4)
    assert np.array_equal(task.train_set(20, seed=1).x, task.train_set(50, seed=1).x[:20])
    assert not np.isin(task.test_set(50, seed=1).x, task.train_set(50, seed=1).x).any()


def test_bad_values_are_named() -> None:
    with pytest.raises(InputError, match="dim = 1: must be an integer of at least 2"):
        Sphere(dim=1)
