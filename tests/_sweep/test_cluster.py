"""A real Dask scheduler with real workers over TCP."""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sgdphase._own import command
from sgdphase._sweep import DaskWorkers, Progress, Run, Store, SweepError, grid, missing, sweep
from sgdphase._sweep import cluster as cluster_module
from sgdphase._sweep.progress import line_of
from sgdphase._sweep.tally import Tally
from sgdphase.errors import InputError

pytest.importorskip("distributed")
# Dask's own warnings are not ours to mend.
pytestmark = pytest.mark.filterwarnings("default")


def dask(part: str, file: Path, *options: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{part}", "--scheduler-file", str(file),
         "--no-dashboard", "--host", "127.0.0.1", *options],
        env={**os.environ, "TOY_SECONDS": "0.01"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


@pytest.fixture
def cluster(tmp_path: Path, log: Path) -> Iterator[tuple[Path, list[subprocess.Popen[bytes]]]]:
    file = tmp_path / "scheduler.json"
    scheduler = dask("scheduler", file, "--port", "0")
    workers = [dask("worker", file, "--nthreads", "1", "--no-nanny") for _ in range(2)]
    deadline = time.monotonic() + 60
    # On a busy machine the file is there before its content is.
    while not (file.exists() and file.read_text().endswith("}")) and time.monotonic() < deadline:
        time.sleep(0.05)
    yield file, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def test_a_worker_dies_half_way_and_nothing_is_lost(
    cluster: tuple[Path, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    file, workers = cluster
    plan = grid(dim=8, train_size=64, lr=[0.5, 1.0], batch=1, seeds=150, model="toy_trainer:train")
    reported: list[str] = []

    class KillsHalfWay(Progress):
        def show(self, tally: Tally, runs: Sequence[tuple[str, Run]]) -> None:
            reported.extend(key for key, _ in runs)
            if len(reported) >= len(plan) // 2:
                workers[0].kill()

    store = Store(tmp_path / "runs.sqlite")
    team = DaskWorkers(json.loads(file.read_text())["address"])
    deadline = time.monotonic() + 30
    while len(team._client.nthreads()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    summary = sweep(plan, store, workers=team, progress=KillsHalfWay())
    assert workers[0].wait(10) == -9
    assert summary.statuses == {"fitted": 300}
    assert len(reported) == len(set(reported)) == 300
    assert len(store.runs()) == 300
    assert sweep(plan, store, workers=0).ran == 0


def test_a_training_whose_worker_dies_goes_on_in_another(
    cluster: tuple[Path, list[subprocess.Popen[bytes]]], log: Path, tmp_path: Path
) -> None:
    file, workers = cluster
    plan = grid(dim=8, train_size=64, lr=1.0, batch=1, model="toy_trainer:resumes")
    checkpoint = tmp_path / "runs.sqlite-checkpoints" / f"{plan[0].key}-final"
    saved: list[int] = []

    class KillsOnce(Progress):
        def show(self, tally: Tally, runs: Sequence[tuple[str, Run]]) -> None:
            if not saved and checkpoint.exists():
                saved.append(int(checkpoint.read_text()))
                pid = int(log.read_text().split()[2])
                next(worker for worker in workers if worker.pid == pid).kill()

    store = Store(tmp_path / "runs.sqlite")
    team = DaskWorkers(json.loads(file.read_text())["address"])
    assert sweep(plan, store, workers=team, progress=KillsOnce()).statuses == {"fitted": 1}
    assert 0 < saved[0] <= store.runs()[0].outcome["start"] < 200
    assert not checkpoint.parent.exists()


def test_commands_run_on_a_cluster(
    cluster: tuple[Path, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    told = command("sh -c 'echo x $0; exit $1' {lr} {seed} {batch}", r"x=stdout:x (\S+)")
    plan = grid(told, lr=[0.5, 1.0], batch=1, seeds=2)
    team = DaskWorkers(json.loads(cluster[0].read_text())["address"])
    summary = sweep(plan, tmp_path / "runs.sqlite", workers=team)
    assert summary.statuses == {"finished": 2, "failed": 2}
    assert [run.outcome["x"] for run in summary.runs if run.training.seed == 0] == [0.5, 1.0]
    assert len(list((tmp_path / "runs.sqlite-runs").iterdir())) == 4


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("tcp://127.0.0.1:1", "Connection refused"),
        ("127.0.0.1:1", "Connection refused"),
        ("nonsense", "missing port number"),
        ("nonsense://a:1", "unknown address scheme"),
    ],
)
def test_no_scheduler_there(address: str, reason: str) -> None:
    """At once, and no half-made client prints a traceback as it goes."""
    start = time.monotonic()
    with pytest.raises(InputError, match=f"no Dask scheduler at '{address}' .*{reason}"):
        DaskWorkers(address)
    gc.collect()
    assert time.monotonic() - start < 5


def test_something_else_listens_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "_CONNECT_SECONDS", 0.3)
    said = r"no answer within 0\.3 s"
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(InputError, match=said):
        DaskWorkers(f"tcp://127.0.0.1:{server.getsockname()[1]}")


@pytest.fixture
def local() -> Iterator[Any]:
    """A cluster in this process, without workers."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster:
        yield cluster


def test_no_worker_comes(local: Any, store: Store) -> None:
    plan = grid(dim=8, train_size=64, lr=1.0, batch=1, model="toy_trainer:train")
    team = DaskWorkers(local.scheduler_address, patience=3600.0)
    tally = Tally.of(1, missing(plan, store), team.parallel)
    tally.waiting = team.waiting()
    assert line_of(tally).startswith("0 of 1 done, no Dask worker has come yet; gives up in ")
    team.stop()
    team = DaskWorkers(local.scheduler_address, patience=0.3)
    with pytest.raises(SweepError, match="no Dask worker has come yet after"):
        sweep(plan, store, workers=team)


def test_workers_without_the_package(
    local: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = grid(dim=8, train_size=64, lr=1.0, batch=1, model="toy_trainer:train")
    local.scale(1)
    deadline = time.monotonic() + 10
    while not local.scheduler.workers and time.monotonic() < deadline:
        time.sleep(0.01)
    monkeypatch.setattr(cluster_module, "_PROBE", "sgdphase_of_tomorrow:x")
    said = r"no Dask worker of 1 can import sgdphase \(.*: No module named 'sgdphase_of_tomorrow'"
    with pytest.raises(InputError, match=said):
        sweep(plan, store, workers=DaskWorkers(local.scheduler_address))
    assert not store.path.exists()  # what is refused leaves nothing behind
    monkeypatch.undo()
    assert sweep(plan[:0], store, workers=DaskWorkers(local.scheduler_address)).left == 0


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'sgdphase\[dask\]'"):
        DaskWorkers("tcp://127.0.0.1:1")
