"""Speed of the simulator against the plain loop, both measured in this run.

Each row: mean seconds of a training over the same training sets, alternating the two programs so
that a busy machine slows both. Then the grid of Fig. 1A, five seeds, on two workers: the plain loop
would take hours, so it is timed per drawn point at each batch size and multiplied by the points
that the grid's trainings draw. A part of `make bench`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from reference import reference_sgd
from table import Row

from sgdphase import Points, Store, TeacherTask, grid, simulate_sgd, sweep

DIM, MARGIN, SIZE = 128, 2.0**-7, 8192

# name, chi, batch, lr, seeds, wanted ratio
ROWS = [
    ("(a) B=1, lr=1", 1.0, 1, 1.0, 10, 1.0),
    ("(b) full batch, lr=2^-5", 1.0, SIZE, 2.0**-5, 1, 10.0),
    ("(c) B=512, lr=2^-6", 1.0, 512, 2.0**-6, 2, 5.0),
    ("(d) late stage: chi=0, B=8, lr=16", 0.0, 8, 16.0, 4, None),
]


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def compare(chi: float, batch: int, lr: float, seeds: int) -> tuple[float, float]:
    """Mean seconds of the plain loop and of the simulator."""
    plain, fast = [], []
    for seed in range(seeds):
        points = Points.of(TeacherTask(DIM, chi).train_set(SIZE, seed))
        setting = {"margin": MARGIN, "lr": lr, "batch": batch, "seed": seed}
        fast.append(seconds(lambda p=points, s=setting: simulate_sgd(p, **s)))
        plain.append(seconds(lambda p=points, s=setting: reference_sgd(p.z, **s, max_steps=10**12)))
    return float(np.mean(plain)), float(np.mean(fast))


def main() -> list[Row]:
    warm = Points.of(TeacherTask(DIM).train_set(64, 0))  # compile both
    simulate_sgd(warm, margin=MARGIN, lr=1.0, batch=1)
    reference_sgd(warm.z, margin=MARGIN, lr=1.0, batch=1, seed=0, max_steps=10)
    print(f"P={SIZE} d={DIM} chi=1 margin=2^-7 unless stated otherwise; seconds per training")
    print(f"{'':36}{'plain loop':>12}{'sgdphase':>12}{'ratio':>8}{'wanted':>8}")
    table = []
    for name, chi, batch, lr, seeds, wanted in ROWS:
        plain, fast = compare(chi, batch, lr, seeds)
        goal = "" if wanted is None else f"{wanted:g}"
        print(f"{name:36}{plain:12.4f}{fast:12.4f}{plain / fast:8.1f}{goal:>8}", flush=True)
        measured = f"{fast:.3g} s, plain loop {plain:.3g} s: {plain / fast:.1f} times"
        table.append(Row(f"perceptron, {name}", measured, f"{goal} times" if goal else ""))
    return table + whole_grid()


def whole_grid(seeds: int = 5) -> list[Row]:
    """Fig. 1A at chi = 1: 322 trainings per seed."""
    lrs, batches = [2.0**k for k in range(-10, 13)], [2**k for k in range(14)]
    plan = grid(
        train_size=SIZE, dim=DIM, chi=1.0, margin=MARGIN, lr=lrs, batch=batches, seeds=seeds
    )
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "grid.sqlite")
        wall = seconds(lambda: sweep(plan, store, workers=2))
        runs = store.runs()
    points = Points.of(TeacherTask(DIM, 1.0).train_set(SIZE, 0))
    nanoseconds = {batch: plain_nanoseconds(points, batch) for batch in batches}
    plain = sum(
        run.outcome.steps * run.training.batch * nanoseconds[run.training.batch] * 1e-9
        for run in runs
    )
    fast = sum(run.seconds for run in runs)
    measured = f"{wall:.0f} s, plain loop about {plain / 2:.0f} s: {plain / fast:.0f} times"
    print(f"\ngrid of Fig. 1A, {len(plan)} trainings on 2 workers: {measured}")
    return [Row(f"Fig. 1A, {len(plan)} trainings on two cores", measured, "120 s")]


def plain_nanoseconds(points: Points, batch: int) -> float:
    """Time of the plain loop for each drawn point, late enough that few are unfitted."""
    steps = max(2_000_000 // batch, 10)
    last = 0

    def work() -> None:
        nonlocal last
        _, last = reference_sgd(
            points.z, margin=MARGIN, lr=64.0, batch=batch, seed=0, max_steps=steps
        )

    took = seconds(work)
    return took * 1e9 / (max(last, 1) * batch)


if __name__ == "__main__":
    main()
