"""The best learning rate of each batch, on valleys whose bottom is known."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from sgdphase.diagram import BestRate, RunTable, rule, run_table, table_equivalents
from sgdphase.diagram._best_rates import _bounded
from sgdphase.errors import InputError
from sgdphase.stats import Estimate

BATCHES = 2.0 ** np.arange(4, 13)


def planted(law, noise: float = 0.002, seeds: int = 2, seed: int = 0, span=(-6, 6)) -> RunTable:
    """Valleys around `log lr = law(log batch)`, whose bottom rises with the batch."""
    rng = np.random.default_rng(seed)
    rows = []
    for batch in BATCHES:
        for lr in 2.0 ** np.arange(*span, 0.5):
            t = math.log(lr) - law(math.log(batch))
            value = 2 + 0.01 * t * t + 1e-4 * batch
            value = value if t < 3 else math.nan
            rows += [(lr, batch, value + noise * rng.standard_normal()) for _ in range(seeds)]
    lr, batch, value = zip(*rows, strict=True)
    return run_table({"lr": lr, "batch": batch, "loss": value})


def test_a_power_law_is_found_with_its_interval():
    """Ten tables: 90 % intervals miss 4 or more with probability 0.013."""
    exponents = [rule(planted(lambda u: 0.5 * u - 3, seed=s)).law.exponent for s in range(10)]
    assert sum(not e.low <= 0.5 <= e.high for e in exponents) <= 3
    assert all(e.high - e.low < 0.2 for e in exponents)


def test_one_law_has_no_bend_and_two_have():
    one = [rule(planted(lambda u: 0.5 * u - 3, seed=s)).bend for s in range(5)]
    assert one == [None] * 5
    at = math.log(256)
    best = rule(planted(lambda u: min(u, at) - 5.5))
    assert best.bend.low <= 256 <= best.bend.high
    assert best.pieces[0].exponent.low <= 1 <= best.pieces[0].exponent.high
    assert best.pieces[1].exponent.low <= 0 <= best.pieces[1].exponent.high
    assert "it bends at batch" in repr(best)


def test_values_of_the_best():
    best = rule(planted(lambda u: 0.5 * u - 3))
    for row in best.rows:
        assert row.value.low - 0.002 <= 2 + 1e-4 * row.batch <= row.value.high + 0.002
    assert math.isnan(best.best_batch.low)  # it may be smaller than those that were run


def test_outside_of_the_range_that_was_run():
    best = rule(planted(lambda u: u - 6, span=(-3, 0)))
    places = [row.place for row in best.rows]
    assert places[0] == "below the range"
    assert places[-1] == "above the range"
    assert "(smallest tried)" in repr(best)
    assert "run smaller ones" in repr(best)


def test_the_largest_stable_rate():
    runs = {"lr": [1, 2, 4, 8], "batch": [8] * 4, "loss": [3.0, 2.0, 1.0, math.nan]}
    [row] = rule(run_table(runs)).rows
    assert (row.place, round(row.lr.high, 9), row.diverged) == ("largest stable", 8.0, 1)


def test_more_is_better():
    table = planted(lambda u: 0.5 * u - 3)
    mirrored = RunTable(table.lr, table.batch, -table.value, table.seed, "score", maximize=True)
    up, down = rule(mirrored), rule(table)
    assert up.law == down.law
    assert [row.value.value for row in up.rows] == [-row.value.value for row in down.rows]


def test_the_best_batch_has_no_open_end_where_batches_are_clearly_worse():
    """Whatever a bootstrap of the curve through all batches says."""
    value = [Estimate(v, v - 0.1, v + 0.1) for v in (3.0, 2.0, 2.1, 4.0)]
    lr = Estimate(0.1, 0.05, 0.2)
    rows = [BestRate(b, lr, v, "inside", 9, 0) for b, v in zip((8, 16, 32, 64), value, strict=True)]
    unknown = Estimate(20.0, math.nan, math.nan)
    assert _bounded(unknown, rows, False) == Estimate(20.0, 8, 64)
    up = [dataclasses.replace(row, value=row.value.mapped(lambda x: -x)) for row in rows]
    assert _bounded(unknown, up, True) == Estimate(20.0, 8, 64)
    narrow = _bounded(Estimate(20.0, 18.0, math.nan), rows[:3], False)
    assert narrow is not None and narrow.low == 18 and math.isnan(narrow.high)


def test_too_few_learning_rates():
    with pytest.raises(InputError, match="no batch has 3 learning rates with a value"):
        rule(run_table({"lr": [1, 2], "batch": [8, 8], "loss": [1, 2]}))


def test_one_run_per_cell_and_missing_cells():
    table = planted(lambda u: 0.5 * u - 3, seeds=1)
    keep = np.random.default_rng(0).random(table.lr.size) < 0.7
    part = RunTable(table.lr[keep], table.batch[keep], table.value[keep], table.seed[keep], "loss")
    e = rule(part).law.exponent
    assert e.low <= 0.5 <= e.high


def test_survivors_of_a_rate_at_which_most_seeds_diverged_do_not_count():
    nan = math.nan
    runs = {"lr": [1, 2, 4, 8, 8, 8], "batch": [8] * 6, "loss": [3.0, 2.0, 2.5, 0.1, nan, nan]}
    [row] = rule(run_table(runs)).rows
    assert 1.5 < row.lr.value < 4 and row.value.value > 1.5


@pytest.mark.parametrize("unit", [1, 100])
def test_the_tolerance_of_an_accuracy_is_of_what_is_missing(unit: int):
    accuracy = unit * np.array([0.85, 0.9, 0.85])
    runs = {"lr": [1, 2, 4], "batch": [8] * 3, "val_acc": accuracy}
    assert table_equivalents(run_table(runs)).tolerance == pytest.approx(
        0.05 * 0.1 * unit, rel=0.02
    )


def test_without_noise_to_measure_there_is_no_interval():
    lr, batch = np.meshgrid([1.0, 2.0, 4.0], [8, 16, 32])
    loss = 1 + np.log(lr / 2) ** 2
    best = rule(run_table({"lr": lr.ravel(), "batch": batch.ravel(), "loss": loss.ravel()}))
    assert all(math.isnan(row.lr.low) and math.isnan(row.lr.high) for row in best.rows)
    assert best.best_batch is None
    assert "no interval" in repr(best)


@pytest.mark.filterwarnings("error")
def test_a_steep_valley_without_noise_does_not_overflow():
    """The curve through its ends goes beyond the largest float."""
    lr, batch = np.meshgrid(0.01 * 2.0 ** np.arange(6), 2.0 ** np.arange(6))
    loss = np.exp(5.46 * np.log(lr / 0.1 / batch**0.9855) ** 2)
    best = rule(run_table({"lr": lr.ravel(), "batch": batch.ravel(), "loss": loss.ravel()}))
    assert [row.place for row in best.rows if row.batch in (1, 2)] == ["inside", "inside"]


@pytest.mark.parametrize("slope", [0.1, -0.1])
def test_the_best_batch_may_be_the_first_or_the_last(slope: float):
    """Where the bottom falls with the batch the largest is the best; where it rises, others are."""
    lr, batch = np.meshgrid(2.0 ** np.arange(-6, 3), [8, 16, 32, 64])
    value = 2 + 0.1 * np.log(lr) ** 2 + slope * np.log(batch / 8)
    best = rule(run_table({"lr": lr.ravel(), "batch": batch.ravel(), "loss": value.ravel()}))
    assert f"Best batch: {64 if slope < 0 else 8} [" in repr(best)
