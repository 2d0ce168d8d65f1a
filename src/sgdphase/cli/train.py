"""`sgdphase train`: trainings of one setting, one per seed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgdphase._models import NETWORKS, Model
from sgdphase.cli._networks import one_thread, problem_of, set_up
from sgdphase.cli._options import JSON, DataDir, Device, register_models
from sgdphase.errors import PICTURES, InputError, check_output, require

if TYPE_CHECKING:
    from sgdphase._records import Outcome, Training


def register(app: typer.Typer, line: str) -> None:
    register_models(app, "train", line, _train, _help, grid=False)


def _help(model: Model) -> str:
    example = f"Example: sgdphase train {model.name} {model.train_example}"
    return "\n\n".join(filter(None, [f"Train {model.what} to zero loss.", model.note, example]))


def _train(
    model: Model,
    given: dict[str, Any],
    *,
    data_dir: DataDir = None,
    device: Device = None,
    json: Annotated[bool, JSON] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the trajectories over the theory (.png, .pdf, .svg).")
    ] = None,
    trajectory: Annotated[Path | None, typer.Option(help="Write the trajectories (.csv).")] = None,
) -> None:
    from sgdphase._records import Training
    from sgdphase._sweep.plan import MOST, OF_PROBLEM, problems_of
    from sgdphase.cli._outcomes import print_outcomes, report, write_trajectories
    from sgdphase.cli._output import answer

    set_up(data_dir, device)
    seeds = given.pop("seeds")
    require("seeds", seeds, lambda n: 1 <= n <= MOST, f"an integer from 1 to {MOST}")
    if plot is not None:
        check_output(plot, PICTURES)
    if trajectory is not None:
        check_output(trajectory, (".csv",))
    fields = {name: given.pop(name) for name in OF_PROBLEM if name in given}
    (problem,) = problems_of(problem_of(given.pop("data")), fields)
    problem.check_sizes(given["train_size"], given["test_size"])
    trainings = Training(problem, model=model.name, **given).with_seeds(range(seeds))
    if plot is not None and (trainings[0].loss != "hinge" or trainings[0].l1 > 0):
        raise InputError("--plot: the theory is of the hinge loss without l1; give --trajectory")
    if model.name in NETWORKS:
        one_thread()
    outcomes = _outcomes(trainings, trajectory=plot is not None or trajectory is not None)
    if plot is not None:
        from sgdphase.diagram._trajectory import draw_trajectory

        draw_trajectory(trainings[0], outcomes, plot)
    if trajectory is not None:
        write_trajectories(trajectory, outcomes)
    answer(report(trainings, outcomes), json, lambda: print_outcomes(trainings, outcomes))


def _outcomes(trainings: list[Training], *, trajectory: bool) -> list[Outcome]:
    from rich.console import Console
    from rich.progress import Progress

    from sgdphase._sweep import train
    from sgdphase._sweep.trainers import delay_of

    outcomes: list[Outcome] = []
    if delay := delay_of(trainings[:1]):
        typer.echo(f"sgdphase: {delay}", err=True)
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
