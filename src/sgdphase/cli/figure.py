"""`sgdphase figure`: redraw figures of the paper and decide their claims."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sgdphase._sweep import DaskWorkers, Store, progress_on
from sgdphase._sweep.progress import duration
from sgdphase.cli._networks import DataDir, set_up
from sgdphase.cli._options import JSON
from sgdphase.cli._output import print_json, print_table
from sgdphase.errors import InputError
from sgdphase.paper.figure import FIGURES, SCALES, Figure, chosen, cost, make, read_claims
from sgdphase.paper.gallery import interval, number, totals


def register(app: typer.Typer) -> None:
    """Attach the subcommands."""
    app.command("figure")(figure)
    app.command("claims")(claims)


def figure(
    names: Annotated[list[str] | None, typer.Argument(help="Names of figures, or all.")] = None,
    scale: Annotated[str, typer.Option(help="quick, laptop or paper.")] = "laptop",
    store: Annotated[Path, typer.Option(help="Where the runs are kept.")] = Path("figures.sqlite"),
    out: Annotated[Path, typer.Option(help="Folder of the pictures and claims.")] = Path("figures"),
    workers: Annotated[
        int | None, typer.Option(help="Processes; by default one a core.", show_default=False)
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster at ADDRESS.")
    ] = None,
    data_dir: DataDir = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="Say what there is, and what it costs.")
    ] = False,
    json: Annotated[bool, JSON] = False,
) -> None:
    """Run what a figure needs, draw it and decide its claims.

    Writes NAME.png, NAME.pdf and NAME.claims.json. What the store has is not run again.

    Example: sgdphase figure fig1a --scale quick --out figures
    """
    if scale not in SCALES:
        raise InputError(f"--scale {scale}: must be one of {', '.join(SCALES)}")
    opened = Store(store)
    if list_all:
        _list(opened, json)
        return
    if not names:
        raise InputError(f"no figure given; there are {', '.join(FIGURES)}, and all")
    set_up(data_dir)
    ledger: list[dict[str, Any]] = []
    for each in chosen(names):
        try:
            found = make(
                each,
                scale,
                opened,
                out,
                workers=DaskWorkers(dask) if dask else workers,
                progress=progress_on(),
            )
        except InputError as error:
            # All that can be made here: without PyTorch or images, those of the perceptron.
            if "all" not in names:
                raise
            typer.echo(f"sgdphase: {each.name} is left out: {error}", err=True)
            continue
        ledger += [claim.as_dict() | {"figure": each.name, "scale": scale} for claim in found]
        if not json:
            _print_claims([claim.as_dict() for claim in found], f"{each.name} ({scale})")
    if json:
        print_json(ledger)


def claims(
    folder: Annotated[Path, typer.Argument(help="Folder with *.claims.json.")],
    json: Annotated[bool, JSON] = False,
) -> None:
    """Print the whole ledger of claims in a folder.

    Example: sgdphase claims figures
    """
    ledger = read_claims(folder)
    if json:
        print_json(ledger)
        return
    _print_claims(ledger, str(folder))
    print(totals(ledger))


def _print_claims(ledger: list[dict[str, Any]], title: str) -> None:
    print_table(
        ["id", "claim", "predicted", "measured", "interval", "verdict"],
        [
            [
                claim["id"],
                claim["claim"],
                number(claim["predicted"]),
                number(claim["measured"]),
                interval(claim),
                claim["verdict"],
            ]
            for claim in ledger
        ],
        title,
        words=("claim",),
    )


def _list(store: Store, json: bool) -> None:
    rows = [_costs(each, store) for each in FIGURES.values()]
    if json:
        print_json(rows)
        return
    print_table(
        ["name", *SCALES, "shows"],
        [[row["name"], *(_words(row[scale]) for scale in SCALES), row["shows"]] for row in rows],
        "trainings in the store / in all, and the expected time of the rest on one core",
        words=("shows",),
    )


def _costs(each: Figure, store: Store) -> dict[str, Any]:
    row: dict[str, Any] = {"name": each.name, "shows": each.shows}
    try:
        return row | {scale: cost(each, scale, store) for scale in SCALES}
    except InputError as error:  # an extra is missing
        return row | dict.fromkeys(SCALES, str(error))


def _words(one: Any) -> str:
    if isinstance(one, str):
        return one
    left = f", {duration(one.seconds)}" if one.seconds else ""
    return f"{one.done}/{one.trainings}{left}"
