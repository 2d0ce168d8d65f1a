"""The stripe task: its labels, its distribution, and that no linear function has it."""

import numpy as np
import pytest
from scipy import stats

from sgdphase import InputError, Stripe


def test_labels_are_those_between_two_planes() -> None:
    data = Stripe(dim=3).train_set(20_000, seed=0)
    x1 = data.x[:, 0]
    assert np.array_equal(data.y == 1, (x1 > -0.3) & (x1 < 1.18549))
    assert set(data.y) == {-1.0, 1.0}
    # Half of the points lie between the planes.
    assert stats.norm.cdf(1.18549) - stats.norm.cdf(-0.3) == pytest.approx(0.5, abs=1e-5)
    for column in data.x.T:
        assert stats.kstest(column, "norm").pvalue > 1e-3


def test_no_linear_function_has_the_labels() -> None:
    """A half space errs at least beyond one of the planes, where 12 % of the points are."""
    data = Stripe(dim=3).train_set(20_000, seed=0)
    x = np.column_stack([data.x, np.ones(len(data))])
    fit = x @ np.linalg.lstsq(x, data.y, rcond=None)[0]
    assert np.mean(data.y * fit <= 0) > 0.1


def test_a_random_direction_only_turns_the_data() -> None:
    axis, turned = Stripe(dim=5), Stripe(dim=5, direction="random")
    for seed, use in ((0, "train_set"), (1, "test_set")):
        u = turned.informative(seed)
        before, after = getattr(axis, use)(200, seed), getattr(turned, use)(200, seed)
        assert np.array_equal(before.y, after.y)
        assert np.allclose(after.x @ u, before.x[:, 0])
        assert np.allclose(after.x @ after.x.T, before.x @ before.x.T)


def test_sets_are_nested_and_independent() -> None:
    task = Stripe(dim=4)
    assert np.array_equal(task.train_set(20, seed=1).x, task.train_set(50, seed=1).x[:20])
    assert not np.isin(task.test_set(50, seed=1).x, task.train_set(50, seed=1).x).any()
    assert not np.isin(task.train_set(50, seed=2).x, task.train_set(50, seed=1).x).any()


@pytest.mark.parametrize(
    ("options", "said"),
    [({"dim": 1}, "dim = 1: must be an integer"), ({"direction": "up"}, "must be axis or random")],
)
def test_bad_values_are_named(options: dict[str, int | str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Stripe(**options)  # type: ignore[arg-type]
