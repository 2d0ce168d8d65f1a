"""Which points each step sees: distinct, uniform, and a function of seed and step alone."""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np
import pytest
from scipy import stats

from sgdphase.networks import _batches as module
from sgdphase.networks._batches import ahead, batches, block_steps

# One for each way of drawing: a point, rows without a point twice, choices, all.
WAYS = [1, 3, 11, 30]


def first(training, steps: int) -> np.ndarray:
    return np.stack(list(islice(batches(training), steps)))


@pytest.mark.parametrize("sampler", ["fresh", "epoch"])
@pytest.mark.parametrize("batch", WAYS)
def test_distinct_points_of_the_training_set(record, batch: int, sampler: str) -> None:
    drawn = first(record(train_size=30, batch=batch, sampler=sampler), 5000)
    assert drawn.shape == (5000, batch)
    assert drawn.min() == 0 and drawn.max() == 29
    in_order = np.sort(drawn, axis=1)
    assert (in_order[:, 1:] > in_order[:, :-1]).all()


@pytest.mark.parametrize("batch", [2, 4])
def test_every_set_of_points_is_as_likely(record, batch: int) -> None:
    # 6 points: rows without a point twice for 2 (15 sets), choices for 4 (15 sets as well). With
    # 30000 steps the test notices one set that is 10 % more likely with probability 0.9.
    training = record(train_size=6, batch=batch)
    sets = {chosen: i for i, chosen in enumerate(combinations(range(6), batch))}
    found = [sets[tuple(sorted(row))] for row in first(training, 30_000).tolist()]
    counts = np.bincount(found, minlength=len(sets))
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("batch", [1, 3, 11])
def test_points_are_uniform_and_steps_independent(record, batch: int) -> None:
    # A point that is 5 % more likely than others moves its count by more than 5 deviations.
    training = record(train_size=30, batch=batch)
    drawn = first(training, 60_000 // batch * 6)
    counts = np.bincount(drawn.ravel(), minlength=30)
    # Without replacement a count varies less than a multinomial one.
    spread = np.sqrt(len(drawn) * batch / 30 * (1 - batch / 30))
    assert np.abs(counts - len(drawn) * batch / 30).max() < 4 * spread
    # Two steps in a row share B^2 / P points on average.
    seen = np.zeros((len(drawn), 30))
    np.put_along_axis(seen, drawn, 1.0, axis=1)
    shared = (seen[1:] * seen[:-1]).sum(axis=1)
    error = shared.std() / np.sqrt(len(shared))
    assert shared.mean() == pytest.approx(batch**2 / 30, abs=4 * error)


def test_full_batch_is_the_training_set(record) -> None:
    drawn = first(record(train_size=30, batch=30), 1000)
    assert (np.sort(drawn, axis=1) == np.arange(30)).all()


@pytest.mark.parametrize(("size", "batch"), [(30, 1), (30, 7), (30, 10), (30, 30)])
def test_no_point_comes_twice_in_an_epoch(record, size: int, batch: int) -> None:
    steps = size // batch
    drawn = first(record(train_size=size, batch=batch, sampler="epoch"), 200 * steps)
    epochs = np.sort(drawn.reshape(200, steps * batch), axis=1)
    assert (epochs[:, 1:] > epochs[:, :-1]).all()
    # What is left over differs between epochs, and so does the order.
    assert set(epochs.ravel().tolist()) == set(range(size))
    assert len({tuple(epoch) for epoch in drawn.reshape(200, -1).tolist()}) == 200


@pytest.mark.parametrize("sampler", ["fresh", "epoch"])
@pytest.mark.parametrize("batch", WAYS)
def test_any_step_is_found_without_those_before(record, batch: int, sampler: str) -> None:
    training = record(train_size=30, batch=batch, sampler=sampler)
    size = block_steps(training)
    steps = min(3 * size + 2, 20_000)
    plain = first(training, steps)
    for step in {0, 1, size - 1, size, size + 1, 2 * size, steps - 1} & set(range(steps)):
        module._block.cache_clear()
        found = ahead(training, step)
        assert 1 <= len(found) <= size
        seen = min(len(found), steps - step)
        assert np.array_equal(found[:seen], plain[step : step + seen])


def test_depend_on_the_seed_and_not_on_what_is_learnt(record) -> None:
    plain = first(record(), 100)
    assert np.array_equal(plain, first(record(lr=7.0, margin=0.3, momentum=0.5, width=3), 100))
    assert not np.array_equal(plain, first(record(seed=1), 100))
    # Far along, numbers of blocks are large.
    assert ahead(record(), 2**61).max() < 64
