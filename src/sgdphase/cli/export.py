"""`sgdphase export`: a store as CSV, Parquet or netCDF."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sgdphase import _sweep


def export(
    store: Annotated[Path, typer.Argument(help="The store, such as runs.sqlite.")],
    out: Annotated[Path, typer.Argument(help="A file that ends in .csv, .parquet or .nc.")],
    model: Annotated[str | None, typer.Option(help="Only the runs of this model.")] = None,
    trajectories: Annotated[bool, typer.Option(help="Write trajectories too.")] = False,
) -> None:
    """Write the runs of a store to a file for other programs.

    Example: sgdphase export runs.sqlite runs.nc --trajectories
    """
    for path in _sweep.export(store, out, model=model, trajectories=trajectories):
        typer.echo(f"wrote {path}", err=True)


def register(app: typer.Typer) -> None:
    app.command()(export)
