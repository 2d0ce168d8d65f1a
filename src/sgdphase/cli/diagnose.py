"""`sgdphase diagnose`: which learning rate goes with another batch, for a user's own training."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgdphase._models import EPOCH_LOSSES
from sgdphase.cli._networks import refuse_with_dask, set_up
from sgdphase.cli._options import (
    JSON,
    Dask,
    Depends,
    Device,
    Gpus,
    Shell,
    Slots,
    Timeout,
    parameter_option,
    parts,
)
from sgdphase.cli._output import answer
from sgdphase.cli._stop import store_in_use
from sgdphase.cli._values import for_option, integers, numbers
from sgdphase.errors import InputError, check_folder

if TYPE_CHECKING:
    from sgdphase._sweep import Workers


def diagnose(
    *,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Python file with model() and data(), or with train(lr, batch, epochs, seed)."
        ),
    ] = None,
    lr: Annotated[Any, parameter_option("lr", "Your learning rate.")],
    batch: Annotated[Any, parameter_option("batch", "Your batch.")],
    epochs: Annotated[Any, parameter_option("epochs", "Your number of epochs.")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="What decides whether two trainings are the same; by default test_error, "
            "test_mse for a regression. Of a command where it is written, once or more: "
            "val_loss=json:FILE:KEY, jsonl:FILE:KEY or stdout:REGEX; the first decides.",
        ),
    ] = None,
    maximize: Annotated[
        bool | None,
        typer.Option(
            "--maximize/--minimize",
            "--higher-is-better/--lower-is-better",
            help="Whether more of the metric is better; by default told from its name.",
        ),
    ] = None,
    batches: Annotated[
        Any,
        typer.Option(
            parser=for_option(integers),
            metavar="RANGE",
            help="The other batches, as 64,128,256; by default from yours on by factors of 2.",
        ),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(metavar="TIME", help="Time to spend: 90s, 10m, 2h."),
    ] = "10m",
    seeds: Annotated[
        Any,
        parameter_option("seed", "Seeds per setting.", default="5, fewer if the budget is short"),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="The file that keeps the runs; by default the name of FILE, or of the file that "
            "the command names, with .sqlite."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write diagnosis.html and its pictures into DIR.",
        ),
    ] = None,
    json: Annotated[bool, JSON] = False,
    command: Annotated[
        str | None,
        typer.Option(
            metavar="LINE",
            help="Instead of FILE: a command line with {lr}, {batch}, {epochs} and {seed}, as "
            "`sgdphase sweep command --help` describes.",
        ),
    ] = None,
    depends: Depends = "",
    shell: Shell = False,
    timeout: Timeout = None,
    workers: Slots = None,
    gpus: Gpus = "",
    dask: Dask = None,
    loss: Annotated[
        str | None,
        parameter_option(
            "loss", "Of a model(): loss", choices=EPOCH_LOSSES, default="what fits the labels"
        ),
    ] = None,
    optimizer: Annotated[
        str | None,
        parameter_option(
            "optimizer", "Of a model(): optimizer; of a command the one it uses", default="sgd"
        ),
    ] = None,
    momentum: Annotated[
        Any,
        parameter_option(
            "momentum", "Of a model(): momentum of sgd, from 0 to below 1.", default="0"
        ),
    ] = None,
    betas: Annotated[
        Any,
        typer.Option(
            parser=for_option(numbers),
            metavar="B1,B2",
            help="Of a model(): betas of adamw; by default 0.9,0.999.",
        ),
    ] = None,
    weight_decay: Annotated[
        Any, parameter_option("weight_decay", "Of a model(): weight decay.", default="0")
    ] = None,
    schedule: Annotated[
        str | None,
        parameter_option(
            "schedule", "Of a model(): schedule of the learning rate", default="constant"
        ),
    ] = None,
    warmup: Annotated[
        Any,
        parameter_option(
            "warmup", "Of a model(): warm-up, a fraction of the training such as 0.1.", default="0"
        ),
    ] = None,
    device: Device = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="fitted",
            help="Instead of --epochs, ask the paper's question: train until every point is "
            "fitted (hinge loss to zero) and find the regime and the critical batch.",
        ),
    ] = None,
    margin: Annotated[
        Any,
        parameter_option(
            "margin",
            "Until fitted: margin of the loss.",
            default="2^-10, with cross-entropy 1",
        ),
    ] = None,
    sampler: Annotated[
        str | None,
        parameter_option(
            "sampler",
            "Until fitted: batches drawn anew at each step, or from shuffled epochs",
            default="fresh",
        ),
    ] = None,
    train_sizes: Annotated[
        Any,
        typer.Option(
            parser=for_option(integers),
            metavar="RANGE",
            help="Until fitted: train sizes to measure at; by default as large as the budget "
            "allows. With --epochs: the number of points of a train(), which limits the batch.",
        ),
    ] = None,
) -> None:
    """Which learning rate goes with a larger batch, and from which batch on is there none?

    Trains your model as you train it, for your number of epochs, at other batches and learning
    rates with several seeds, and prints for each batch the learning rate that learns the same and
    what its test error is: some 10 to 40 trainings per batch. Every training is kept in the store:
    the same command continues, and what is there is not run again.

    Example: sgdphase diagnose my_training.py --lr 0.05 --batch 32 --epochs 40 --out report

    Example: sgdphase diagnose --command 'python train.py --lr {lr} --batch-size {batch}
    --epochs {epochs} --seed {seed}' --metric val_loss=json:metrics.json --lr 0.05 --batch 32
    --epochs 40
    """
    if (file is None) == (command is None):
        given = "neither" if file is None else "both"
        raise InputError(f"FILE and --command: {given} given; must be one of them")
    if betas is not None and len(betas) != 2:
        raise InputError(f"betas = {betas}: must be two numbers, as 0.9,0.999")
    of_epochs = {
        "optimizer": optimizer, "betas": betas, "schedule": schedule, "warmup": warmup,
        "metric": _one(metric) if command is None else None, "maximize": maximize,
        "batches": batches,
    }  # fmt: skip
    of_fitted = {"margin": margin, "sampler": sampler, "train_sizes": train_sizes}
    until_fitted = _asks_until_fitted(epochs, until)
    if until_fitted:
        _refuse(of_epochs | {"gpus": gpus or None}, "is for trainings of --epochs")
    else:
        sizes = of_fitted.pop("train_sizes")
        _refuse(of_fitted, "is for trainings --until fitted")
        of_epochs |= {"epochs": epochs, "train_size": None if sizes is None else max(sizes)}

    from sgdphase._diagnose import diagnose as run_diagnosis
    from sgdphase._diagnose import diagnose_until_fitted
    from sgdphase.stats import duration

    set_up(None, device, dask)
    # Code of the user's may move the working directory.
    told = None
    if command is not None:
        if until_fitted:
            raise InputError("--until fitted: needs a FILE, and --command is given")
        from sgdphase._own import command as command_of

        told = command_of(
            command, metric or (), depends=parts(depends), shell=shell, timeout=timeout
        )
    else:
        of_command = {"depends": depends, "shell": shell, "timeout": timeout}
        _refuse({name: value or None for name, value in of_command.items()}, "is of --command")
    place = Path(store or f"{Path(told.name if told else file or '').stem}.sqlite").absolute()
    folder = None if out is None else out.absolute()
    if folder is not None:
        check_folder(folder)  # before the trainings; it is made after them
    common = {
        "lr": lr, "batch": batch, "loss": loss, "momentum": momentum, "weight_decay": weight_decay,
        "budget": budget, "workers": _cluster(dask, workers, gpus), "store": place,
    }  # fmt: skip
    with store_in_use(place):
        diagnosis: Any
        if until_fitted:
            diagnosis = diagnose_until_fitted(file, **common, **of_fitted, seeds=seeds or 3)
        else:
            diagnosis = run_diagnosis(
                file, **common, **of_epochs, seeds=seeds, command=told, gpus=parts(gpus)
            )
        took = duration(diagnosis.seconds)
        spent = f"The answer uses {diagnosis.trainings} trainings; this command took {took}."
        answer(diagnosis.as_dict(), json, lambda: print(f"{diagnosis}\n{spent}"))
        if folder is not None:
            from sgdphase._report import diagnosis_page

            print(f"report: {diagnosis_page(diagnosis, folder)}", file=sys.stderr)


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


def _one(metric: list[str] | None) -> str | None:
    if metric and len(metric) > 1:
        raise InputError(f"--metric: {len(metric)} given; must be one, but for --command")
    return metric[0] if metric else None


def _cluster(
    address: str | None, workers: int | None, gpus: str
) -> int | Callable[[], Workers] | None:
    if address is None:
        return workers
    refuse_with_dask(address, workers=workers, gpus=gpus)
    from sgdphase._sweep import DaskWorkers

    return lambda: DaskWorkers(address)
