"""`sgdphase train`: trainings of one setting, one a seed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from sgdphase._records import Outcome, Training
from sgdphase._sweep import train
from sgdphase.cli._networks import (
    Activation,
    Data,
    DataDir,
    Device,
    Dynamics,
    Loss,
    MaxSamples,
    MaxSeconds,
    MaxSteps,
    MaxTime,
    Sampler,
    TestSize,
    one_thread,
    problem_of,
    set_up,
)
from sgdphase.cli._options import JSON, integer_option, number_option
from sgdphase.cli._outcomes import print_outcomes, report, write_trajectories
from sgdphase.cli._output import print_json
from sgdphase.diagram._trajectory import draw_trajectory
from sgdphase.errors import InputError, require
from sgdphase.problems import TeacherTask

TrainSize = Annotated[int, integer_option("--train-size", "Training points P.")]
Margin = Annotated[float, number_option("--margin", "Margin kappa of the loss.")]
Trajectory = Annotated[Path | None, typer.Option(help="Write the trajectories (.csv).")]


def register(app: typer.Typer) -> None:
    """Attach the subcommand."""
    group = typer.Typer(
        help="Train a model, once for each seed, and report how it ended.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    group.command("perceptron")(perceptron)
    group.command("fc")(fc)
    group.command("mobilenet")(mobilenet)
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
    test_size: TestSize = 32768,
    json: Annotated[bool, JSON] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the trajectories over the theory (.png, .pdf, .svg).")
    ] = None,
    trajectory: Trajectory = None,
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
    outcomes = _outcomes(trainings, trajectory=plot is not None or trajectory is not None)
    if plot is not None:
        draw_trajectory(trainings[0], outcomes, plot)
    _tell(trainings, outcomes, trajectory, json)


def fc(
    data: Data = "mnist-parity",
    train_size: TrainSize = 4096,
    depth: Annotated[int, integer_option("--depth", "Hidden layers.")] = 5,
    width: Annotated[int, integer_option("--width", "Neurons of a layer.")] = 128,
    activation: Activation = "gelu",
    margin: Margin = 2**-15,
    lr: Annotated[float, number_option("--lr", "Learning rate eta.")] = 8.0,
    batch: Annotated[int, integer_option("--batch", "Batch size B, at most P.")] = 16,
    seeds: Annotated[int, integer_option("--seeds", "Number of seeds: 0, 1, ...")] = 1,
    loss: Loss = "hinge",
    sampler: Sampler = "fresh",
    dynamics: Dynamics = "sgd",
    momentum: Annotated[float, number_option("--momentum", "Momentum, from 0 to below 1.")] = 0.0,
    weight_decay: Annotated[
        float, number_option("--weight-decay", "Weight decay; then give a budget.")
    ] = 0.0,
    max_steps: MaxSteps = None,
    max_time: MaxTime = None,
    max_samples: MaxSamples = None,
    max_seconds: MaxSeconds = None,
    test_size: TestSize = 32768,
    dim: Annotated[
        int | None, integer_option("--dim", "Dimension of the teacher task, 128 if not given.")
    ] = None,
    chi: Annotated[
        float | None, number_option("--chi", "chi of the teacher task, 1 if not given.")
    ] = None,
    data_dir: DataDir = None,
    device: Device = None,
    json: Annotated[bool, JSON] = False,
    trajectory: Trajectory = None,
) -> None:
    """Train a fully connected network to zero loss.

    The predictor is F = f - f0, without biases, in the paper's parametrisation.

    Example: sgdphase train fc --data mnist-parity --train-size 4096 --margin 2^-15 --lr 8
    --batch 16 --seeds 1 --json
    """
    _train_network("fc", locals())


def mobilenet(
    data: Data = "cifar-animals",
    train_size: TrainSize = 1024,
    width: Annotated[int, integer_option("--width", "h: the first layer has 4h channels.")] = 8,
    activation: Activation = "relu",
    margin: Margin = 2**-15,
    lr: Annotated[float, number_option("--lr", "Learning rate eta.")] = 8.0,
    batch: Annotated[int, integer_option("--batch", "Batch size B, at most P.")] = 16,
    seeds: Annotated[int, integer_option("--seeds", "Number of seeds: 0, 1, ...")] = 1,
    loss: Loss = "hinge",
    sampler: Sampler = "fresh",
    dynamics: Dynamics = "sgd",
    momentum: Annotated[float, number_option("--momentum", "Momentum, from 0 to below 1.")] = 0.0,
    weight_decay: Annotated[
        float, number_option("--weight-decay", "Weight decay; then give a budget.")
    ] = 0.0,
    max_steps: MaxSteps = None,
    max_time: MaxTime = None,
    max_samples: MaxSamples = None,
    max_seconds: MaxSeconds = None,
    test_size: TestSize = 8192,
    data_dir: DataDir = None,
    device: Device = None,
    json: Annotated[bool, JSON] = False,
    trajectory: Trajectory = None,
) -> None:
    """Train the paper's convolutional network (MobileNet-like) to zero loss.

    The paper has --width 32; 8 is for one core.

    Example: sgdphase train mobilenet --data cifar-animals --train-size 512 --lr 8 --batch 16
    """
    _train_network("mobilenet", locals())


def _train_network(model: str, given: dict[str, Any]) -> None:
    set_up(given.pop("data_dir"), given.pop("device"))
    json, trajectory, seeds = given.pop("json"), given.pop("trajectory"), given.pop("seeds")
    require("seeds", seeds, lambda n: n >= 1, "an integer of at least 1")
    _check_path(trajectory, {".csv"})
    problem = problem_of(given.pop("data"), given.pop("dim", None), given.pop("chi", None))
    problem.check_sizes(given["train_size"], given["test_size"])
    trainings = [Training(problem, model=model, seed=seed, **given) for seed in range(seeds)]
    one_thread()
    outcomes = _outcomes(trainings, trajectory=trajectory is not None)
    _tell(trainings, outcomes, trajectory, json)


def _outcomes(trainings: list[Training], *, trajectory: bool) -> list[Outcome]:
    """The trainings one after the other, with progress."""
    outcomes: list[Outcome] = []
    with Progress(
        console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    ) as progress:
        bar = progress.add_task("training", total=len(trainings))
        try:
            for training in trainings:
                outcomes.append(train(training, trajectory=trajectory))
                progress.advance(bar)
        except KeyboardInterrupt:
            done = f"{len(outcomes)} of {len(trainings)} seeds"
            typer.echo(f"sgdphase: interrupted after {done}", err=True)
            raise typer.Exit(130) from None
    return outcomes


def _tell(
    trainings: list[Training], outcomes: list[Outcome], trajectory: Path | None, json: bool
) -> None:
    if trajectory is not None:
        write_trajectories(trajectory, outcomes)
    if json:
        print_json(report(trainings, outcomes))
    else:
        print_outcomes(trainings, outcomes)


def _check_path(path: Path | None, endings: set[str]) -> None:
    if path is None:
        return
    if path.suffix.lower() not in endings:
        raise InputError(f"'{path}': the name must end in {' or '.join(sorted(endings))}")
    if not path.parent.is_dir():
        raise InputError(f"'{path}': there is no folder '{path.parent}'")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"'{path}': cannot be written")
