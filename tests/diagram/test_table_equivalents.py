"""The table of equivalents from runs that exist, on valleys that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sgdphase.diagram import run_table, table_equivalents
from sgdphase.errors import InputError


def planted(lost: float = 0.0, sign: float = 1.0):
    """The value is a function of `lr / batch`, and worse by `lost` from batch 64 on."""
    rng = np.random.default_rng(1)
    lr, batch = (a.ravel() for a in np.meshgrid(2.0 ** np.arange(-8, 6, 0.5), [8, 16, 32, 64, 128]))
    t = np.log(lr / batch) + 4
    value = 1 + 0.05 * t**2 + lost * (batch >= 64) + 0.002 * rng.standard_normal(lr.size)
    return run_table(
        {"lr": lr, "batch": batch, "val_accuracy" if sign < 0 else "loss": sign * value}
    )


@pytest.mark.parametrize("lr", [0.05, 0.4])  # left and right of the bottom, at 0.147
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_same_value_on_the_same_side_of_the_valley(lr: float, sign: float):
    table = table_equivalents(planted(sign=sign), lr=lr, batch=8)
    for row in table.rows:
        assert row.lr.low * 0.98 <= lr * row.batch / 8 <= row.lr.high * 1.02
        assert row.verdict == "the same"
    assert table.rule.exponent.low <= 1 <= table.rule.exponent.high
    assert table.rule.up_to_batch == 128
    assert math.isinf(table.largest_batch.batch.high)


def test_none_where_the_bottom_is_too_high():
    table = table_equivalents(planted(lost=0.2), lr=0.147, batch=8)
    assert [row.exists for row in table.rows] == [True, True, False, False]
    assert 32 <= table.largest_batch.batch.value <= 64
    # At the bottom of its own valley.
    assert table.rows[-1].lr.low <= 128 * math.exp(-4) <= table.rows[-1].lr.high


def test_a_better_rate_at_your_batch():
    table = table_equivalents(planted(), lr=0.02, batch=8)
    assert table.better_lr.lr.value == pytest.approx(8 * math.exp(-4), rel=0.1)
    assert table_equivalents(planted(), lr=0.147, batch=8).better_lr is None


def test_the_best_of_your_batch_goes_with_the_best_of_others():
    """Larger batches are better here: the bottom of their valleys, not where it is as high."""
    table = table_equivalents(planted(lost=-0.2), batch=8)
    rates = [row.lr.value / row.batch for row in table.rows]
    assert rates == pytest.approx([math.exp(-4)] * 4, rel=0.1)
    assert [row.verdict for row in table.rows] == ["the same", "the same", "better", "better"]


def test_by_default_the_best_of_the_smallest_batch():
    table = table_equivalents(planted())
    assert table.yours.batch == 8
    assert table.yours.lr.value == pytest.approx(8 * math.exp(-4), rel=0.1)


def test_the_largest_batch_is_where_the_bottom_has_risen_by_the_tolerance():
    """Bottoms at 1 + 0.05 log2(batch/8): 5 % above that of batch 8 at 16; ten tables."""
    held = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        lr, batch = (
            a.ravel() for a in np.meshgrid(2.0 ** np.arange(-5, 5), 2.0 ** np.arange(3, 9))
        )
        loss = (1 + 0.05 * np.log2(batch / 8)) * (1 + 0.1 * np.log(lr) ** 2)
        loss += 0.005 * rng.standard_normal(lr.size)
        end = table_equivalents(run_table({"lr": lr, "batch": batch, "loss": loss})).largest_batch
        held += end.batch.low <= 16 <= end.batch.high
    assert held >= 7  # 90 % intervals hold fewer than 7 with probability 0.013


def test_what_was_not_run():
    with pytest.raises(InputError, match="batch 9: the runs have 3 learning rates or more at 8"):
        table_equivalents(planted(), lr=0.1, batch=9)
    with pytest.raises(InputError, match=r"lr 100: at batch 8 it must be from 0\.0"):
        table_equivalents(planted(), lr=100, batch=8)


def test_the_largest_batch_has_all_its_digits():
    runs = {
        "lr": [k / 8 for k in range(1, 9)] * 3,
        "batch": np.repeat([512, 1024, 2048], 8),
        "loss": [1 + 0.01 * (k - 4.5) ** 2 for k in range(8)] * 3,
    }
    table = table_equivalents(run_table(runs), lr=0.5, batch=512)
    assert table.largest_batch.batch.value == 2048
    assert "largest such batch: 2048" in repr(table)


def test_a_table_shows_how_many_runs_a_batch_has():
    """Not seeds: here one seed at each of nine learning rates."""
    lr, batch = np.meshgrid(0.01 * 2.0 ** np.arange(9), [8, 16])
    loss = 1 + 0.1 * np.log(lr / 0.01 / batch) ** 2
    runs = run_table({"lr": lr.ravel(), "batch": batch.ravel(), "loss": loss.ravel()})
    shown = repr(table_equivalents(runs, lr=0.04, batch=8)).splitlines()[1:]
    assert [line.split()[-1] for line in shown] == ["runs", "9", "9"]
