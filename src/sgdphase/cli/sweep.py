"""`sgdphase sweep`: run a grid of trainings into a store."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sgdphase._sweep import (
    DaskWorkers,
    Plan,
    Stopped,
    Store,
    SweepError,
    grid,
    missing,
    progress_on,
)
from sgdphase._sweep import sweep as run_sweep
from sgdphase._sweep.progress import duration, statuses_in_words
from sgdphase._sweep.workers import Workers, workers_of
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
    problem_of,
    set_up,
)
from sgdphase.cli._options import integer_option, number_option
from sgdphase.cli._output import print_json
from sgdphase.cli._values import integer, integers, numbers

StorePath = Annotated[Path, typer.Option(help="The file that keeps the runs; made if need be.")]
Sizes = Annotated[
    Any, typer.Option(parser=integers, metavar="RANGE", help="Number of training points P.")
]
Margins = Annotated[Any, typer.Option(parser=numbers, metavar="RANGE", help="Margin of the loss.")]
Rates = Annotated[Any, typer.Option(parser=numbers, metavar="RANGE", help="Learning rate.")]
Batches = Annotated[Any, typer.Option(parser=integers, metavar="RANGE", help="Batch size.")]
Temperatures = Annotated[
    Any,
    typer.Option(parser=numbers, metavar="RANGE", help="lr / batch, in the place of one of them."),
]
Momenta = Annotated[Any, typer.Option(parser=numbers, metavar="RANGE", help="Momentum.")]
Decays = Annotated[Any, typer.Option(parser=numbers, metavar="RANGE", help="Weight decay.")]
Seeds = Annotated[
    int, typer.Option(parser=integer, metavar="N", help="Number of seeds of each cell.")
]
Widths = Annotated[Any, typer.Option(parser=integers, metavar="RANGE", help="Width.")]
Trajectories = Annotated[
    bool, typer.Option("--trajectories", help="Keep how each training went, too.")
]
WorkerCount = Annotated[
    int | None,
    typer.Option(help="Processes; by default one a core, 0 for none.", show_default=False),
]
Dask = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster at ADDRESS.")
]
Retry = Annotated[
    str, typer.Option(metavar="STATUSES", help="Run these again, such as failed,budget.")
]
FailFast = Annotated[
    bool, typer.Option("--fail-fast", help="Stop at the first training that fails.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be run.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object when it ends.")]

# What is not a parameter of the trainings, but of how they are run.
_HOW = ("store", "trajectories", "workers", "dask", "retry", "fail_fast", "dry_run", "as_json")


def perceptron(
    store: StorePath,
    train_size: Sizes = "8192",
    dim: Annotated[
        Any, typer.Option(parser=integers, metavar="RANGE", help="Dimension of the inputs d.")
    ] = "128",
    chi: Annotated[
        Any, typer.Option(parser=numbers, metavar="RANGE", help="Depletion at the boundary.")
    ] = "1",
    margin: Margins = "2^-7",
    lr: Rates = None,
    batch: Batches = None,
    temperature: Temperatures = None,
    momentum: Momenta = "0",
    weight_decay: Decays = "0",
    seeds: Seeds = 1,
    max_time: MaxTime = None,
    max_steps: MaxSteps = None,
    trajectories: Trajectories = False,
    workers: WorkerCount = None,
    dask: Dask = None,
    retry: Retry = "",
    fail_fast: FailFast = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Train the perceptron on the teacher task at every cell of a grid.

    A RANGE is a number (2^-7), a list (1,2,8), or a range by powers of two
    (2^-10..2^12) or of another factor (1..4096*4). Give two of lr, batch and
    temperature. What the store has is not run again, so the same command
    resumes a sweep that was stopped.

    Example: sgdphase sweep perceptron --lr 2^-4..2^4 --batch 1..256*4
    --seeds 3 --store runs.sqlite
    """
    _run(locals())


def fc(
    store: StorePath,
    data: Data = "mnist-parity",
    train_size: Sizes = "4096",
    depth: Annotated[
        Any, typer.Option(parser=integers, metavar="RANGE", help="Hidden layers.")
    ] = "5",
    width: Widths = "128",
    activation: Activation = "gelu",
    margin: Margins = "2^-15",
    lr: Rates = None,
    batch: Batches = None,
    temperature: Temperatures = None,
    loss: Loss = "hinge",
    sampler: Sampler = "fresh",
    dynamics: Dynamics = "sgd",
    momentum: Momenta = "0",
    weight_decay: Decays = "0",
    seeds: Seeds = 1,
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
    trajectories: Trajectories = False,
    workers: WorkerCount = None,
    dask: Dask = None,
    retry: Retry = "",
    fail_fast: FailFast = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Train a fully connected network at every cell of a grid.

    Ranges as for the perceptron. Trainings of more than a minute are saved
    once a minute, so that a sweep that was killed resumes inside them.

    Example: sgdphase sweep fc --train-size 1024 --lr 2^-5..2^5*4 --batch 1..256*4
    --test-size 4096 --seeds 3 --store fc.sqlite
    """
    _run(_network("fc", locals()))


def mobilenet(
    store: StorePath,
    data: Data = "cifar-animals",
    train_size: Sizes = "1024",
    width: Widths = "8",
    activation: Activation = "relu",
    margin: Margins = "2^-15",
    lr: Rates = None,
    batch: Batches = None,
    temperature: Temperatures = None,
    loss: Loss = "hinge",
    sampler: Sampler = "fresh",
    dynamics: Dynamics = "sgd",
    momentum: Momenta = "0",
    weight_decay: Decays = "0",
    seeds: Seeds = 1,
    max_steps: MaxSteps = None,
    max_time: MaxTime = None,
    max_samples: MaxSamples = None,
    max_seconds: MaxSeconds = None,
    test_size: TestSize = 8192,
    data_dir: DataDir = None,
    device: Device = None,
    trajectories: Trajectories = False,
    workers: WorkerCount = None,
    dask: Dask = None,
    retry: Retry = "",
    fail_fast: FailFast = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Train the paper's convolutional network at every cell of a grid.

    Ranges as for the perceptron. Trainings of more than a minute are saved
    once a minute, so that a sweep that was killed resumes inside them.

    Example: sgdphase sweep mobilenet --train-size 256 --lr 2^-2..2^6*4 --batch 1..256*4
    --test-size 2048 --seeds 2 --store cnn.sqlite
    """
    _run(_network("mobilenet", locals()))


def _network(model: str, given: dict[str, Any]) -> dict[str, Any]:
    """The options of a network as those of a grid."""
    set_up(given.pop("data_dir"), given.pop("device"), given["dask"])
    problem = problem_of(given.pop("data"), given.pop("dim", None), given.pop("chi", None))
    return given | {"model": model, "problem": problem}


def _run(given: dict[str, Any]) -> None:
    how = {name: given.pop(name) for name in _HOW}
    plan = grid(**given)
    again = tuple(part.strip() for part in how["retry"].split(",") if part.strip())
    opened = Store(how["store"])
    team = DaskWorkers(how["dask"]) if how["dask"] else workers_of(how["workers"])
    if how["dry_run"]:
        _say_plan(plan, opened, team, how["trajectories"], again, how["as_json"])
    else:
        _sweep(plan, opened, team, how["trajectories"], again, how["fail_fast"], how["as_json"])


def register(app: typer.Typer) -> None:
    sweeps = typer.Typer(
        help="Run a grid of trainings, each once, into a store.", no_args_is_help=True
    )
    for command in (perceptron, fc, mobilenet):
        sweeps.command()(command)
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
        said = next(run.traceback for run in store.runs() if run.outcome.status == "failed")
        _say(f"some failed, such as: {said.strip().splitlines()[-1]}")
        _say(f"`sgdphase export {store.path} runs.csv` shows their tracebacks")
        raise typer.Exit(1)


def _say(text: str) -> None:
    typer.echo(f"sgdphase: {text}", err=True)
