"""`sgdphase diagnose`: which learning rate goes with another batch, for a user's own training."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from sgdphase import _diagnose, _report, _sweep
from sgdphase._records import EPOCH_LOSSES, OPTIMIZERS, SCHEDULES
from sgdphase._sweep.progress import duration
from sgdphase.cli._networks import Device, set_up
from sgdphase.cli._options import integer_option, number_option
from sgdphase.cli._output import print_json
from sgdphase.cli._stop import store_in_use
from sgdphase.cli._values import integers, numbers
from sgdphase.errors import InputError


def diagnose(
    file: Annotated[
        Path,
        typer.Argument(
            help="Python file with model() and data(), or with train(lr, batch, epochs, seed)."
        ),
    ],
    lr: Annotated[Any, number_option("--lr", "Your learning rate.")],
    batch: Annotated[Any, integer_option("--batch", "Your batch.")],
    epochs: Annotated[
        Any,
        integer_option("--epochs", "Your number of epochs."),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(EPOCH_LOSSES)}; by default what fits the labels.",
            show_default=False,
        ),
    ] = None,
    optimizer: Annotated[
        str | None,
        typer.Option(
            help=f"{' or '.join(OPTIMIZERS)}; by default sgd.",
            show_default=False,
        ),
    ] = None,
    momentum: Annotated[Any, number_option("--momentum", "Momentum of sgd; by default 0.")] = None,
    betas: Annotated[
        Any,
        typer.Option(
            parser=numbers,
            metavar="B1,B2",
            help="Betas of adamw; by default 0.9,0.999.",
        ),
    ] = None,
    weight_decay: Annotated[
        Any,
        number_option("--weight-decay", "Weight decay; by default 0."),
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(
            help=f"Of the learning rate: {', '.join(SCHEDULES)}; by default constant.",
            show_default=False,
        ),
    ] = None,
    warmup: Annotated[
        Any,
        number_option("--warmup", "Warm-up, a fraction of the training as 0.1."),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="What decides whether two trainings are the same; by default test_error, "
            "test_mse for a regression.",
            show_default=False,
        ),
    ] = None,
    maximize: Annotated[
        bool | None,
        typer.Option(
            "--maximize/--minimize",
            help="Whether more of the metric is better; by default told from its name.",
            show_default=False,
        ),
    ] = None,
    batches: Annotated[
        Any,
        typer.Option(
            parser=integers,
            metavar="RANGE",
            help="The other batches, as 64,128,256; by default from yours on by factors of 2.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="fitted",
            help="Instead of --epochs, ask the paper's question: train until every point is "
            "fitted (hinge loss to zero) and find the regime and the critical batch.",
            show_default=False,
        ),
    ] = None,
    margin: Annotated[
        Any,
        number_option(
            "--margin",
            "Until fitted: margin of the loss; by default 2^-10, cross-entropy 1.",
        ),
    ] = None,
    sampler: Annotated[
        str | None,
        typer.Option(
            help="Until fitted: fresh (drawn anew at every step) or epoch (shuffled).",
            show_default=False,
        ),
    ] = None,
    train_sizes: Annotated[
        Any,
        typer.Option(
            parser=integers,
            metavar="RANGE",
            help="Until fitted: train sizes to measure at; by default as large as the budget "
            "allows. With --epochs: the number of points of a train(), which limits the batch.",
        ),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(metavar="TIME", help="Time to spend: 90s, 10m, 2h."),
    ] = "10m",
    seeds: Annotated[
        Any,
        integer_option(
            "--seeds",
            "Seeds of each setting; by default 5, fewer if the budget is short.",
        ),
    ] = None,
    device: Device = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Processes; by default one per core, 0 for none.",
            show_default=False,
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the Dask cluster at ADDRESS."),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="The file that keeps the runs; by default FILE's name with .sqlite.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write diagnosis.html and its pictures into DIR.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Which learning rate goes with a larger batch, and from which batch on is there none?

    Trains your model as you train it, for your number of epochs, at other batches and learning
    rates with several seeds, and prints for each batch the learning rate that learns the same and
    what its test error is. Every training is kept in the store: the same command goes on where it
    was, and what is there is not run again.

    Example: sgdphase diagnose my_training.py --lr 0.05 --batch 32 --epochs 40 --out report
    """
    set_up(None, device, dask)
    # Code of the user's may move the working directory.
    place = Path(store or f"{file.stem}.sqlite").absolute()
    folder = None if out is None else out.absolute()
    if folder is not None:
        _report.make_folder(folder)
    if betas is not None and len(betas) != 2:
        raise InputError(f"betas = {betas}: must be two numbers, as 0.9,0.999")
    common = {
        "lr": lr, "batch": batch, "loss": loss, "momentum": momentum, "weight_decay": weight_decay,
        "budget": budget, "workers": _cluster(dask, workers), "store": place,
    }  # fmt: skip
    of_epochs = {
        "optimizer": optimizer, "betas": betas, "schedule": schedule, "warmup": warmup,
        "metric": metric, "maximize": maximize, "batches": batches,
    }  # fmt: skip
    of_fitted = {"margin": margin, "sampler": sampler, "train_sizes": train_sizes}
    with store_in_use(place):
        found: Any
        if _asks_until_fitted(epochs, until):
            _refuse(of_epochs, "is for trainings of --epochs")
            found = _diagnose.diagnose_until_fitted(file, **common, **of_fitted, seeds=seeds or 3)
        else:
            size = of_fitted.pop("train_sizes")
            _refuse(of_fitted, "is for trainings --until fitted")
            train_size = None if size is None else max(size)
            found = _diagnose.diagnose(
                file, **common, **of_epochs, epochs=epochs, seeds=seeds, train_size=train_size
            )
        if as_json:
            print_json(found.as_dict())
        else:
            print(found)
            print(f"{found.trainings} trainings, {duration(found.seconds)}.")
        if folder is not None:
            print(f"report: {_report.diagnosis_page(found, folder)}", file=sys.stderr)


def _asks_until_fitted(epochs: int | None, until: str | None) -> bool:
    if until not in (None, "fitted"):
        raise InputError(f"--until {until}: must be fitted")
    if (epochs is None) == (until is None):
        given = "neither" if epochs is None else "both"
        raise InputError(
            f"--epochs and --until fitted: {given} given; must be one of them. --epochs N asks "
            "about your training as you run it, for N epochs; --until fitted asks the paper's "
            "question, about trainings that go on until every training point is fitted"
        )
    return until is not None


def _refuse(options: dict[str, Any], why: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name.replace('_', '-')}: {why}")


def _cluster(address: str | None, workers: int | None) -> int | Callable[[], _sweep.Workers] | None:
    if address is None:
        return workers
    if workers is not None:
        raise InputError("workers and dask: give one of them")
    return lambda: _sweep.DaskWorkers(address)


def register(app: typer.Typer) -> None:
    app.command(no_args_is_help=True)(diagnose)
