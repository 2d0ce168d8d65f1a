"""The teacher task: its distribution, its streams, its errors."""

import math

import numpy as np
import pytest
from scipy import special, stats

from sgdphase import InputError, TeacherTask


@pytest.mark.parametrize("chi", [-0.9, 0.0, 1.0, 3.5])
def test_x1_follows_its_density(chi: float) -> None:
    # P(|x1| < x) is a regularised gamma function; 20000 points notice a shift of 2 % of it.
    x1 = TeacherTask(dim=2, chi=chi).train_set(20_000, seed=3).x[:, 0]
    result = stats.kstest(np.abs(x1), lambda x: special.gammainc((1 + chi) / 2, x**2 / 2))
    assert result.pvalue > 1e-3
    assert abs(np.sign(x1).mean()) < 4 / math.sqrt(20_000)


def test_other_coordinates_are_standard_normal_and_independent_of_the_label() -> None:
    data = TeacherTask(dim=5, chi=1.0).train_set(20_000, seed=4)
    for column in data.x[:, 1:].T:
        assert stats.kstest(column, "norm").pvalue > 1e-3
        assert abs(np.mean(column * data.y)) < 4 / math.sqrt(20_000)


def test_labels_are_the_sign_of_x1() -> None:
    data = TeacherTask(dim=3, chi=0.0).train_set(1000, seed=0)
    assert np.array_equal(data.y, np.sign(data.x[:, 0]))
    assert set(data.y) == {-1.0, 1.0}


def test_same_seed_same_bits_other_seed_other_set() -> None:
    task = TeacherTask(dim=4, chi=1.0)
    assert np.array_equal(task.train_set(50, seed=1).x, task.train_set(50, seed=1).x)
    assert not np.array_equal(task.train_set(50, seed=1).x, task.train_set(50, seed=2).x)
    assert not np.array_equal(task.train_set(50, seed=1).x, task.test_set(50, seed=1).x)


def test_training_sets_of_one_seed_are_nested() -> None:
    task = TeacherTask(dim=4, chi=1.0)
    assert np.array_equal(task.train_set(20, seed=1).x, task.train_set(50, seed=1).x[:20])


def test_chi_near_minus_one_keeps_its_labels() -> None:
    data = TeacherTask(dim=2, chi=-0.999).train_set(1000, seed=0)
    assert set(data.y) == {-1.0, 1.0}
    assert np.isfinite(data.x).all()


def test_a_random_direction_only_turns_the_data() -> None:
    axis, turned = TeacherTask(dim=5, chi=1.0), TeacherTask(dim=5, chi=1.0, direction="random")
    for seed in range(6):
        u = turned.informative(seed)
        assert u @ u == pytest.approx(1)
        for use in ("train_set", "test_set"):
            before, after = getattr(axis, use)(200, seed), getattr(turned, use)(200, seed)
            assert np.array_equal(before.y, after.y)
            assert np.allclose(after.x @ u, before.x[:, 0])
            # Lengths and angles are kept.
            assert np.allclose(after.x @ after.x.T, before.x @ before.x.T)


def test_random_directions_are_uniform_on_the_sphere() -> None:
    task = TeacherTask(dim=3, direction="random")
    u = np.array([task.informative(seed) for seed in range(2000)])
    # In three dimensions each coordinate of a uniform direction is uniform.
    for coordinate in u.T:
        assert stats.kstest(coordinate, stats.uniform(-1, 2).cdf).pvalue > 1e-3
    assert np.array_equal(TeacherTask(dim=3).informative(4), [1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: TeacherTask(dim=1), "dim = 1: must be an integer of at least 2"),
        (lambda: TeacherTask(chi=-1.0), "chi = -1.0: must be a number above -1, up to 100"),
        (lambda: TeacherTask(chi=math.nan), "chi = nan: must be"),
        (lambda: TeacherTask(direction="up"), "direction = 'up': must be axis or random"),
        (lambda: TeacherTask().train_set(0, seed=0), "size = 0: must be an integer of at least 1"),
    ],
)
def test_bad_values_are_named(make, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        make()
