"""Sweeps that end at a time, and workers that serve one sweep after another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from sgdphase._own import command
from sgdphase._own.problem import user_file
from sgdphase._records import Training
from sgdphase._sweep import Plan, Store, grid, sweep
from sgdphase._sweep.workers import InProcess, Kept, Processes, workers_of
from sgdphase.errors import InputError


def toy(function: str = "train", seeds: int = 6) -> Plan:
    model = f"toy_trainer:{function}"
    return grid(dim=8, train_size=64, lr=[1.0], batch=[1, 2], seeds=seeds, model=model)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes a tenth of a second, and stands alone in its pack."""
    monkeypatch.setenv("TOY_SECONDS", "0.1")
    monkeypatch.setenv("TOY_EXPECTED", "1.0")


@pytest.fixture
def kept() -> Iterator[Kept]:
    workers = Kept(lambda: Processes(1))
    yield workers
    workers.close()


@pytest.mark.usefixtures("slow")
def test_it_ends_in_time_and_the_same_call_finishes(store: Store) -> None:
    start = monotonic()
    first = sweep(toy(), store, workers=0, until=start + 0.45)
    # Twelve take 1.2 s; what is under way at the end is one training.
    assert 0.45 <= monotonic() - start < 1.1
    assert 0 < first.ran < first.planned == 12 and first.left == 12 - first.ran
    assert len(store.runs()) == first.ran
    second = sweep(toy(), store, workers=0)
    assert (second.done_before, second.ran, second.left) == (first.ran, 12 - first.ran, 0)
    assert len(store.runs()) == 12


@pytest.mark.usefixtures("slow")
def test_nothing_is_run_in_vain(store: Store, log: Path) -> None:
    sweep(toy(), store, workers=0, until=monotonic() + 0.35)
    assert len(log.read_text().split()) == len(store.runs())


def test_a_time_that_is_over_and_one_that_never_comes(store: Store) -> None:
    assert sweep(toy(), store, workers=0, until=monotonic() - 1.0).left >= 0
    assert sweep(toy(), store, workers=0).left == 0
    # All there: no time is needed.
    assert sweep(toy(), store, workers=0, until=monotonic() - 1.0).left == 0


def test_a_training_that_does_not_end_is_not_waited_for(
    store: Store, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_SECONDS", "60")
    start = monotonic()
    summary = sweep(toy(), store, workers=1, until=start + 2.0)
    assert 2.0 <= monotonic() - start < 10.0
    assert (summary.ran, summary.left) == (0, 12) and store.runs() == []


def test_kept_workers_serve_several_sweeps(store: Store, kept: Kept, log: Path) -> None:
    lanes = []
    for seeds in (1, 2, 3):
        assert sweep(toy(seeds=seeds), store, workers=kept).ran == 2
        assert isinstance(kept._workers, Processes)
        lanes.append([lane._ready.result() for lane in kept._workers._lanes.values()])
    # The same process all along.
    assert lanes[0] == lanes[1] == lanes[2] and len(lanes[0]) == 1
    assert (kept.slots, kept.parallel, kept.here) == (1, 1, True)
    os.kill(lanes[0][0], 0)
    kept.close()
    with pytest.raises(ProcessLookupError):
        os.kill(lanes[0][0], 0)


def test_kept_workers_are_usable_after_a_sweep_that_ended_by_time(
    store: Store, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sweep(toy(seeds=1), store, workers=kept).ran == 2
    before = kept._workers
    # What a worker has from its start: so a plan that is slow by itself.
    sleeper = Path(str(store.path)).with_name("mine.py")
    sleeper.write_text(
        "import time\ndef train(lr, batch, train_size, seed):\n"
        "    time.sleep(60 if batch == 2 else 0)\n    return 1.0\n"
    )
    problem = user_file(str(sleeper))
    plan = [Training(problem, train_size=8, lr=1.0, batch=b, model="function") for b in (1, 2)]
    start = monotonic()
    summary = sweep(plan, store, workers=kept, until=start + 1.0)
    assert monotonic() - start < 10.0
    assert summary.left >= 1 and kept._workers is not before
    assert sweep(plan[:1], store, workers=kept, until=monotonic() + 30.0).left == 0
    assert sweep(toy(seeds=3), store, workers=kept).ran == 4


def test_a_thread_left_behind_in_a_worker_is_not_waited_for(store: Store, kept: Kept) -> None:
    path = store.path.with_name("mine.py")
    path.write_text(
        "import threading, time\ndef train(lr, batch, train_size, seed):\n"
        "    threading.Thread(target=time.sleep, args=(60,)).start()\n    return 1.0\n"
    )
    plan = [Training(user_file(path), train_size=8, lr=1.0, batch=1, model="function")]
    assert sweep(plan, store, workers=kept).statuses == {"fitted": 1}
    start = monotonic()
    kept.close()
    assert monotonic() - start < 20.0


def test_in_process_workers_can_be_kept_too(store: Store) -> None:
    kept = Kept(InProcess)
    for seeds in (1, 2):
        assert sweep(toy(seeds=seeds), store, workers=kept).ran == 2
    kept.stop()
    assert sweep(toy(seeds=3), store, workers=kept).ran == 2
    kept.close()


# A run says which GPU it sees and when it began and ended.
SEES = "date +%s.%N; echo gpu $CUDA_VISIBLE_DEVICES; sleep 0.3; date +%s.%N; : {lr} {batch} {seed}"


@pytest.mark.parametrize(
    ("slots", "gpus", "most"),
    [(None, ["0", "1"], 1), (2, ["0", "1", "5"], 1), (4, ["3", "1"], 2), (3, ["0", "1"], 2)],
)
def test_runs_at_a_time_share_no_gpu_or_evenly(
    store: Store, slots: int | None, gpus: list[str], most: int
) -> None:
    told = command(SEES, r"gpu=stdout:gpu (\d)", shell=True)
    plan = grid(told, lr=1.0, batch=1, seeds=9)
    runs = sweep(plan, store, workers=slots, gpus=gpus).runs
    times: dict[str, list[tuple[float, float]]] = {}
    for folder in Path(f"{store.path}-runs").iterdir():
        begin, gpu, end = (folder / "stdout.txt").read_text().split("\n")[:3]
        times.setdefault(gpu.removeprefix("gpu "), []).append((float(begin), float(end)))
    assert times.keys() <= set(gpus) and len(times) == min(len(gpus), slots or len(gpus))
    assert sorted(run.outcome["gpu"] for run in runs) == sorted(
        float(gpu) for gpu, spans in times.items() for _ in spans
    )
    for spans in times.values():
        # How many are under way when one begins.
        at_once = [sum(b <= begin < e for b, e in spans) for begin, _ in spans]
        assert max(at_once) <= most


@pytest.mark.parametrize(
    ("workers", "gpus", "what"),
    [
        (1, ["0", "0"], "gpus = 0,0: must be different"),
        (1, [""], "must be different GPUs"),
        (0, ["0"], "gpus = 0: are given to processes, and workers = 0"),
        (-1, [], "workers = -1"),
    ],
)
def test_gpus_that_cannot_be_given(workers: int, gpus: list[str], what: str) -> None:
    with pytest.raises(InputError, match=what):
        workers_of(workers, gpus)
