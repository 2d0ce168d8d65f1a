"""`sgdphase diagnose`: which regime a training of the user's own is in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from sgdphase.cli._networks import Device, set_up
from sgdphase.cli._options import integer_option, number_option
from sgdphase.cli._output import print_json
from sgdphase.cli._values import integers
from sgdphase.diagnose import Diagnosis, answer_lines
from sgdphase.diagnose import diagnose as run_diagnosis
from sgdphase.errors import InputError
from sgdphase.report import diagnosis_page, make_folder
from sgdphase.sweep import DaskWorkers, Workers
from sgdphase.sweep.progress import duration


def diagnose(
    file: Annotated[
        Path,
        typer.Argument(
            help="Python file with model() and data(), or with train(lr, batch, train_size, seed)."
        ),
    ],
    lr: Annotated[Any, number_option("--lr", "Your learning rate.")],
    batch: Annotated[Any, integer_option("--batch", "Your batch size.")],
    momentum: Annotated[Any, number_option("--momentum", "Your momentum.")] = "0",
    weight_decay: Annotated[Any, number_option("--weight-decay", "Your weight decay.")] = "0",
    loss: Annotated[
        str, typer.Option(help="hinge (it ends at exactly zero) or cross-entropy.")
    ] = "hinge",
    margin: Annotated[
        Any,
        number_option("--margin", "Margin of the loss; by default 2^-10, cross-entropy 1."),
    ] = None,
    sampler: Annotated[
        str, typer.Option(help="fresh (drawn anew at every step) or epoch (shuffled).")
    ] = "fresh",
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="Time to spend: 90s, 10m, 2h.")
    ] = "10m",
    seeds: Annotated[
        Any, integer_option("--seeds", "Seeds of each point to begin with; more by need.")
    ] = "3",
    train_sizes: Annotated[
        Any,
        typer.Option(
            parser=integers,
            metavar="RANGE",
            help="Train sizes to measure at; by default as large as the budget allows.",
        ),
    ] = None,
    device: Device = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes; by default one a core, 0 for none.", show_default=False),
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster at ADDRESS.")
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(help="The file that keeps the runs; by default FILE's name with .sqlite."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write diagnosis.html and its pictures into DIR."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Which regime is my training in, and how far may I raise its batch?

    Trains your model at learning rates and batches around yours, until it knows or the budget is
    spent. Every training is kept in the store: the same command goes on where it was, and another
    lr or batch reuses what is there.

    Example: sgdphase diagnose my_training.py --lr 0.05 --batch 128 --budget 10m --out report
    """
    set_up(None, device, dask)
    if out is not None:
        make_folder(out)
    found = run_diagnosis(
        file,
        lr=lr,
        batch=batch,
        momentum=momentum,
        weight_decay=weight_decay,
        loss=loss,
        margin=margin,
        sampler=sampler,
        budget=budget,
        seeds=seeds,
        train_sizes=train_sizes,
        workers=_cluster(dask, workers),
        store=store or Path(f"{file.stem}.sqlite"),
        say=lambda line: print(line, file=sys.stderr, flush=True),
    )
    if as_json:
        print_json(found.as_dict())
    else:
        _print(found)
    if out is not None:
        path = diagnosis_page(found, out)
        print(f"report: {path}", file=sys.stderr)


def _cluster(address: str | None, workers: int | None) -> int | Callable[[], Workers] | None:
    if address is None:
        return workers
    if workers is not None:
        raise InputError("workers and dask: give one of them")
    return lambda: DaskWorkers(address)


def _print(diagnosis: Diagnosis) -> None:
    print("\n".join(answer_lines(diagnosis)))
    for title, listed in (
        ("Could not be told", diagnosis.unknown),
        ("Mind", diagnosis.warnings),
    ):
        if listed:
            print(f"{title}:")
            print("\n".join(f"  - {line}" for line in listed))
    print(f"{diagnosis.trainings} trainings, {duration(diagnosis.seconds)}.")


def register(app: typer.Typer) -> None:
    app.command(no_args_is_help=True)(diagnose)
