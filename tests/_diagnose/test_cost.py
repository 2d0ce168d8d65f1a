"""What a budget can buy, before anything is run."""

from __future__ import annotations

import pytest

from sgdphase._diagnose.cost import EFFORTS, TrainingTime, affordable


def test_what_a_budget_can_buy() -> None:
    """Half of each training's seconds are its steps'; 8 trainings fit, or 100."""
    time_of = TrainingTime.of(8, 1.0, 16, 0.75)
    assert time_of(8) == pytest.approx(1, abs=0.05)
    assert time_of(10**9) == pytest.approx(0.5, abs=0.05)
    rows = [[16, 32, 64, 128], [32, 128], [32, 128], [128], [128]]
    much, seconds, fits = affordable(8, rows, time_of, 2, 1000.0)
    assert fits and much == EFFORTS[0]
    # 5 + 7.5 trainings at batch 8, and 12.5 in each row, on two workers.
    assert seconds == pytest.approx((12.5 + 12.5 * (0.75 + 0.625 + 0.5625 + 0.53)) / 2, rel=0.05)
    some, seconds, fits = affordable(8, rows, time_of, 2, 10.0)
    assert fits and some in EFFORTS[1:] and seconds <= 10
    least, seconds, fits = affordable(8, rows, time_of, 2, 1.0)
    assert not fits and least == EFFORTS[-1]
