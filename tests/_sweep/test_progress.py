"""What is printed during a sweep."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import StringIO
from itertools import count

import pytest

from sgdphase._records import STATUSES
from sgdphase._sweep import Plan, Store, grid, missing, sweep
from sgdphase._sweep.progress import Bars, Lines
from sgdphase._sweep.tally import Tally

Toy = Callable[..., Plan]


def test_what_progress_says(store: Store, capsys: pytest.CaptureFixture[str], toy: Toy) -> None:
    from rich.console import Console

    sweep(toy("raises"), store, workers=0, progress=Lines(sys.stdout))
    assert "24 of 24 done, fitted 6, diverged 6, budget 6, failed 6" in capsys.readouterr().out
    bars = Bars(Console(file=sys.stdout, force_terminal=True, width=120))
    sweep(toy(), store, workers=0, progress=bars)
    assert "24/24" in capsys.readouterr().out
    tally = Tally.of(5, [], parallel=1)
    tally.statuses.update(STATUSES)
    with bars:
        bars.show(tally, [])
    said = capsys.readouterr().out
    assert all(f"{status} 1" in said for status in STATUSES)


def test_what_is_waited_for_is_said_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, out = count(0, 2), StringIO()
    monkeypatch.setattr("sgdphase._sweep.progress.monotonic", lambda: next(clock))
    lines, tally = Lines(out), Tally(8, 0, 1, {"key": 1.0}, waiting="compiling")
    for _ in range(50):
        lines.show(tally, [])
    assert out.getvalue() == 2 * "0 of 8 done, compiling\n"


def test_a_training_is_not_expected_to_take_longer_than_it_may(store: Store) -> None:
    plan = grid(dim=8, train_size=32, lr=1.0, batch=1, l1=0.1, model="diagonal", max_seconds=5.0)
    assert [job.cost for job in missing(plan, store)] == [5.0]
