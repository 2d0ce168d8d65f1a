"""The time that is left."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sgdphase._sweep import Plan, Run
from sgdphase._sweep.packs import Job
from sgdphase._sweep.tally import Tally

Toy = Callable[..., Plan]


def test_the_time_left_follows_what_was_measured(toy: Toy) -> None:
    plan = toy()
    jobs = [Job(t, 1.0) for t in plan]
    tally = Tally.of(len(plan), jobs, parallel=2)
    assert tally.seconds_left() == pytest.approx(12.0, abs=0.1)
    run = Run(plan[0], None, 3.0)  # type: ignore[arg-type]
    object.__setattr__(run, "outcome", type("Fitted", (), {"status": "fitted"}))
    tally.add([(plan[0].key, run)])
    assert tally.seconds_left() == pytest.approx(23 * 3 / 2, abs=0.1)
