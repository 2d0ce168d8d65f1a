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
from table import Row

CHI, MARGIN, TEMPERATURE = 1.0, 2.0**-7, 0.25
SIZES = [(2**k, 128) for k in range(10, 21, 2)]
DIMENSIONS = [(2**14, 2**k) for k in range(5, 11)]
LARGEST = (2**17, 1024)
MOST_MEMORY = 4.0  # GB

# Run in a process of its own, so that its memory is its own.
CHILD = """\
import json, sys, time
import sgdphase as sp
size, dim, chi, margin, lr = map(float, sys.argv[1:])
task = sp.TeacherTask(dim=int(dim), chi=chi)
def train(size):
    return sp.train(sp.Training(task, train_size=size, margin=margin, lr=lr, batch=1))
train(64)
began = time.process_time()
outcome = train(int(size))
seconds = time.process_time() - began
# Not ru_maxrss, which begins with the memory of the process that started this one.
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
memory = int(status["VmHWM"].split()[0]) * 1024 / 1e9
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


def trainings() -> list[Row]:
    print(f"batch 1, T = {TEMPERATURE}, chi = {CHI:g}, margin = 2^-7")
    print(f"{'P':>9}{'d':>6}{'CPU s':>12}{'GB':>10}{'steps':>16}")
    by_size, by_dim = ([measured(*each) for each in cells] for cells in (SIZES, DIMENSIONS))
    largest = {each: measured(*each) for each in [LARGEST]} | {SIZES[-1]: by_size[-1]}
    table = []
    for of, values, rows in (
        ("P", [size for size, _ in SIZES], by_size),
        ("d", [dim for _, dim in DIMENSIONS], by_dim),
    ):
        cpu, _, steps = (slope(values, column) for column in zip(*rows, strict=True))
        theory = f" (theory of the time: {1 + 2 / (1 + CHI):g})" if of == "P" else ""
        found = f"CPU time ~ {of}^{cpu:.2f}, steps ~ {of}^{steps:.2f}{theory}"
        table.append(Row(f"perceptron, B = 1, cost against {of}", found))
    for (size, dim), (cpu, memory, _) in largest.items():
        table.append(
            Row(
                f"perceptron, P = {size}, d = {dim}, B = 1",
                f"{memory:.1f} GB, {cpu:.0f} s",
                f"{MOST_MEMORY:g} GB",
                f"points alone {8e-9 * size * dim:.1f} GB",
            )
        )
    print(*(f"{row.what}: {row.measured}" for row in table), sep="\n")
    return table


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def sweep_of_many(count: int = 100_000) -> list[Row]:
    import sgdphase as sp

    side, workers = round(math.sqrt(count / 10)), os.cpu_count() or 1
    rates = np.geomspace(2.0**-3, 2.0**3, side).tolist()
    plan = sp.grid(
        dim=4, train_size=side, lr=rates, batch=range(1, side + 1), seeds=10, test_size=16
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "runs.sqlite"
        wall = seconds(lambda: sp.sweep(plan, file, workers=workers))
        inside = sum(run.seconds for run in sp.Store(file).runs())
        overhead = 1e3 * (wall * workers - inside) / len(plan)
        table = [
            Row(f"overhead of a training, in a sweep of {len(plan)}", f"{overhead:.2f} ms", "1 ms"),
            Row("size of a run in the store", f"{file.stat().st_size / len(plan):.0f} B", "1000 B"),
        ]
        for name, *rest in (["runs"], ["export", f"{folder}/runs.csv"], ["diagram"]):
            line = [sys.executable, "-m", "sgdphase", name, str(file), *rest]
            took = seconds(lambda line=line: subprocess.check_output(line))
            table.append(Row(f"`sgdphase {name}` of it", f"{took:.1f} s", "seconds"))
    print(*(f"{row.what}: {row.measured}" for row in table), sep="\n")
    return table


def main(*names: str) -> list[Row]:
    parts = {"trainings": trainings, "sweep": sweep_of_many}
    return [row for name in names or parts for row in parts[name]()]


if __name__ == "__main__":
    main(*sys.argv[1:])
