"""`sgdphase diagram`: the phase diagram of the runs in a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sgdphase.cli._choosers import Chi, Dim, Factor, Margin, Observable, TrainSize, Where, chosen
from sgdphase.cli._options import JSON, StoreFile
from sgdphase.cli._output import answer


def diagram(
    store: StoreFile,
    observable: Observable = "alignment",
    train_size: TrainSize = None,
    dim: Dim = None,
    chi: Chi = None,
    margin: Margin = None,
    where: Where = None,
    factor: Factor = 2.0,
    json: Annotated[bool, JSON] = False,
    out: Annotated[
        Path | None, typer.Option(help="Draw it to this file (.png, .pdf or .svg).")
    ] = None,
) -> None:
    """Tell the regimes of SGD and where they meet, from the runs in a store.

    A map in the terminal, or with --out a picture, or with --json the numbers. If the store holds
    several experiments, choose one with --train-size, --chi, --margin or --where.

    Example: sgdphase diagram runs.sqlite --train-size 2^13 --chi 1 --out diagram.png
    """
    from rich.console import Console
    from rich.text import Text

    from sgdphase._sweep import Store
    from sgdphase.diagram import draw, phase_diagram, plane_of
    from sgdphase.diagram._draw import check_picture
    from sgdphase.diagram._terminal import map_lines

    if out is not None:
        check_picture(out)
    fixed = chosen(where, train_size=train_size, dim=dim, chi=chi, margin=margin)
    plane = plane_of(Store(store), observable, **fixed)
    phases = phase_diagram(plane, factor=factor)
    if out is not None:
        draw(phases, out)

    def text() -> None:
        if out is None:
            console = Console(highlight=False)
            for parts in map_lines(phases):
                console.print(Text.assemble(*parts))
            return
        typer.echo(f"wrote {out}", err=True)
        for note in phases.notes:
            typer.echo(f"note: {note}", err=True)

    answer(phases.as_dict(), json, text)
