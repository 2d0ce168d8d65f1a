"""A checkpoint lives from the first save of a training until its run is in the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sgdphase._sweep import Plan, Progress, Run, Store, grid, sweep
from sgdphase._sweep.checkpoints import checkpoint_of
from sgdphase._sweep.run import run, run_pack
from sgdphase._sweep.tally import Tally
from sgdphase._sweep.trainers import trainer_of
from sgdphase.errors import InputError


def toy(function: str = "resumes", batch: Sequence[int] = (1,), seeds: int = 2) -> Plan:
    model = f"toy_trainer:{function}"
    return grid(dim=8, train_size=64, lr=1.0, batch=batch, seeds=seeds, model=model)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs.sqlite")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite-checkpoints"


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "log"
    monkeypatch.setenv("TOY_LOG", str(path))
    return path


def leave(folder: Path, name: str, count: int = 150) -> Path:
    """What a sweep that was killed leaves."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(str(count))
    return path


class Watch(Progress):
    """Notes whether there is a folder; no run that is reported has a checkpoint any more."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder_was_there: list[bool] = []

    def show(self, tally: Tally, runs: Sequence[tuple[str, Run]]) -> None:
        self.folder_was_there.append(self.folder.is_dir())
        left = [path.name for path in self.folder.glob("*")]
        assert not [name for name in left for key, _ in runs if name.startswith(key)]


@pytest.mark.parametrize("workers", [0, 2])
def test_deleted_when_stored_however_it_ended(store: Store, folder: Path, workers: int) -> None:
    watch = Watch(folder)
    summary = sweep(toy(batch=[1, 2, 4, 8]), store, workers=workers, progress=watch)
    assert summary.statuses == {"fitted": 2, "failed": 2, "budget": 2, "diverged": 2}
    assert all(watch.folder_was_there)
    assert all(run.outcome["saves"] for run in store.runs() if run.outcome.status != "failed")
    assert not folder.exists()


def test_a_training_that_failed_starts_over_when_tried_again(store: Store, log: Path) -> None:
    plan = toy(batch=[2], seeds=1)
    sweep(plan, store, workers=0)
    sweep(plan, store, workers=0, retry=["failed"])
    assert [line.split()[:2] for line in log.read_text().splitlines()] == [[plan[0].key, "0"]] * 2


def test_no_folder_for_trainers_that_do_not_resume(store: Store, folder: Path) -> None:
    watch = Watch(folder)
    sweep(toy("train"), store, workers=0, progress=watch)
    assert not any(watch.folder_was_there)
    # Nor when those that do have nothing left to run.
    sweep(toy(), store, workers=0)
    watch = Watch(folder)
    assert sweep([*toy(), *toy("raises")], store, workers=0, progress=watch).ran == 2
    assert not any(watch.folder_was_there)
    assert [trainer_of(f"toy_trainer:{name}").resumes for name in ("train", "resumes")] == [
        False,
        True,
    ]


def test_a_sweep_stopped_in_a_training_resumes_in_it(store: Store, folder: Path) -> None:
    plan = toy()
    leave(folder, f"{plan[1].key}-final", 150)
    leave(folder, f"{plan[1].key}-final.4711", 151)
    sweep(plan, store, workers=1)
    starts = {run.training.key: run.outcome["start"] for run in store.runs()}
    assert starts == {plan[0].key: 0.0, plan[1].key: 150.0}
    assert not folder.exists()


def test_states_with_and_without_trajectory_do_not_mix(store: Store, folder: Path) -> None:
    (training,) = plan = toy(seeds=1)
    drawn = leave(folder, f"{training.key}-trajectory", 120)
    sweep(plan, store, workers=0)
    assert store.runs()[0].outcome["start"] == 0.0
    # It serves the sweep that wants the trajectory, and that sweep alone.
    assert drawn.exists()
    leave(folder, f"{training.key}-final", 150)
    sweep(plan, store, workers=0, trajectories=True)
    assert store.runs()[0].outcome["start"] == 120.0
    assert not folder.exists()


def test_leftovers_of_stored_runs_go_and_others_stay(store: Store, folder: Path) -> None:
    done, waiting = toy()
    sweep([done], store, workers=0)
    gone = [leave(folder, f"{done.key}-final{ending}") for ending in ("", ".tmp")]
    kept = [
        leave(folder, f"{done.key}-trajectory"),
        leave(folder, f"{waiting.key}-final"),
        leave(folder, "notes.txt"),
    ]
    sweep([], store, workers=0)
    assert not any(path.exists() for path in gone)
    assert all(path.exists() for path in kept)


def test_a_retry_that_was_killed_resumes(store: Store, folder: Path) -> None:
    (training,) = plan = toy(batch=[4], seeds=1)
    sweep(plan, store, workers=0)
    leave(folder, f"{training.key}-final", 130)
    sweep(plan, store, workers=0, retry=["budget"])
    assert store.runs()[0].outcome["start"] == 130.0


def test_a_worker_that_cannot_see_the_folder_runs_without(tmp_path: Path) -> None:
    (training,) = toy(seeds=1)
    elsewhere = tmp_path / "not here"
    assert checkpoint_of(elsewhere, training.key, trajectory=False) is None
    (made,) = run_pack([(training.key, training)], trajectory=False, checkpoints=elsewhere)
    assert (made.outcome.status, made.outcome["saves"]) == ("fitted", 0.0)
    assert run(training).outcome["saves"] == 0.0
    assert not elsewhere.exists()


def test_a_folder_that_cannot_be_made(store: Store, folder: Path) -> None:
    folder.write_text("a file")
    with pytest.raises(
        InputError, match=r"runs.sqlite-checkpoints: cannot be created \(File exists"
    ):
        sweep(toy(), store, workers=0)
    assert folder.read_text() == "a file"
