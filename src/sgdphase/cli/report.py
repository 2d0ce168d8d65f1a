"""`sgdphase report`: the runs in a store as one page to read and to send."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sgdphase.cli._choosers import Chi, Dim, Factor, Margin, Observable, TrainSize, Where, chosen
from sgdphase.cli._options import StoreFile


def report(
    store: StoreFile,
    out: Annotated[Path, typer.Argument(help="The page to write, such as report.html.")],
    observable: Observable = "alignment",
    train_size: TrainSize = None,
    dim: Dim = None,
    chi: Chi = None,
    margin: Margin = None,
    where: Where = None,
    factor: Factor = 2.0,
) -> None:
    """Write one HTML page of the runs in a store: diagrams, numbers and every run.

    Each experiment in the store has its section. The page holds its pictures, needs no network and
    can be sent to someone.

    Example: sgdphase report runs.sqlite report.html --train-size 2^13
    """
    from sgdphase._report import store_page

    fixed = chosen(where, train_size=train_size, dim=dim, chi=chi, margin=margin)
    store_page(store, out, observable=observable, factor=factor, fixed=fixed)
    typer.echo(f"wrote {out}", err=True)
