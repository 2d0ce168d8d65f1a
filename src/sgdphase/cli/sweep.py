"""`sgdphase sweep`: run a grid of trainings into a store."""

from __future__ import annotations

import math
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgdphase._models import MODELS, NETWORKS, Model
from sgdphase.cli._networks import problem_of, refuse_with_dask, set_up
from sgdphase.cli._options import (
    JSON,
    Dask,
    DataDir,
    Depends,
    Device,
    Gpus,
    Metrics,
    Shell,
    Slots,
    Timeout,
    WorkerCount,
    model_command,
    parts,
    register_models,
)
from sgdphase.cli._output import answer
from sgdphase.errors import InputError

if TYPE_CHECKING:
    from sgdphase._sweep import Plan, Store, Summary, Workers

_RANGES = """\
A RANGE is a number (2^-7), a list (1,2,8), or a range by powers of two
(2^-10..2^12) or of another factor (1..4096*4). Give two of lr, batch and
temperature. What the store has is not run again, so the same command
resumes a sweep that was stopped."""
_RETRY = typer.Option(metavar="STATUSES", help="Run these again, such as failed,budget.")
_FAIL_FAST = typer.Option("--fail-fast", help="Stop at the first training that fails.")
_DRY_RUN = typer.Option("--dry-run", help="Only say what would be run.")
_STORE = typer.Option(help="The file that keeps the runs; made if need be.")
_RESUME = """\
Trainings of more than a minute are saved once a minute, so that a sweep
that was killed resumes inside them."""

_COMMAND_HELP = f"""\
Run a command line of yours at every cell of a grid.

COMMAND has {{lr}} and {{batch}}, and maybe {{epochs}}, {{seed}}, {{train_size}};
{{{{ is a brace. Each run works in a folder of its own, in STORE-runs, where
its output is kept ({{out}}). Words with a / or an ending that name a file or
folder of the present directory ({{start}}) are made absolute, so that python
train.py finds its file. No shell reads it, unless you say --shell. If a file
that the command names changes, its runs are made again.

{_RANGES}

Example: sgdphase sweep command 'python train.py --lr {{lr}} --bs {{batch}} --seed {{seed}}'
--lr 2^-10..2^-4 --batch 16..1024*4 --seeds 3 --metric val_loss=json:metrics.json
--store runs.sqlite"""


def register(app: typer.Typer, line: str) -> None:
    group = register_models(app, "sweep", line, _sweep, _help, grid=True)
    add = group.command("command", help=_COMMAND_HELP, short_help="A command line of yours.")
    add(model_command(_sweep_command, MODELS["command"], grid=True))


def _help(model: Model) -> str:
    resume = f" {_RESUME}" if model.name in NETWORKS else ""
    return (
        f"Train {model.what} at every cell of a grid.\n\n{_RANGES}{resume}\n\n"
        f"Example: sgdphase sweep {model.name} {model.sweep_example} --store {model.name}.sqlite"
    )


def _sweep(
    model: Model,
    given: dict[str, Any],
    *,
    store: Annotated[Path, _STORE],
    data_dir: DataDir = None,
    device: Device = None,
    trajectories: Annotated[
        bool, typer.Option("--trajectories", help="Keep how each training went, too.")
    ] = False,
    workers: WorkerCount = None,
    dask: Dask = None,
    retry: Annotated[str, _RETRY] = "",
    fail_fast: Annotated[bool, _FAIL_FAST] = False,
    dry_run: Annotated[bool, _DRY_RUN] = False,
    json: Annotated[bool, JSON] = False,
) -> None:
    from sgdphase._sweep import DaskWorkers, Store, grid
    from sgdphase._sweep.trainers import check_fits
    from sgdphase._sweep.workers import workers_of

    set_up(data_dir, device, dask)
    refuse_with_dask(dask, workers=workers)
    plan = grid(problem_of(given.pop("data")), model=model.name, **given)
    if not dask:  # whose workers may have more
        check_fits(plan)
    opened = Store(store)
    team = DaskWorkers(dask) if dask else workers_of(workers)
    what = {"trajectories": trajectories, "retry": parts(retry)}
    _answer(plan, opened, team, what, fail_fast=fail_fast, dry_run=dry_run, json=json)


def _sweep_command(
    model: Model,
    given: dict[str, Any],
    *,
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="The command, in quotes.")],
    store: Annotated[Path, _STORE],
    metric: Metrics = None,
    depends: Depends = "",
    shell: Shell = False,
    timeout: Timeout = None,
    slots: Slots = None,
    gpus: Gpus = "",
    dask: Dask = None,
    retry: Annotated[str, _RETRY] = "",
    fail_fast: Annotated[bool, _FAIL_FAST] = False,
    dry_run: Annotated[bool, _DRY_RUN] = False,
    json: Annotated[bool, JSON] = False,
) -> None:
    from sgdphase._own import command as command_of
    from sgdphase._sweep import DaskWorkers, Store, grid
    from sgdphase._sweep.workers import workers_of

    problem = command_of(
        command, metric or (), depends=parts(depends), shell=shell, timeout=timeout
    )
    if given["train_size"] is not None and "train_size" not in problem.placeholders:
        raise InputError("--train-size: the command has no {train_size}")
    plan = grid(problem, **given)
    opened = Store(store)
    refuse_with_dask(dask, slots=slots, gpus=gpus)
    team = DaskWorkers(dask) if dask else workers_of(slots, parts(gpus))
    for note in problem.notes:
        if given["seeds"] > 1 or "{seed}" not in note:
            _say(f"warning: {note}")
    what = {"retry": parts(retry)}
    _answer(plan, opened, team, what, fail_fast=fail_fast, dry_run=dry_run, json=json)


def _answer(
    plan: Plan, opened: Store, team: Workers, what: dict[str, Any], *,
    fail_fast: bool, dry_run: bool, json: bool,
) -> None:  # fmt: skip
    if dry_run:
        answer(_say_plan(plan, opened, team, **what), json)
        return
    summary = _run(plan, opened, team, fail_fast=fail_fast, **what)
    answer({**summary.as_dict(), "left_out": plan.left_out, "store": str(opened.path)}, json)
    # Also those that failed before; the runs of a very large plan are read only if some failed now.
    read = summary.statuses.get("failed") or summary.planned <= 10_000
    failed = [run for run in summary.runs if run.outcome.status == "failed"] if read else []
    if failed:
        last = failed[0].traceback.strip().splitlines()[-1]
        _say(f"{len(failed)} failed, such as: {last.removeprefix('sgdphase.errors.UserError: ')}")
        _say(f"`sgdphase export {opened.path} runs.csv` shows why; --retry failed runs them again")
        raise typer.Exit(1)


def _say_plan(plan: Plan, store: Store, team: Workers, **what: Any) -> dict[str, float]:
    from sgdphase._sweep import missing
    from sgdphase.stats import duration

    jobs = missing(plan, store, **what)
    costs = [job.cost for job in jobs]
    seconds = max(sum(costs) / team.parallel, max(costs, default=0.0))
    if not all(job.is_foreseen for job in jobs):
        seconds = math.nan
    expected = "unknown before the first run," if math.isnan(seconds) else duration(seconds)
    team.stop()
    done = len(plan) - len(jobs)
    _say(
        f"{len(plan)} trainings, {done} done, {len(jobs)} to run, "
        f"{plan.left_out} cells left out (batch too large); expected time {expected} "
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
