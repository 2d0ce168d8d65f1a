"""`sgdphase train`: trainings of one setting, one a seed."""

from __future__ import annotations

import csv
import math
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress

from sgdphase.cli._options import JSON, integer_option, number_option
from sgdphase.cli._output import print_json, print_table
from sgdphase.errors import InputError, require
from sgdphase.figures.trajectory import draw_trajectory
from sgdphase.perceptron import train
from sgdphase.problems import TeacherTask
from sgdphase.records import Outcome, Training

# What is reported of every run, in this order.
_NUMBERS = (
    "steps",
    "time",
    "w1",
    "w_perp",
    "alignment",
    "unfitted",
    "train_error",
    "test_error",
    "first_step_w1",
    "first_step_w_perp",
    "crossover_time",
)
# Columns of seeds that fit on a terminal.
_COLUMNS = 5


def register(app: typer.Typer) -> None:
    """Attach the subcommand."""
    group = typer.Typer(
        help="Train a model, once for each seed, and report how it ended.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    group.command("perceptron")(perceptron)
    app.add_typer(group, name="train")


def perceptron(
    train_size: Annotated[int, integer_option("--train-size", "Training points P.")] = 8192,
    dim: Annotated[int, integer_option("--dim", "Input dimension d.")] = 128,
    chi: Annotated[float, number_option("--chi", "Depletion exponent, above -1.")] = 1.0,
    margin: Annotated[float, number_option("--margin", "Margin kappa of the hinge loss.")] = 2**-7,
    lr: Annotated[float, number_option("--lr", "Learning rate eta.")] = 16.0,
    batch: Annotated[int, integer_option("--batch", "Batch size B, at most P.")] = 8,
    seeds: Annotated[int, integer_option("--seeds", "Number of seeds: 0, 1, ...")] = 1,
    momentum: Annotated[float, number_option("--momentum", "Momentum, from 0 to below 1.")] = 0.0,
    weight_decay: Annotated[
        float, number_option("--weight-decay", "Weight decay Lambda; then give --max-time.")
    ] = 0.0,
    max_time: Annotated[
        float | None, number_option("--max-time", "Stop at this time (lr x steps).")
    ] = None,
    max_steps: Annotated[int | None, integer_option("--max-steps", "Stop after N steps.")] = None,
    test_size: Annotated[int, integer_option("--test-size", "Test points.")] = 32768,
    json: Annotated[bool, JSON] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the trajectories over the theory (.png, .pdf, .svg).")
    ] = None,
    trajectory: Annotated[Path | None, typer.Option(help="Write the trajectories (.csv).")] = None,
) -> None:
    """Train the perceptron on the teacher task.

    Example: sgdphase train perceptron --train-size 8192 --dim 128 --chi 1 --margin 2^-7
    --lr 16 --batch 8 --seeds 5
    """
    require("seeds", seeds, lambda n: n >= 1, "an integer of at least 1")
    _check_path(plot, {".png", ".pdf", ".svg"})
    _check_path(trajectory, {".csv"})
    trainings = [
        Training(
            problem=TeacherTask(dim=dim, chi=chi),
            train_size=train_size,
            lr=lr,
            batch=batch,
            margin=margin,
            momentum=momentum,
            weight_decay=weight_decay,
            seed=seed,
            test_size=test_size,
            max_steps=max_steps,
            max_time=max_time,
        )
        for seed in range(seeds)
    ]
    along = plot is not None or trajectory is not None
    outcomes = []
    with Progress(
        console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    ) as progress:
        bar = progress.add_task("training", total=seeds)
        try:
            for training in trainings:
                outcomes.append(train(training, trajectory=along))
                progress.advance(bar)
        except KeyboardInterrupt:
            typer.echo(f"sgdphase: interrupted after {len(outcomes)} of {seeds} seeds", err=True)
            raise typer.Exit(130) from None
    if trajectory is not None:
        _write_trajectories(trajectory, outcomes)
    if plot is not None:
        draw_trajectory(trainings[0], outcomes, plot)
    if json:
        print_json(_report(trainings, outcomes))
    else:
        _print(trainings, outcomes)


def _check_path(path: Path | None, endings: set[str]) -> None:
    if path is None:
        return
    if path.suffix.lower() not in endings:
        raise InputError(f"'{path}': the name must end in {' or '.join(sorted(endings))}")
    if not path.parent.is_dir():
        raise InputError(f"'{path}': there is no folder '{path.parent}'")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"'{path}': cannot be written")


def _numbers(outcome: Outcome) -> dict[str, float]:
    return {name: float(getattr(outcome, name)) for name in _NUMBERS}


def _nest(numbers: dict[str, Any]) -> dict[str, Any]:
    """The first step's numbers as an object of their own."""
    first = {name: numbers.pop(f"first_step_{name}") for name in ("w1", "w_perp")}
    return numbers | {"first_step": first}


def _statistics(outcomes: list[Outcome]) -> tuple[dict[str, float], dict[str, float]]:
    """Mean and standard error over the runs that have a number."""
    mean, sem = {}, {}
    for name in _NUMBERS:
        values = np.array([getattr(outcome, name) for outcome in outcomes], dtype=float)
        values = values[np.isfinite(values)]
        mean[name] = float(values.mean()) if len(values) else math.nan
        sem[name] = (
            float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
        )
    return mean, sem


def _report(trainings: list[Training], outcomes: list[Outcome]) -> dict[str, Any]:
    setting = trainings[0].as_dict() | {"temperature": trainings[0].temperature}
    del setting["seed"]
    runs = [
        {"seed": training.seed, "status": outcome.status}
        | _nest(_numbers(outcome) | {"steps": outcome.steps})
        for training, outcome in zip(trainings, outcomes, strict=True)
    ]
    mean, sem = _statistics(outcomes)
    return {"training": setting, "runs": runs, "mean": _nest(mean), "sem": _nest(sem)}


def _print(trainings: list[Training], outcomes: list[Outcome]) -> None:
    """One row a number; one column a seed while they fit beside mean and standard error."""
    mean, sem = _statistics(outcomes)
    shown = outcomes if len(outcomes) <= _COLUMNS else []
    rows: list[list[Any]] = [["status", *(outcome.status for outcome in shown)]] if shown else []
    for name in _NUMBERS:
        row: list[Any] = [name, *(float(getattr(outcome, name)) for outcome in shown)]
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
        f"perceptron P={first.train_size} d={first.problem.dim} chi={first.problem.chi:g} "
        f"margin={first.margin:g} lr={first.lr:g} batch={first.batch} T={first.temperature:g}: "
        + ", ".join(f"{number} {status}" for status, number in counts.items()),
    )


def _write_trajectories(path: Path, outcomes: list[Outcome]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        names = list(outcomes[0].trajectory)
        writer.writerow(["seed", *names])
        for seed, outcome in enumerate(outcomes):
            columns = [outcome.trajectory[name].tolist() for name in names]
            writer.writerows([seed, *row] for row in zip(*columns, strict=True))
