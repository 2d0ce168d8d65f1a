"""`sgdphase figure`: redraw figures of the paper and decide their claims."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from sgdphase._sweep import DaskWorkers, Store, progress_on
from sgdphase.cli._networks import refuse_with_dask, set_up
from sgdphase.cli._options import JSON, Dask, DataDir, WorkerCount
from sgdphase.cli._output import answer, text_width
from sgdphase.errors import InputError, check_folder, listed
from sgdphase.paper import FIGURES, SCALES, Figure, chosen, cost, make, read_claims, redraw, totals
from sgdphase.paper import verify as verify_folder
from sgdphase.paper.gallery import interval, number
from sgdphase.stats import duration


def figure(
    names: Annotated[list[str] | None, typer.Argument(help="Names of figures, or all.")] = None,
    scale: Annotated[str, typer.Option(help="quick, laptop or paper.")] = "laptop",
    store: Annotated[Path, typer.Option(help="Where the runs are kept.")] = Path("figures.sqlite"),
    out: Annotated[Path, typer.Option(help="Folder of the pictures and claims.")] = Path("figures"),
    workers: WorkerCount = None,
    dask: Dask = None,
    data_dir: DataDir = None,
    tables: Annotated[
        Path | None,
        typer.Option("--from", help="Folder with tables of the runs: draw from them, run nothing."),
    ] = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="Say what there is, and what it costs.")
    ] = False,
    json: Annotated[bool, JSON] = False,
) -> None:
    """Run what a figure needs, draw it and decide its claims.

    Writes NAME.png, NAME.pdf, NAME.claims.json and the runs as tables (runs/NAME.csv.gz). What the
    store has is not run again.

    Example: sgdphase figure fig1a --scale quick --out figures
    """
    if scale not in SCALES:
        raise InputError(f"--scale {scale}: must be {listed(SCALES)}")
    if list_all:
        opened = Store(store)
        rows = [_costs(each, opened) for each in FIGURES.values()]
        answer(rows, json, lambda: _print_costs(rows))
        return
    if not names:
        raise InputError(f"no figure given; there are {', '.join(FIGURES)}, and all")
    check_folder(out)
    set_up(data_dir)
    refuse_with_dask(dask, workers=workers)
    ledger: list[dict[str, Any]] = []
    left_out: list[str] = []
    figures = chosen(names)
    for each in figures:
        try:
            if tables is not None:
                made = redraw(each, tables, out)
            else:
                made = make(
                    each,
                    scale,
                    store,
                    out,
                    workers=DaskWorkers(dask) if dask else workers,
                    progress=progress_on(),
                )
        except InputError as error:
            # All that can be made here: without PyTorch or images, those of the perceptron.
            if "all" not in names or str(error).startswith(f"{store}:"):
                raise
            left_out.append(f"{each.name}: {error}")
            continue
        rows = [claim.as_dict() for claim in made]
        ledger += [row | {"figure": each.name, "scale": made.scale} for row in rows]
        if not json:
            _print_claims(rows, f"{each.name} ({made.scale})")
    if len(left_out) == len(figures):
        raise InputError(f"no figure was made; {left_out[0]}")
    for text in left_out:
        typer.echo(f"sgdphase: left out: {text}", err=True)
    answer(ledger, json)


def claims(
    folder: Annotated[Path, typer.Argument(help="Folder with *.claims.json.")],
    json: Annotated[bool, JSON] = False,
) -> None:
    """Print the whole ledger of claims in a folder.

    Example: sgdphase claims figures
    """
    ledger = read_claims(folder)

    def text() -> None:
        _print_claims(ledger, str(folder))
        for name in dict.fromkeys(claim["ledger"] for claim in ledger):
            print(f"{name}: {totals([claim for claim in ledger if claim['ledger'] == name])}")

    answer(ledger, json, text)


def verify(
    folder: Annotated[Path, typer.Argument(help="Folder with *.claims.json and tables of runs.")],
) -> None:
    """Decide all claims in a folder again from its tables of runs, and compare.

    Example: sgdphase verify docs/gallery
    """
    count, differences = verify_folder(folder)
    for text in differences:
        _print_filled(text, "  ")
    if differences:
        raise typer.Exit(1)
    print(f"{count} claims: the same numbers and verdicts")


def _print_claims(ledger: list[dict[str, Any]], title: str) -> None:
    print(f"{title}\n")
    if not ledger:
        return
    names = max(len(claim["id"]) for claim in ledger) + 2
    indent = " " * (names + max(len(claim["verdict"]) for claim in ledger) + 2)
    for claim in ledger:
        first = f"{claim['id']:{names}}{claim['verdict']:{len(indent) - names}}{claim['claim']}"
        _print_filled(first, indent)
        if numbers := _numbers(claim):
            _print_filled(indent + numbers, indent)


def _numbers(claim: dict[str, Any]) -> str:
    """What was predicted and measured, if anything; of one that is undecided, with the reason."""
    between = f" ({interval(claim)})" if interval(claim) else ""
    numbers = [
        f"{name} {number(claim[name])}{more}"
        for name, more in (("predicted", ""), ("measured", between))
        if claim[name] is not None
    ]
    return "; ".join([", ".join(numbers), _reason(claim)]).strip("; ")


def _reason(claim: dict[str, Any]) -> str:
    """Why a claim has no verdict; nothing if it has one."""
    rule = str(claim["rule"])
    if claim["verdict"] in ("holds", "fails"):
        return ""
    if claim["measured"] is None:
        return rule
    if claim["low"] is None or claim["high"] is None:
        return "there is no interval"
    return rule.partition(":")[0].replace("lies", "lies partly")


def _print_filled(text: str, indent: str) -> None:
    # A name or a number with a minus stays in one piece.
    print(fill(text, text_width(), subsequent_indent=indent, break_on_hyphens=False))


def _print_costs(rows: list[dict[str, Any]]) -> None:
    print("trainings in the store / in all, and the expected time of the rest on one core\n")
    indent = " " * (2 + max(len(row["name"]) for row in rows))
    for row in rows:
        shows = f"{row['name']:{len(indent)}}{row['shows']}"
        costs = "; ".join(f"{scale} {_words(row[scale])}" for scale in SCALES)
        for line in (shows, indent + costs):
            _print_filled(line, indent)


def _costs(each: Figure, store: Store) -> dict[str, Any]:
    row: dict[str, Any] = {"name": each.name, "shows": each.shows}
    try:
        row |= {scale: cost(each, scale, store) for scale in ("quick", "paper")}
        same = each.plan("laptop") == each.plan("paper")  # as for most of the perceptron's
        return row | {"laptop": row["paper"] if same else cost(each, "laptop", store)}
    except InputError as error:  # an extra is missing
        return row | dict.fromkeys(SCALES, str(error))


def _words(one: Any) -> str:
    if isinstance(one, str):
        return one
    left = f", {duration(one.seconds)}" if one.seconds else ""
    return f"{one.done}/{one.trainings}{left}"
