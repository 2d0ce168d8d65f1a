"""Sweeps that are killed for real, at random moments."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sgdphase._sweep import Store

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")

HERE = Path(__file__).parent
COUNT = 1500


def start(
    store: Path, out: Path, count: int = COUNT, **environment: str
) -> subprocess.Popen[bytes]:
    """A sweep under way; packs of about ten trainings, so that there are many moments."""
    with out.open("wb") as said, out.with_suffix(".err").open("wb") as errors:
        return subprocess.Popen(
            [sys.executable, str(HERE / "sweep_script.py"), str(store), str(count)],
            env={**os.environ, "TOY_SECONDS": "0.002", "TOY_EXPECTED": "0.05", **environment},
            stdout=said,
            stderr=errors,
            start_new_session=True,
        )


def finish(store: Path, out: Path) -> None:
    """The next run, left in peace, does the rest."""
    process = start(store, out, TOY_SECONDS="0", TOY_EXPECTED="0.001")
    assert process.wait(60) == 0, out.with_suffix(".err").read_text()


def reported(out: Path) -> set[str]:
    # A line that was cut short by a kill was not said.
    return {line[5:-1] for line in out.read_text().splitlines(True) if line[:5] == "done "}


def wait_for_first_report(process: subprocess.Popen[bytes], out: Path) -> None:
    while process.poll() is None and not reported(out):
        time.sleep(0.01)


def workers_of(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [
            int(child)
            for child in children
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
        ]
    except (FileNotFoundError, ProcessLookupError):
        return []


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone_within(seconds: float, family: list[int]) -> bool:
    deadline = time.monotonic() + seconds
    while any(map(is_alive, family)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(is_alive, family))


def kill_parent(process: subprocess.Popen[bytes], rng: random.Random) -> None:
    process.kill()


def kill_worker(process: subprocess.Popen[bytes], rng: random.Random) -> None:
    workers = workers_of(process.pid)
    if workers:
        os.kill(rng.choice(workers), signal.SIGKILL)
    # The sweep goes on without it; that it does is seen before the next blow.
    time.sleep(0.4)
    process.kill()


def interrupt(process: subprocess.Popen[bytes], rng: random.Random) -> None:
    # A terminal sends Ctrl-C to the workers as well.
    os.killpg(process.pid, signal.SIGINT)


def terminate(process: subprocess.Popen[bytes], rng: random.Random) -> None:
    process.terminate()


def test_nothing_reported_is_lost_and_nothing_is_run_twice(tmp_path: Path) -> None:
    """Blow after blow on one store, from its making on, and then the rest."""
    rng = random.Random(0)
    store, log = tmp_path / "runs.sqlite", tmp_path / "log"
    log.touch()
    blows = [kill_parent, kill_worker, interrupt, terminate] * 2
    rng.shuffle(blows)
    for number, blow in enumerate(blows):
        before = set(Store(store).standing())
        started = len(log.read_text().split())
        out = tmp_path / f"out{number}"
        process = start(store, out, TOY_LOG=str(log))
        if number % 4:
            wait_for_first_report(process, out)
        time.sleep(rng.uniform(0.0, 0.3))
        family = workers_of(process.pid)
        blow(process, rng)
        code = process.wait(20)
        stderr = out.with_suffix(".err").read_text()
        assert before | reported(out) <= set(Store(store).standing()), (blow, stderr)
        assert not before & set(log.read_text().split()[started:]), blow
        if reported(out) and blow in (interrupt, terminate):
            assert code in (0, 130 if blow is interrupt else 143), stderr
            assert stderr == ""
        assert gone_within(5.0, family), "a worker outlived its parent"
    assert len(Store(store).standing()) > 0
    finish(store, tmp_path / "last")
    runs = Store(store).runs(trajectories=True)
    assert {run.training.seed for run in runs} == set(range(COUNT))
    assert len(runs) == COUNT
    assert all(run.outcome.status == "fitted" for run in runs)
    assert all(len(run.outcome.trajectory["w1"]) == 3 for run in runs)
    assert [path.name for path in tmp_path.glob("runs.sqlite*")] == ["runs.sqlite"]


def test_a_full_disk_keeps_what_was_reported(tmp_path: Path) -> None:
    store, out = tmp_path / "runs.sqlite", tmp_path / "out"
    process = start(store, out, TOY_FILE_LIMIT="300000", TOY_SECONDS="0.001")
    assert process.wait(60) == 1
    stderr = out.with_suffix(".err").read_text()
    assert len(stderr.splitlines()) == 1
    assert "cannot be written" in stderr
    assert 0 < len(reported(out)) < COUNT
    assert reported(out) <= set(Store(store).standing())
    finish(store, out)
    assert len(Store(store).standing()) == COUNT


def starts(log: Path) -> list[tuple[str, int]]:
    """Which training was started from which count, in this order."""
    lines = map(str.split, log.read_text().splitlines())
    return [(key, int(count)) for key, count, _ in lines]


def saved(folder: Path) -> dict[str, int]:
    """The count that each training under way has saved."""
    found = {path.name: path for path in folder.glob("*-trajectory")}
    return {name.split("-")[0]: int(path.read_text()) for name, path in found.items()}


def test_a_long_training_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    """First its worker is killed, then the whole sweep; each time it resumes what it last saved."""
    store, out, log = tmp_path / "runs.sqlite", tmp_path / "out", tmp_path / "log"
    log.touch()
    folder = tmp_path / "runs.sqlite-checkpoints"
    toy = {"TOY_FUNCTION": "resumes", "TOY_LOG": str(log)}
    process = start(store, out, 2, TOY_SECONDS="0.05", TOY_EXPECTED="10", **toy)
    deadline = time.monotonic() + 30

    def wait_until(condition: Callable[[], bool]) -> None:
        while not condition() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        assert condition(), out.with_suffix(".err").read_text()

    wait_until(lambda: len(saved(folder)) == 2 and min(saved(folder).values()) >= 5)
    before = saved(folder)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    wait_until(lambda: len(starts(log)) == 3)
    (key, count) = starts(log)[2]
    assert before[key] <= count < 200
    wait_until(lambda: saved(folder)[key] > count)
    family = workers_of(process.pid)
    process.kill()
    process.wait(20)
    assert gone_within(5.0, family)
    before = saved(folder)
    assert before.keys() == {key for key, _ in starts(log)}
    assert not Store(store).standing()

    assert start(store, out, 2, TOY_SECONDS="0", **toy).wait(60) == 0
    assert dict(starts(log)[3:]) == before
    runs = Store(store).runs(trajectories=True)
    assert {run.training.key: run.outcome["start"] for run in runs} == before
    assert all(run.outcome.trajectory for run in runs)
    assert not folder.exists()
