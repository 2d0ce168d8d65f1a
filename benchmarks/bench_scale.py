"""Large trainings and large sweeps: CPU seconds and memory against size, overhead per training.

Part of `make bench`. `python benchmarks/bench_scale.py trainings` or `... sweep` runs one half.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

CHI, MARGIN, TEMPERATURE = 1.0, 2.0**-7, 0.25
SIZES = [(2**k, 128) for k in range(10, 21, 2)]
DIMENSIONS = [(2**14, 2**k) for k in range(5, 11)]
LARGEST = (2**17, 1024)
MOST_MEMORY = 4.0  # GB

# Run in a process of its own, so that its memory is its own.
CHILD = """\
import json, resource, sys, time
import sgdphase as sp
size, dim, chi, margin, lr = map(float, sys.argv[1:])
task = sp.TeacherTask(dim=int(dim), chi=chi)
def train(size):
    return sp.train(sp.Training(task, train_size=size, margin=margin, lr=lr, batch=1))
train(64)
began = time.process_time()
outcome = train(int(size))
seconds = time.process_time() - began
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
print(json.dumps([seconds, memory, outcome.steps, outcome.status]))
"""


def measured(size: int, dim: int) -> tuple[float, float, float]:
    """CPU seconds, memory in GB and steps of a training with batch 1."""
    given = (size, dim, CHI, MARGIN, TEMPERATURE)
    said = subprocess.check_output([sys.executable, "-c", CHILD, *map(str, given)], text=True)
    seconds, memory, steps, status = json.loads(said)
    assert status == "fitted", status
    print(f"{size:>9}{dim:>6}{seconds:12.3g}{memory:10.2f}{steps:16}", flush=True)
    return seconds, memory, steps


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """The exponent over the upper half, where constant costs are small."""
    half = len(x) // 2
    return float(np.polyfit(np.log(x[half:]), np.log(y[half:]), 1)[0])


def trainings() -> None:
    print(f"batch 1, T = {TEMPERATURE}, chi = {CHI:g}, margin = 2^-7")
    print(f"{'P':>9}{'d':>6}{'CPU s':>12}{'GB':>10}{'steps':>16}")
    by_size = [measured(*each) for each in SIZES]
    by_dim = [measured(*each) for each in DIMENSIONS]
    largest = measured(*LARGEST)
    sizes, dims = [size for size, _ in SIZES], [dim for _, dim in DIMENSIONS]
    for of, values, rows in (("P", sizes, by_size), ("d", dims, by_dim)):
        seconds, _, steps = zip(*rows, strict=True)
        print(
            f"exponents of {of}: CPU {slope(values, seconds):.2f}, steps {slope(values, steps):.2f}"
        )
    print(f"theory: t* ~ T P^b, b = {1 + 2 / (1 + CHI):g}")
    memory = max(largest[1], by_size[-1][1])
    print(f"most memory: {memory:.2f} GB (target: below {MOST_MEMORY:g})")


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def sweep_of_many(count: int = 100_000) -> None:
    import sgdphase as sp

    side = round(math.sqrt(count / 10))
    rates = np.geomspace(2.0**-3, 2.0**3, side).tolist()
    plan = sp.grid(
        dim=4, train_size=side, lr=rates, batch=range(1, side + 1), seeds=10, test_size=16
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "runs.sqlite"
        workers = os.cpu_count() or 1
        wall = seconds(lambda: sp.sweep(plan, file, workers=workers))
        store = sp.Store(file)
        runs: list[Any] = []
        reading = seconds(lambda: runs.extend(store.runs()))
        inside = sum(run.seconds for run in runs)
        overhead = 1e3 * (wall * workers - inside) / len(runs)
        size = file.stat().st_size / len(runs)
        print(f"\nsweep of {len(runs)} trainings on {workers} processes: {wall:.0f} s, of which "
              f"{inside / workers:.0f} s in trainings")  # fmt: skip
        print(f"overhead: {overhead:.2f} ms of a core per training (target: below 1)")
        print(f"store: {size:.0f} bytes per training (target: below 1000)")
        print(f"reading all runs: {reading:.1f} s")
        for command in ("runs", f"export {folder}/runs.csv", "diagram"):
            name, *rest = command.split()
            line = [sys.executable, "-m", "sgdphase", name, str(file), *rest]
            took = seconds(lambda line=line: subprocess.check_output(line))
            print(f"sgdphase {name}: {took:.1f} s")


if __name__ == "__main__":
    parts = {"trainings": trainings, "sweep": sweep_of_many}
    for name in sys.argv[1:] or parts:
        parts[name]()
