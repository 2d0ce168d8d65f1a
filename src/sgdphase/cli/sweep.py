"""`sgdphase sweep`: run a grid of trainings into a store."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgdphase._models import NETWORKS, Model
from sgdphase.cli._networks import problem_of, set_up
from sgdphase.cli._options import JSON, Dask, DataDir, Device, WorkerCount, register_models
from sgdphase.cli._output import answer

if TYPE_CHECKING:
    from sgdphase._sweep import Plan, Store, Summary, Workers

_RANGES = """\
A RANGE is a number (2^-7), a list (1,2,8), or a range by powers of two
(2^-10..2^12) or of another factor (1..4096*4). Give two of lr, batch and
temperature. What the store has is not run again, so the same command
resumes a sweep that was stopped."""
_RESUME = """\
Trainings of more than a minute are saved once a minute, so that a sweep
that was killed resumes inside them."""


def register(app: typer.Typer, line: str) -> None:
    register_models(app, "sweep", line, _sweep, _help, grid=True)


def _help(model: Model) -> str:
    resume = f" {_RESUME}" if model.name in NETWORKS else ""
    return (
        f"Train {model.what} at every cell of a grid.\n\n{_RANGES}{resume}\n\n"
        f"Example: sgdphase sweep {model.name} {model.sweep_example}"
    )


def _sweep(
    model: Model,
    given: dict[str, Any],
    *,
    store: Annotated[Path, typer.Option(help="The file that keeps the runs; made if need be.")],
    data_dir: DataDir = None,
    device: Device = None,
    trajectories: Annotated[
        bool, typer.Option("--trajectories", help="Keep how each training went, too.")
    ] = False,
    workers: WorkerCount = None,
    dask: Dask = None,
    retry: Annotated[
        str, typer.Option(metavar="STATUSES", help="Run these again, such as failed,budget.")
    ] = "",
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first training that fails.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be run.")] = False,
    json: Annotated[bool, JSON] = False,
) -> None:
    from sgdphase._sweep import DaskWorkers, Store, grid
    from sgdphase._sweep.workers import workers_of

    set_up(data_dir, device, dask)
    if given.get("data", "teacher") == "teacher":
        given.pop("data", None)  # `grid` makes the teacher tasks
    else:
        task = {name: given.pop(name, None) for name in ("dim", "chi")}
        given["problem"] = problem_of(given.pop("data"), **task)
    plan = grid(model=model.name, **given)
    opened = Store(store)
    team = DaskWorkers(dask) if dask else workers_of(workers)
    again = tuple(part.strip() for part in retry.split(",") if part.strip())
    what = {"trajectories": trajectories, "retry": again}
    if dry_run:
        answer(_say_plan(plan, opened, team, **what), json)
        return
    summary = _run(plan, opened, team, fail_fast=fail_fast, **what)
    answer({**summary.as_dict(), "left_out": plan.left_out, "store": str(opened.path)}, json)
    if summary.statuses.get("failed"):
        said = next(run.traceback for run in summary.runs if run.outcome.status == "failed")
        _say(f"some failed, such as: {said.strip().splitlines()[-1]}")
        _say(f"`sgdphase export {opened.path} runs.csv` shows their tracebacks")
        raise typer.Exit(1)


def _say_plan(plan: Plan, store: Store, team: Workers, **what: Any) -> dict[str, float]:
    from sgdphase._sweep import missing
    from sgdphase.stats import duration

    jobs = missing(plan, store, **what)
    costs = [job.cost for job in jobs]
    seconds = max(sum(costs) / team.parallel, max(costs, default=0.0))
    team.stop()
    done = len(plan) - len(jobs)
    _say(
        f"{len(plan)} trainings, {done} done, {len(jobs)} to run, "
        f"{plan.left_out} cells left out (batch too large); expected time {duration(seconds)} "
        f"on {team.parallel} workers"
    )
    return {"planned": len(plan), "done_before": done, "left": len(jobs),
            "left_out": plan.left_out, "expected_seconds": seconds}  # fmt: skip


def _run(plan: Plan, store: Store, team: Workers, **what: Any) -> Summary:
    from sgdphase._sweep import Stopped, SweepError, progress_on, sweep
    from sgdphase._sweep.progress import statuses_in_words
    from sgdphase.stats import duration

    if plan.left_out:
        _say(f"{plan.left_out} cells left out: batch outside 1 to the train size")
    try:
        summary = sweep(plan, store, workers=team, progress=progress_on(), **what)
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
    return summary


def _say(text: str) -> None:
    typer.echo(f"sgdphase: {text}", err=True)
