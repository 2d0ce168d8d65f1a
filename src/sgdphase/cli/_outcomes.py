"""How the trainings of one setting ended: a table, a JSON object, a file of trajectories."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

from sgdphase._models import MODELS
from sgdphase._parameters import BY_NAME
from sgdphase._records import Outcome, Training
from sgdphase.cli._output import print_table
from sgdphase.problems import TeacherTask
from sgdphase.problems._drawn import Drawn

# Columns of seeds that fit on a terminal.
_COLUMNS = 5


def report(trainings: list[Training], outcomes: list[Outcome]) -> dict[str, Any]:
    """The setting, each run, and mean and standard error over the runs."""
    setting = trainings[0].as_dict() | {"temperature": trainings[0].temperature}
    del setting["seed"]
    runs = [
        {"seed": training.seed, "status": outcome.status} | _nest(_numbers(outcome))
        for training, outcome in zip(trainings, outcomes, strict=True)
    ]
    mean, sem = _statistics(outcomes)
    return {"training": setting, "runs": runs, "mean": _nest(mean), "sem": _nest(sem)}


def print_outcomes(trainings: list[Training], outcomes: list[Outcome]) -> None:
    """One row per number; one column per seed while they fit beside mean and standard error."""
    mean, sem = _statistics(outcomes)
    shown = outcomes if len(outcomes) <= _COLUMNS else []
    rows: list[list[Any]] = [["status", *(outcome.status for outcome in shown)]] if shown else []
    for name in mean:
        row: list[Any] = [name, *(float(_numbers(run).get(name, math.nan)) for run in shown)]
        rows.append([*row, mean[name], sem[name]] if len(outcomes) > 1 else row)
    first = trainings[0]
    counts = Counter(outcome.status for outcome in outcomes)
    print_table(
        [
            "",
            *(f"seed {training.seed}" for training in trainings[: len(shown)]),
            *(["mean", "sem"] if len(outcomes) > 1 else []),
        ],
        rows,
        f"{_setting(first)}: " + ", ".join(f"{n} {status}" for status, n in counts.items()),
    )


def write_trajectories(path: Path, outcomes: list[Outcome]) -> None:
    """As CSV, a row for each moment of each seed."""
    from sgdphase._sweep.exports import points, write_csv

    names = list(outcomes[0].trajectory)
    rows = ((seed, *row) for seed, outcome in enumerate(outcomes) for row in points(outcome, names))
    write_csv(path, ["seed", *names], rows)


def _statistics(outcomes: list[Outcome]) -> tuple[dict[str, float], dict[str, float]]:
    """Mean and standard error over the runs that have a number."""
    import numpy as np

    rows = [_numbers(outcome) for outcome in outcomes]
    mean, sem = {}, {}
    for name in max(rows, key=len):
        values = np.array([row.get(name, math.nan) for row in rows], dtype=float)
        values = values[np.isfinite(values)]
        mean[name] = float(values.mean()) if len(values) else math.nan
        sem[name] = (
            float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
        )
    return mean, sem


def _numbers(outcome: Outcome) -> dict[str, float]:
    return {"steps": outcome.steps, "time": outcome.time, **outcome.observables}


def _nest(numbers: dict[str, Any]) -> dict[str, Any]:
    """The first step's numbers as an object of their own."""
    prefix = "first_step_"
    first = {name[len(prefix) :]: x for name, x in numbers.items() if name.startswith(prefix)}
    rest = {name: x for name, x in numbers.items() if not name.startswith(prefix)}
    return rest | {"first_step": first}


def _setting(training: Training) -> str:
    task = training.problem
    where = f"{task.kind} " + (f"d={task.dim} " if isinstance(task, Drawn) else "")
    if isinstance(task, TeacherTask):
        where = f"d={task.dim} chi={task.chi:g} "
    model = MODELS.get(training.model)
    shape = {name: getattr(training, name) for name in (model.shape if model else ())}
    sizes = "".join(f" {name} {value}" for name, value in shape.items() if name != "activation")
    # What is not said unless it was chosen.
    direction = getattr(task, "direction", "axis")
    chosen = {"direction": "" if direction == "axis" else direction} | {
        name: value
        for name in ("loss", "momentum", "weight_decay", "l1", "sampler", "dynamics")
        if (value := getattr(training, name)) != BY_NAME[name].default
    }
    more = "".join(f" {name}={value}" for name, value in chosen.items() if value)
    return (
        f"{training.model}{sizes} P={training.train_size} {where}"
        f"margin={training.margin:g} lr={training.lr:g} batch={training.batch} "
        f"T={training.temperature:g}{more}"
    )
