"""A store that is taken away while a sweep writes to it: noticed, and nothing lost."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sgdphase._sweep import Plan, Progress, Run, Store, SweepError, storefile, sweep
from sgdphase._sweep.storefile import Identity
from sgdphase._sweep.tally import Tally
from sgdphase.errors import InputError


class AfterTheFirst(Progress):
    """Does something once some runs are in the store."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act, self.reported = act, set[str]()

    def show(self, tally: Tally, runs: Sequence[tuple[str, Run]]) -> None:
        if runs and not self.reported:
            self.act()
        self.reported |= {key for key, _ in runs}


def rescued(path: Path, plan: Plan, act: Callable[[], object]) -> Path:
    """Sweep while `act` takes the store away; the file that the error names."""
    progress = AfterTheFirst(act)
    with pytest.raises(SweepError, match="was deleted, moved or replaced") as error:
        sweep(plan, path, workers=0, progress=progress)
    copy = re.search(r"its (\d+) runs were saved as (\S+): name", str(error.value))
    assert copy and "\n" not in str(error.value)
    # What was reported, and what the workers had when it was noticed.
    kept = {run.training.key for run in Store(copy[2]).runs()}
    assert progress.reported <= kept and len(kept) == int(copy[1])
    assert 0 < len(kept) < len(plan)
    return Path(copy[2])


@pytest.fixture
def plan(toy: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.setenv("TOY_EXPECTED", "0.1")  # several packs
    return toy()


def test_deleted(store: Store, plan: Plan) -> None:
    path = store.path
    copy = rescued(path, plan, path.unlink)
    assert copy.parent == path.parent
    assert {each.name for each in path.parent.iterdir()} == {copy.name}
    copy.rename(path)
    summary = sweep(plan, path, workers=0)
    assert summary.left == 0 and summary.done_before > 0 and len(summary.runs) == len(plan)


def test_moved_and_replaced_by_another(store: Store, plan: Plan, tmp_path: Path) -> None:
    path, moved = store.path, tmp_path / "moved.sqlite"

    def swap() -> None:
        path.rename(moved)
        path.write_bytes(b"of somebody else")

    rescued(path, plan, swap)
    assert path.read_bytes() == b"of somebody else"
    assert Store(moved).runs()


def test_its_folder_is_gone_too(
    tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(tmp_path / "here")
    copy = rescued(folder / "runs.sqlite", plan, lambda: shutil.rmtree(folder))
    assert copy.parent == tmp_path / "here" and not folder.exists()


def test_its_disk_is_gone(store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it can be read any more: what is in memory is saved, not below the mount point."""
    here = store.path.parent / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    runs = [(run.training.key, run) for run in sweep(plan[:3], store, workers=0).runs]
    said = "its 3 runs were saved as"
    with pytest.raises(SweepError, match=said) as error, store.writer() as writer:
        store.path.unlink()
        monkeypatch.setattr("sgdphase._sweep.storefile.Identity.of", unmounted)
        writer.connection.close()
        writer.write(runs, trajectory=False)
    monkeypatch.undo()
    copy = re.search(r"saved as (\S+): name", str(error.value))
    assert copy and Path(copy[1]).parent == here
    assert len(Store(copy[1]).runs()) == 3


def unmounted(path: Path) -> Identity:
    os.stat(path)
    return Identity(-1, -1)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("replaced", [False, True])
def test_taken_away_as_it_is_opened(
    store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch, moment: str, replaced: bool
) -> None:
    """Refused before any training; only one that was replaced before it was open is used."""
    sweep(plan[:2], store, workers=0)
    sound, connect, progress = store.path.read_bytes(), storefile._connect, AfterTheFirst(bool)

    def take_away() -> None:
        store.path.unlink()
        if replaced:
            store.path.write_bytes(sound)

    def connect_late(path: Path, mode: str) -> sqlite3.Connection:
        if mode == "rw" and moment == "before":
            take_away()
        connection = connect(path, mode)
        if mode == "rw" and moment == "after":
            take_away()
        return connection

    monkeypatch.setattr(storefile, "_connect", connect_late)
    if replaced and moment == "before":
        sweep(plan, store, workers=0)
        assert len(Store(store.path).runs()) == len(plan)
        return
    with pytest.raises(InputError, match="cannot be written") as error:
        sweep(plan, store, workers=0, progress=progress)
    assert "\n" not in str(error.value)
    assert not progress.reported


def test_a_lock_of_another_sweep_is_not_removed(store: Store) -> None:
    lock = store.path.with_name("runs.sqlite-lock")
    with store.writer():
        lock.unlink()
        lock.touch()
    assert lock.exists()


def test_a_full_disk_is_not_a_store_that_is_gone(store: Store, plan: Plan) -> None:
    sweep(plan[:1], store, workers=0)
    with store.writer() as writer:
        writer.connection.execute("PRAGMA max_page_count = 1")
        run = store.runs()[0]
        with pytest.raises(SweepError, match=r"cannot be written \(database or disk is full\)"):
            writer.write([(f"{n}" * 32, run) for n in range(100)], trajectory=True)
    assert len(store.runs()) == 1
    assert [each.name for each in store.path.parent.iterdir()] == ["runs.sqlite"]
    with pytest.raises(sqlite3.ProgrammingError):
        writer.connection.execute("SELECT 1")
