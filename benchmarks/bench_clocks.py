"""Expected times against measured ones: `python benchmarks/bench_clocks.py [MODEL ...]`.

Each row is a training: the seconds of the processor that it took, those that were expected, and
their ratio. The ratios of a model should be alike, within a factor of 2 of their median: then one
constant (`_SPEED` in its `_cost.py`, divided by the median) makes them 1. A part of `make bench`.
The rows of mobilenet need the files of CIFAR-10 (docs/data.md).

How long a user's own model takes is measured when it is asked about: from trainings at two batches,
here for a third between them.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from table import Row

import sgdphase as sp
from sgdphase._diagnose.cost import TrainingTime
from sgdphase._own import user_training
from sgdphase._sweep.trainers import cost_of, train
from sgdphase.errors import InputError

Settings = dict[str, dict[str, Any]]
PERCEPTRON: Settings = {
    "noise, B = 1": {"lr": 1.0, "batch": 1},
    "noise, B = 32": {"lr": 32.0, "batch": 32},
    "first step": {"lr": 2.0**12, "batch": 256},
    "descent, B = 64": {"lr": 2.0**-4, "batch": 64},
    "descent, B = 512": {"lr": 0.25, "batch": 512},
    "margin 2^-3": {"lr": 1.0, "batch": 1, "margin": 2.0**-3},
    "momentum 0.9": {"lr": 0.5, "batch": 8, "momentum": 0.9},
    "decay 1e-3": {"lr": 1.0, "batch": 8, "weight_decay": 1e-3, "max_steps": 100_000},
}
NETWORK: Settings = {
    "noise, B = 4": {"lr": 2.0, "batch": 4},
    "noise, B = 32": {"lr": 8.0, "batch": 32},
    "descent, B = 64": {"lr": 0.5, "batch": 64},
    "descent, margin 2^-6": {"lr": 0.5, "batch": 64, "margin": 2.0**-6},
    "momentum 0.9": {"lr": 0.5, "batch": 16, "momentum": 0.9},
    "hot, to its budget": {"lr": 64.0, "batch": 2, "max_steps": 20_000},
    "decay 1e-4": {"lr": 1.0, "batch": 16, "weight_decay": 1e-4, "max_steps": 2000},
}
OWN = """import torch

def model():
    return torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))

def data():
    x = torch.randn({size}, 20, generator=torch.Generator().manual_seed(0))
    return x, (x[:, 0] * x[:, 1] > 0).long()
"""


def trainings(model: str) -> Iterator[tuple[int, str, sp.Training]]:
    """Three sizes, each with all settings."""
    if model == "perceptron":
        sizes, problem, settings = (512, 2048, 8192), sp.TeacherTask(dim=128), PERCEPTRON
        same: dict[str, Any] = {"margin": 2.0**-7, "test_size": 4096}
    elif model == "fc":
        sizes, problem, settings = (128, 512, 2048), sp.TeacherTask(dim=64), NETWORK
        same = {"model": "fc", "depth": 3, "width": 64, "margin": 2.0**-10, "test_size": 512}
    else:
        some = ("noise, B = 32", "descent, B = 64", "momentum 0.9")
        sizes, problem = (64, 128, 256), sp.CifarAnimals()
        settings = {name: NETWORK[name] | {"max_steps": 300} for name in some}
        same = {"model": "mobilenet", "width": 8, "margin": 2.0**-10, "test_size": 64}
    for size in sizes:
        for name, more in settings.items():
            yield size, name, sp.Training(problem, size, **same | more)


def took(training: sp.Training) -> float:
    began = time.process_time()
    train(training)
    return time.process_time() - began


def rows(model: str) -> Iterator[tuple[int, str, float, float]]:
    """Size, name, seconds that were measured and expected."""
    if model == "own":
        yield from own_rows()
        return
    warm = set()
    for size, name, training in trainings(model):
        if name not in warm:
            took(training)  # compiles, and reads the data
            warm.add(name)
        yield size, name, took(training), cost_of(model)(training)


def own_rows() -> Iterator[tuple[int, str, float, float]]:
    with tempfile.TemporaryDirectory() as folder:
        for size in (512, 2048, 8192):
            path = Path(folder) / f"own{size}.py"
            path.write_text(OWN.format(size=size))
            user = user_training(path)
            small, large, third = (
                user.training(lr=0.1, batch=batch, seed=0, epochs=4) for batch in (8, 256, 32)
            )
            took(large)
            clock = TrainingTime.of(8, took(small), 256, took(large))
            yield size, "B = 32, from 8 and 256", took(third), clock(32)


def main(*models: str) -> list[Row]:
    table = []
    print(f"{'model':12}{'P':>6}  {'training':24}{'took':>10}{'expected':>10}{'ratio':>8}")
    for model in models or ("perceptron", "fc", "mobilenet", "own"):
        ratios = []
        row = Row(f"expected over measured time, {model}", "", "all within a factor of 2")
        try:
            for size, name, seconds, expected in rows(model):
                ratios.append(expected / seconds)
                print(f"{model:12}{size:>6}  {name:24}{seconds:10.3f}{expected:10.3f}"
                      f"{ratios[-1]:8.2f}", flush=True)  # fmt: skip
        except InputError as error:
            print(f"{model}: {error}")
            table.append(row._replace(measured=f"not measured: {error}"))
            continue
        middle = statistics.median(ratios)
        near = sum(0.5 <= ratio <= 2 for ratio in ratios)
        measured = f"{near} of {len(ratios)}, median {middle:.2f}"
        print(f"{model}: {measured}\n")
        table.append(row._replace(measured=measured))
    return table


if __name__ == "__main__":
    main(*sys.argv[1:])
