"""The file: what goes in comes out, and no file that is not a sound store is touched."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sgdphase._records import ENGINES
from sgdphase._sweep import Progress, Run, Store, grid, sweep
from sgdphase._sweep.tally import Tally
from sgdphase.errors import InputError

PLAN = grid(
    dim=8, train_size=64, lr=[0.5, 1.0], batch=[1, 4, 8], seeds=40, model="toy_trainer:train"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    sweep(PLAN, tmp_path / "runs.sqlite", workers=0, trajectories=True)
    return tmp_path / "runs.sqlite"


def test_runs_come_back_as_they_were(path: Path) -> None:
    runs = {run.training: run for run in Store(path).runs(trajectories=True)}
    assert set(runs) == set(PLAN)
    run = runs[PLAN[0]]
    assert (run.outcome.status, run.outcome.steps, run.outcome.time) == ("fitted", 1, 0.5)
    assert run.outcome.observables == {"w1": 0.5, "alignment": np.inf}
    np.testing.assert_array_equal(run.outcome.trajectory["w1"], [0.5, np.nan, 0.5])
    assert all(not run.outcome.trajectory for run in Store(path).runs())


def test_only_the_runs_of_given_keys_are_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sgdphase._sweep.store._KEYS", 7)
    store, wanted = Store(path), [training.key for training in PLAN[200:100:-1]]
    keys = [*wanted, "of no run", wanted[0]]
    runs = store.runs(keys=keys, trajectories=True)
    assert [run.training.key for run in runs] == wanted
    assert all(run.outcome.trajectory for run in runs)
    assert list(store.standing(keys)) and store.standing(keys).keys() == set(wanted)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE runs SET seconds = 9 WHERE key = ?", (PLAN[0].key,))
    assert len(store.runs(keys=keys)) == 100  # the damage is in another row
    with pytest.raises(InputError, match="damaged"):
        store.runs(keys=[PLAN[0].key])


def test_the_table_has_parameters_results_and_observables(path: Path) -> None:
    table = Store(path).table("toy_trainer:train")
    assert {"dim", "chi", "lr", "batch", "temperature", "seed", "status", "w1"} <= set(table)
    assert {len(column) for column in table.values()} == {len(PLAN)}
    np.testing.assert_array_equal(table["w1"], table["lr"] * table["batch"])
    np.testing.assert_array_equal(table["status"] == "budget", table["batch"] == 4)
    assert Store(path).table("another") == {}


def test_at_rest_it_is_one_file_that_opens_elsewhere(path: Path, tmp_path: Path) -> None:
    assert [entry.name for entry in path.parent.iterdir()] == ["runs.sqlite"]
    elsewhere = tmp_path / "else where?#%"
    elsewhere.mkdir()
    copy = shutil.copy(path, elsewhere / "copy.db")
    os.chmod(copy, 0o444)
    os.chmod(elsewhere, 0o555)
    assert len(Store(copy).runs()) == len(PLAN)
    assert [entry.name for entry in elsewhere.iterdir()] == ["copy.db"]
    os.chmod(elsewhere, 0o755)


def test_others_may_read_while_one_writes_and_a_second_writer_is_refused(path: Path) -> None:
    with Store(path).writer():
        assert len(Store(path).runs()) == len(PLAN)
        with pytest.raises(InputError, match="another sweep is writing"):
            sweep(PLAN, path, workers=0)
        code = f"from sgdphase._sweep import Store\nwith Store({str(path)!r}).writer(): pass"
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "another sweep is writing" in other.stderr
    with Store(path).writer():
        pass


def test_a_writer_that_could_not_open_leaves_nothing_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection would keep the file open, and Python 3.13 warns of it."""
    opened: list[sqlite3.Connection] = []

    def connect(*args: object) -> sqlite3.Connection:
        opened.append(sqlite3.connect(path, isolation_level=None))
        return opened[-1]

    def fail(path: Path) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr("sgdphase._sweep.storefile._connect", connect)
    monkeypatch.setattr("sgdphase._sweep.storefile.Identity.of", fail)
    with pytest.raises(InputError, match="cannot be written"), Store(path).writer():
        pass
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[-1].execute("SELECT 1")


def test_a_file_of_no_bytes_is_a_store_to_be(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    path.touch()
    assert Store(path).standing() == {}
    with pytest.raises(InputError, match="there is no store"):
        Store(path).runs()
    sweep(PLAN[:2], path, workers=0)
    assert len(Store(path).runs()) == 2


def test_looking_makes_no_file(tmp_path: Path) -> None:
    store = Store(tmp_path / "none.sqlite")
    assert store.standing() == {}
    with pytest.raises(InputError, match="there is no store"):
        store.table()
    assert list(tmp_path.iterdir()) == []


def damage_text(path: Path) -> None:
    path.write_text("lr,batch\n1,2\n" * 100)


def damage_other_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (key)")


def damage_newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")


def damage_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_page_and_a_bit(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def damage_header_only(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def damage_header_of_100(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def damage_noise(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:-4096] = np.random.default_rng(0).bytes(len(content) - 8192)
    path.write_bytes(content)


def damage_zeros(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[8192:12288] = bytes(4096)
    path.write_bytes(content)


def damage_one_letter(path: Path) -> None:
    content = path.read_bytes()
    place = content.rindex(b'"lr": 0.5')
    path.write_bytes(content[: place + 8] + b"6" + content[place + 9 :])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (damage_text, "is not a store"),
        (damage_other_database, "is not a store"),
        (damage_newer, "newer sgdphase"),
        (damage_half, "damaged or truncated"),
        (damage_page_and_a_bit, "damaged or truncated"),
        (damage_header_only, "damaged or truncated"),
        (damage_header_of_100, "damaged or truncated"),
        (damage_noise, "damaged or truncated"),
        (damage_zeros, "damaged or truncated"),
        (damage_one_letter, "damaged or truncated"),
    ],
)
def test_what_is_not_a_sound_store_is_refused_and_left(path: Path, damage, said: str) -> None:  # type: ignore[no-untyped-def]
    damage(path)
    before = path.read_bytes()
    for use in (lambda: Store(path).runs(), lambda: sweep(PLAN, path, workers=0)):
        with pytest.raises(InputError, match=said) as error:
            use()
        assert "\n" not in str(error.value)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["runs.sqlite"]


def test_every_byte_of_every_page_matters_or_does_no_harm(path: Path) -> None:
    """Noise at random places is refused or changes nothing that is read; it never crashes."""
    rng = np.random.default_rng(1)
    sound, bytes_ = Store(path).runs(trajectories=True), path.read_bytes()
    for _ in range(60):
        content = bytearray(bytes_)
        place = int(rng.integers(len(content) - 16))
        content[place : place + 16] = rng.bytes(16)
        path.write_bytes(content)
        try:
            runs = Store(path).runs(trajectories=True)
        except InputError:
            continue
        assert [repr(run) for run in runs] == [repr(run) for run in sound]


def test_a_directory_and_a_place_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a file"):
        Store(tmp_path)
    with pytest.raises(InputError, match="cannot be written"):
        sweep(PLAN, tmp_path / "no" / "runs.sqlite", workers=0)


def test_a_log_without_its_store_is_not_taken_over(path: Path) -> None:
    path.unlink()
    path.with_name("runs.sqlite-wal").write_bytes(b"x" * 100)
    with pytest.raises(InputError, match="belongs to a store"):
        sweep(PLAN, path, workers=0)


def test_runs_of_another_engine_are_kept_but_not_shown(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENGINES, "toy_trainer:train", 5)
    assert Store(path).runs() == []
    assert Store(path).outdated() == len(PLAN)
    assert sweep(PLAN[:3], path, workers=0).ran == 3
    assert len(Store(path).runs()) == 3


def test_a_link_stays_one_and_its_target_is_the_store(tmp_path: Path) -> None:
    link, target = tmp_path / "link.sqlite", tmp_path / "other" / "runs.sqlite"
    target.parent.mkdir()
    (tmp_path / "again.sqlite").symlink_to("link.sqlite")
    link.symlink_to("other/runs.sqlite")
    for path in (link, tmp_path / "again.sqlite", target):  # the first finds a dangling link
        assert sweep(PLAN[:2], path, workers=0).left == 0
    assert link.is_symlink() and not target.is_symlink() and len(Store(target).runs()) == 2
    for one, two in ((link, target), (target, link)):
        with Store(one).writer(), pytest.raises(InputError, match="another sweep is writing"):
            sweep(PLAN[:3], two, workers=0)
    assert [each.name for each in target.parent.iterdir()] == ["runs.sqlite"]


def test_a_link_to_nowhere(tmp_path: Path) -> None:
    away, loop = tmp_path / "away.sqlite", tmp_path / "loop.sqlite"
    away.symlink_to("no/such/folder.sqlite")
    loop.symlink_to("loop.sqlite")
    with pytest.raises(InputError, match=r"cannot be written \(No such file"):
        sweep(PLAN, away, workers=0)
    with pytest.raises(InputError, match="is a link that leads to itself"):
        sweep(PLAN, loop, workers=0)
    assert away.is_symlink() and loop.is_symlink()


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="no such flag")
def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    (tmp_path / "runs.sqlite-lock").symlink_to(victim)
    (tmp_path / "runs.sqlite-new").symlink_to(victim)
    with pytest.raises(InputError, match=r"runs\.sqlite-lock: is a link"):
        sweep(PLAN[:1], tmp_path / "runs.sqlite", workers=0)
    (tmp_path / "runs.sqlite-lock").unlink()
    sweep(PLAN[:1], tmp_path / "runs.sqlite", workers=0)
    assert not victim.exists() and not (tmp_path / "runs.sqlite-new").is_symlink()


def test_a_copy_made_in_the_middle_of_a_sweep_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copied after each commit, the file alone or with its log: every run that was reported."""
    monkeypatch.setenv("TOY_EXPECTED", "0.1")
    path, copies = tmp_path / "runs.sqlite", []

    class Copies(Progress):
        def show(self, tally: Tally, runs: Sequence[tuple[str, Run]]) -> None:
            folder = tmp_path / str(len(copies))
            folder.mkdir()
            for suffix in ("", "-wal") if len(copies) % 2 else ("",):
                shutil.copy(f"{path}{suffix}", folder / f"runs.sqlite{suffix}")
            copies.append((folder / "runs.sqlite", tally.done))

    plan = grid(dim=8, train_size=64, lr=1.0, batch=1, seeds=40, model="toy_trainer:train")
    sweep(plan, path, workers=0, progress=Copies())
    assert len(copies) > 5
    for copy, done in copies:
        assert len(Store(copy).runs()) == done
    assert sweep(plan, copies[3][0], workers=0).done_before == copies[3][1]
