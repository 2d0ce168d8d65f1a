"""`sgdphase sweep`: run a grid of trainings into a store."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sgdphase.cli._output import print_json
from sgdphase.cli._values import integer, integers, number, numbers
from sgdphase.sweep import DaskWorkers, Plan, Stopped, Store, SweepError, grid, missing, progress_on
from sgdphase.sweep import sweep as run_sweep
from sgdphase.sweep.progress import duration, statuses_in_words
from sgdphase.sweep.workers import Workers, workers_of


def perceptron(
    store: Annotated[Path, typer.Option(help="The file that keeps the runs; made if need be.")],
    train_size: Annotated[
        Any, typer.Option(parser=integers, metavar="RANGE", help="Number of training points P.")
    ] = "8192",
    dim: Annotated[
        Any, typer.Option(parser=integers, metavar="RANGE", help="Dimension of the inputs d.")
    ] = "128",
    chi: Annotated[
        Any, typer.Option(parser=numbers, metavar="RANGE", help="Depletion at the boundary.")
    ] = "1",
    margin: Annotated[
        Any, typer.Option(parser=numbers, metavar="RANGE", help="Margin of the hinge loss.")
    ] = "2^-7",
    lr: Annotated[Any, typer.Option(parser=numbers, metavar="RANGE", help="Learning rate.")] = None,
    batch: Annotated[
        Any, typer.Option(parser=integers, metavar="RANGE", help="Batch size.")
    ] = None,
    temperature: Annotated[
        Any,
        typer.Option(
            parser=numbers, metavar="RANGE", help="lr / batch, in the place of one of them."
        ),
    ] = None,
    momentum: Annotated[Any, typer.Option(parser=numbers, metavar="RANGE", help="Momentum.")] = "0",
    weight_decay: Annotated[
        Any, typer.Option(parser=numbers, metavar="RANGE", help="Weight decay.")
    ] = "0",
    seeds: Annotated[
        int, typer.Option(parser=integer, metavar="N", help="Number of seeds of each cell.")
    ] = 1,
    max_time: Annotated[
        float | None,
        typer.Option(parser=number, metavar="T", help="Budget: lr x steps of a training."),
    ] = None,
    max_steps: Annotated[
        int | None, typer.Option(parser=integer, metavar="N", help="Budget: steps of a training.")
    ] = None,
    trajectories: Annotated[
        bool, typer.Option("--trajectories", help="Keep how each training went, too.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes; by default one a core, 0 for none.", show_default=False),
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster at ADDRESS.")
    ] = None,
    retry: Annotated[
        str, typer.Option(metavar="STATUSES", help="Run these again, such as failed,budget.")
    ] = "",
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first training that fails.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be run.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object when it ends.")
    ] = False,
) -> None:
    """Train the perceptron on the teacher task at every cell of a grid.

    A RANGE is a number (2^-7), a list (1,2,8), or a range by powers of two
    (2^-10..2^12) or of another factor (1..4096*4). Give two of lr, batch and
    temperature. What the store has is not run again, so the same command
    resumes a sweep that was stopped.

    Example: sgdphase sweep perceptron --lr 2^-4..2^4 --batch 1..256*4
    --seeds 3 --store runs.sqlite
    """
    plan = grid(
        train_size=train_size,
        dim=dim,
        chi=chi,
        margin=margin,
        lr=lr,
        batch=batch,
        temperature=temperature,
        momentum=momentum,
        weight_decay=weight_decay,
        seeds=seeds,
        max_steps=max_steps,
        max_time=max_time,
    )
    again = tuple(part.strip() for part in retry.split(",") if part.strip())
    opened = Store(store)
    team = DaskWorkers(dask) if dask else workers_of(workers)
    if dry_run:
        _say_plan(plan, opened, team, trajectories, again, as_json)
    else:
        _sweep(plan, opened, team, trajectories, again, fail_fast, as_json)


def register(app: typer.Typer) -> None:
    sweeps = typer.Typer(
        help="Run a grid of trainings, each once, into a store.", no_args_is_help=True
    )
    sweeps.command()(perceptron)
    app.add_typer(sweeps, name="sweep")


def _say_plan(
    plan: Plan,
    store: Store,
    team: Workers,
    trajectories: bool,
    retry: Sequence[str],
    as_json: bool,
) -> None:
    jobs = missing(plan, store, trajectories=trajectories, retry=retry)
    costs = [job.cost for job in jobs]
    seconds = max(sum(costs) / team.parallel, max(costs, default=0.0))
    team.stop()
    _say(
        f"{len(plan)} trainings, {len(plan) - len(jobs)} done, {len(jobs)} to run, "
        f"{plan.left_out} cells left out (batch too large); expected time {duration(seconds)} "
        f"on {team.parallel} workers"
    )
    if as_json:
        summary = {
            "planned": len(plan),
            "done_before": len(plan) - len(jobs),
            "left": len(jobs),
            "left_out": plan.left_out,
            "expected_seconds": seconds,
        }
        print_json(summary)


def _sweep(
    plan: Plan,
    store: Store,
    team: Workers,
    trajectories: bool,
    retry: Sequence[str],
    fail_fast: bool,
    as_json: bool,
) -> None:
    if plan.left_out:
        _say(f"{plan.left_out} cells left out: batch outside 1 to the train size")
    try:
        summary = run_sweep(
            plan,
            store,
            workers=team,
            trajectories=trajectories,
            retry=retry,
            fail_fast=fail_fast,
            progress=progress_on(),
        )
    except Stopped as stopped:
        done = stopped.summary.planned - stopped.summary.left
        name = signal.Signals(stopped.signum).name
        _say(
            f"stopped ({name}): {done} of {stopped.summary.planned} done and kept in "
            f"{store.path}; the same command resumes"
        )
        raise typer.Exit(128 + stopped.signum) from None
    except SweepError as error:
        _say(str(error))
        raise typer.Exit(1) from None
    counts = statuses_in_words(summary.statuses)
    _say(
        f"{summary.ran} run in {duration(summary.seconds)}{f' ({counts})' if counts else ''}, "
        f"{summary.done_before} were done, {summary.left} left; store {store.path}"
    )
    if as_json:
        content = {**summary.as_dict(), "left_out": plan.left_out, "store": str(store.path)}
        print_json(content)
    if summary.statuses.get("failed"):
        _say(f"some failed; `sgdphase export {store.path} runs.csv` shows their tracebacks")
        raise typer.Exit(1)


def _say(text: str) -> None:
    typer.echo(f"sgdphase: {text}", err=True)
