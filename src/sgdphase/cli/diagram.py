"""`sgdphase diagram`: the phase diagram of the runs in a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from sgdphase.cli._options import integer_option, number_option
from sgdphase.cli._output import print_json
from sgdphase.cli._values import number
from sgdphase.diagram import TerminalMap, draw, phase_diagram, plane_from_table
from sgdphase.errors import InputError
from sgdphase.sweep import Store


def diagram(
    store: Annotated[Path, typer.Argument(help="The store, such as runs.sqlite.")],
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
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Draw it to this file (.png, .pdf or .svg).")
    ] = None,
) -> None:
    """Tell the regimes of SGD and where they meet, from the runs in a store.

    A map in the terminal, or with --out a picture, or with --json the numbers. If the store holds
    several experiments, choose one with --train-size, --chi, --margin or --where.

    Example: sgdphase diagram runs.sqlite --train-size 2^13 --chi 1 --out diagram.png
    """
    chosen = {"train_size": train_size, "dim": dim, "chi": chi, "margin": margin}
    fixed = {name: value for name, value in chosen.items() if value is not None}
    for text in where or []:
        name, value = _choice(text)
        if name in fixed:
            raise InputError(f"--where {text}: {name} is chosen already, as {fixed[name]}")
        fixed[name] = value
    plane = plane_from_table(Store(store).table(), observable, **fixed)
    found = phase_diagram(plane, factor=factor)
    if out is not None:
        draw(found, out)
    if as_json:
        print_json(found.as_dict())
    elif out is None:
        Console(highlight=False).print(TerminalMap(found))
    else:
        typer.echo(f"wrote {out}", err=True)
        for note in found.notes:
            typer.echo(f"note: {note}", err=True)


def register(app: typer.Typer) -> None:
    app.command()(diagram)


def _choice(text: str) -> tuple[str, Any]:
    """`weight_decay=2^-10` as a name and a number, `model=fc` as a name and a text."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise InputError(f"--where {text}: must be NAME=VALUE, such as momentum=0.9")
    if name in ("observable", "table"):
        raise InputError(f"--where {text}: {name} is not a parameter of a run")
    try:
        return name.replace("-", "_"), number(value)
    except InputError:
        return name.replace("-", "_"), value
