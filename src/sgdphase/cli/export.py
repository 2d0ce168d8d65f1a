"""`sgdphase export`: a store as CSV, Parquet or netCDF."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sgdphase.cli._options import StoreFile


def export(
    store: StoreFile,
    out: Annotated[Path, typer.Argument(help="A file that ends in .csv, .parquet or .nc.")],
    model: Annotated[str | None, typer.Option(help="Only the runs of this model.")] = None,
    trajectories: Annotated[bool, typer.Option(help="Write trajectories too.")] = False,
) -> None:
    """Write the runs of a store to a file for other programs.

    Example: sgdphase export runs.sqlite runs.nc --trajectories
    """
    from sgdphase._sweep import Store
    from sgdphase._sweep.exports import export as write

    for path in write(Store(store), out, model=model, trajectories=trajectories):
        typer.echo(f"wrote {path}", err=True)
