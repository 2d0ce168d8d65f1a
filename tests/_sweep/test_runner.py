"""Each training once, however it ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sgdphase._sweep import Plan, Progress, Run, Store, grid, missing, sweep
from sgdphase._sweep.tally import Tally
from sgdphase.errors import InputError

Toy = Callable[..., Plan]


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_only_what_is_missing_is_run(store: Store, log: Path, workers: int, toy: Toy) -> None:
    first = sweep(toy(batch=[1, 2]), store, workers=workers)
    assert (first.planned, first.ran, first.left) == (12, 12, 0)
    larger = sweep(toy(), store, workers=workers)
    assert (larger.planned, larger.done_before, larger.ran) == (24, 12, 12)
    assert larger.statuses == {"budget": 6, "diverged": 6}
    assert sweep(toy(), store, workers=workers).ran == 0
    keys = log.read_text().split()
    assert len(keys) == len(set(keys)) == 24


def test_a_failure_is_kept_with_its_traceback_and_can_be_tried_again(
    store: Store, monkeypatch: pytest.MonkeyPatch, toy: Toy
) -> None:
    summary = sweep(toy("raises"), store, workers=0)
    assert summary.statuses == {"fitted": 6, "failed": 6, "budget": 6, "diverged": 6}
    broken = [run for run in store.runs() if run.outcome.status == "failed"]
    assert all(run.training.batch == 2 for run in broken)
    assert all("RuntimeError: batch 2 is broken" in run.traceback for run in broken)
    assert sweep(toy("raises"), store, workers=0).ran == 0
    monkeypatch.setenv("TOY_MENDED", "1")
    again = sweep(toy("raises"), store, workers=0, retry=["failed", "budget"])
    assert again.statuses == {"fitted": 6, "budget": 6}
    assert len(store.runs()) == 24
    with pytest.raises(InputError, match="retry = 'fitting': must be among fitted"):
        sweep(toy("raises"), store, workers=0, retry=["fitting"])


def test_fail_fast_stops_at_the_first(store: Store, toy: Toy) -> None:
    summary = sweep(toy("exits", seeds=400), store, workers=0, fail_fast=True)
    assert 0 < summary.ran < summary.planned
    assert summary.left == summary.planned - summary.ran
    assert all("SystemExit: 3" in run.traceback for run in store.runs())


def test_a_training_that_kills_its_worker_fails_and_the_others_do_not(
    store: Store, log: Path, toy: Toy
) -> None:
    plan = [training for training in toy("kills", seeds=1) if training.lr == 1.0]
    summary = sweep(plan, store, workers=2)
    assert summary.statuses == {"fitted": 1, "failed": 1, "budget": 1, "diverged": 1}
    (broken,) = [run for run in store.runs() if run.outcome.status == "failed"]
    assert broken.training.batch == 2
    assert "died 3 times" in broken.traceback
    assert log.read_text().split().count(broken.training.key) in (3, 4)


def test_trajectories_that_are_asked_for_are_made_good(store: Store, log: Path, toy: Toy) -> None:
    sweep(toy(), store, workers=0)
    assert sweep(toy(), store, workers=0, trajectories=True).ran == 24
    assert sweep(toy(), store, workers=0, trajectories=True).ran == 0
    assert sweep(toy(), store, workers=0).ran == 0
    assert all(run.outcome.trajectory for run in store.runs(trajectories=True))


def test_a_run_is_in_the_store_before_it_is_reported(store: Store, toy: Toy) -> None:
    reported: list[str] = []

    class Seen(Progress):
        def show(self, tally: Tally, runs: Sequence[tuple[str, Run]]) -> None:
            held = store.standing()
            assert all(key in held for key, _ in runs)
            assert len(held) == tally.done
            reported.extend(key for key, _ in runs)

    plan = toy(seeds=100)
    sweep(plan, store, workers=0, progress=Seen())
    assert sorted(reported) == sorted(training.key for training in plan)


def test_a_plan_that_names_a_training_twice_runs_it_once(store: Store, log: Path, toy: Toy) -> None:
    assert sweep([*toy(), *toy()], store, workers=0).planned == 24
    assert len(log.read_text().split()) == 24


def test_it_runs_in_a_thread_too(store: Store, toy: Toy) -> None:
    thread = threading.Thread(target=sweep, args=(toy(), store), kwargs={"workers": 1})
    thread.start()
    thread.join()
    assert len(store.runs()) == 24


def test_workers_have_one_thread_and_the_parent_is_as_before(
    store: Store, monkeypatch: pytest.MonkeyPatch, toy: Toy
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    sweep(toy("threads", seeds=1), store, workers=1)
    assert {run.outcome["w1"] for run in store.runs()} == {1.0}
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


@pytest.mark.parametrize("model", ["transformer", "toy_trainer:nothing", "no_module:train"])
def test_a_model_that_is_not_there(store: Store, model: str) -> None:
    with pytest.raises(InputError, match=f"model = '{model}'"):
        sweep(grid(dim=8, train_size=64, lr=1.0, batch=1, model=model), store, workers=0)


def test_missing_is_what_a_sweep_would_run(store: Store, toy: Toy) -> None:
    assert len(missing(toy(), store)) == 24
    sweep(toy(batch=[1]), store, workers=0)
    assert len(missing(toy(), store)) == 18


def test_a_sweep_returns_the_runs_of_its_plan_in_its_order(store: Store, toy: Toy) -> None:
    sweep(toy(), store, workers=0)
    part = [*reversed(toy(batch=[8, 1])), toy(batch=[8])[0]]
    summary = sweep(part, store, workers=0, trajectories=True)
    assert [run.training for run in summary.runs] == part[:-1]
    assert all(run.outcome.trajectory for run in summary.runs)
    assert summary.planned == 12 and summary.as_dict().keys() == {
        "planned", "done_before", "ran", "left", "statuses", "seconds"
    }  # fmt: skip
    failing = sweep(toy("raises"), store, workers=0, fail_fast=True)
    assert len(failing.runs) == failing.ran < failing.planned
