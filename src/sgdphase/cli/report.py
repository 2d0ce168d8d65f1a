"""`sgdphase report`: the runs in a store as one page to read and to send."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sgdphase.cli._options import integer_option, number_option
from sgdphase.cli.diagram import _choice
from sgdphase.errors import InputError
from sgdphase.report import store_page


def report(
    store: Annotated[Path, typer.Argument(help="The store, such as runs.sqlite.")],
    out: Annotated[Path, typer.Argument(help="The page to write, such as report.html.")],
    observable: Annotated[
        str, typer.Option(help="What tells the regimes: alignment, w1 or weight_change.")
    ] = "alignment",
    train_size: Annotated[int | None, integer_option("--train-size", "Runs of this size.")] = None,
    dim: Annotated[int | None, integer_option("--dim", "Runs in this dimension.")] = None,
    chi: Annotated[float | None, number_option("--chi", "Runs with this chi.")] = None,
    margin: Annotated[float | None, number_option("--margin", "Runs with this margin.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Runs with this value of any other parameter."),
    ] = None,
    factor: Annotated[
        float, number_option("--factor", "The GD line is where m is FACTOR times its GD value.")
    ] = 2.0,
) -> None:
    """Write one HTML page of the runs in a store: diagrams, numbers and every run.

    Each experiment in the store has its section. The page holds its pictures, needs no network and
    can be sent to someone.

    Example: sgdphase report runs.sqlite report.html --train-size 2^13
    """
    chosen = {"train_size": train_size, "dim": dim, "chi": chi, "margin": margin}
    fixed = {name: value for name, value in chosen.items() if value is not None}
    for text in where or []:
        name, value = _choice(text)
        if name in fixed:
            raise InputError(f"--where {text}: {name} is chosen already, as {fixed[name]}")
        fixed[name] = value
    store_page(store, out, observable=observable, factor=factor, fixed=fixed)
    typer.echo(f"wrote {out}", err=True)


def register(app: typer.Typer) -> None:
    app.command()(report)
