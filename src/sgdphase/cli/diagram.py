"""`sgdphase diagram`: the phase diagram of the runs in a store, or what a table of runs tells."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgdphase.cli._choosers import Chi, Dim, Factor, Margin, Observable, TrainSize, Where, chosen
from sgdphase.cli._options import JSON
from sgdphase.cli._output import answer, console
from sgdphase.cli._tables import (
    BatchColumn,
    By,
    EpochsColumn,
    Higher,
    LrColumn,
    SeedColumn,
    TableFile,
    Tolerance,
    ValueColumn,
    is_store,
    tables_of,
)
from sgdphase.errors import PICTURES, InputError, check_output

if TYPE_CHECKING:
    from sgdphase.diagram import PhaseDiagram, RunTable

# Columns of runs until fitted.
_IN_STORES, _IN_EXPORTS = {"alignment"}, {"alignment", "status", "train_size"}


def diagram(
    runs: TableFile,
    observable: Observable = "alignment",
    train_size: TrainSize = None,
    dim: Dim = None,
    chi: Chi = None,
    margin: Margin = None,
    where: Where = None,
    factor: Factor = 2.0,
    lr: LrColumn = None,
    batch: BatchColumn = None,
    value: ValueColumn = None,
    seed: SeedColumn = None,
    epochs: EpochsColumn = None,
    by: By = "",
    tolerance: Tolerance = 0.05,
    higher: Higher = None,
    json: Annotated[bool, JSON] = False,
    out: Annotated[
        Path | None, typer.Option(help="Draw it to this file (.png, .pdf or .svg).")
    ] = None,
) -> None:
    """Tell the regimes of SGD and where they meet, from the runs in a store or a table.

    A map in the terminal, or with --out a picture, or with --json the numbers. If a store holds
    several experiments, choose one with --train-size, --chi, --margin or --where. Of a table from
    elsewhere, --lr to --higher-is-better say what its columns are; it gives the best learning rate
    of each batch, the learning rates that learn the same, and regimes if the result shows them.

    Example: sgdphase diagram runs.sqlite --train-size 2^13 --chi 1 --out diagram.png

    Example: sgdphase diagram runs.csv --lr learning_rate --batch bs --value val_loss
    """

    if out is not None:
        check_output(out, PICTURES)
    fixed = {"train_size": train_size, "dim": dim, "chi": chi, "margin": margin}
    columns = {"lr": lr, "batch": batch, "value": value, "seed": seed, "epochs": epochs}
    # Runs of sgdphase have an alignment, which tells regimes; those of a command do not.
    held = {} if value else _held(runs)
    ours = (_IN_STORES if is_store(runs) else _IN_EXPORTS) <= held.keys()
    if is_store(runs) and ours and not (by or any(columns.values())):
        _of_store(held, observable, chosen(where, **fixed), factor, json, out)
        return
    for name, given in fixed.items():
        if given is not None:
            flag = f"--{name.replace('_', '-')}"
            raise InputError(f"{flag} {given}: of columns that are named, --where {name}={given}")
    if observable != "alignment" and not value:
        value = observable
    columns["value"] = "alignment" if ours and not value else value
    tables = tables_of(runs, by, where, higher, **columns)
    _of_tables(tables, tolerance, factor, json, out)


def _held(path: Path) -> Mapping[str, Any]:
    """The columns of a store or a file."""
    from sgdphase._sweep import Store
    from sgdphase.diagram._run_files import run_columns

    return Store(path).table() if is_store(path) else run_columns(path)


def _of_store(
    table: Mapping[str, Any], observable: str, fixed: dict[str, Any], factor: float, json: bool,
    out: Path | None,
) -> None:  # fmt: skip
    from sgdphase.diagram import draw, phase_diagram, plane_from_table

    plane = plane_from_table(table, observable, **fixed)
    phases = phase_diagram(plane, factor=factor)
    if out is not None:
        draw(phases, out)

    def text() -> None:
        if out is None:
            _print_map(phases)
            return
        typer.echo(f"wrote {out}", err=True)
        for note in phases.notes:
            typer.echo(f"note: {note}", err=True)

    answer(phases.as_dict(), json, text)


def _of_tables(
    tables: tuple[RunTable, ...], tolerance: float, factor: float, json: bool, out: Path | None
) -> None:
    from sgdphase._diagnose.table import table_diagnosis
    from sgdphase.diagram import draw, draw_runs, rule
    from sgdphase.diagram._table_regimes import has_best, table_regimes

    document = []
    several: list[tuple[Any, Any, PhaseDiagram | None]] = []
    for table in tables:
        best = rule(table)
        is_loss = has_best(table, best)
        same = table_diagnosis(table, None, None, tolerance) if is_loss else None
        phases = None if is_loss else table_regimes(table, factor)
        several.append((None if phases else best, same, phases))
        document.append({
            "by": dict(table.by), "rule": best.as_dict(),
            "equivalents": same and same.as_dict(), "regimes": phases and phases.as_dict(),
        })  # fmt: skip
    if out is not None:
        phases = several[0][2]
        if len(tables) == 1 and phases is not None:
            draw(phases, out)
        else:
            draw_runs(tables, out)
        print(f"wrote {out}", file=sys.stderr)

    def text() -> None:
        for table, (best, same, phases) in zip(tables, several, strict=True):
            print("\n\n".join(str(part) for part in (best, same) if part is not None))
            if phases is not None:
                _print_map(phases)
            else:
                print(
                    f"Regimes: cannot tell from {table.metric}. They show in a result that grows "
                    "in proportion to the learning rate, as the alignment or the change of the "
                    "weights does."
                )

    answer(document[0] if len(document) == 1 else document, json, text)


def _print_map(phases: PhaseDiagram) -> None:
    from rich.text import Text

    from sgdphase.diagram._terminal import map_lines

    out = console()
    for parts in map_lines(phases):
        out.print(Text.assemble(*parts))
