"""`sgdphase rule`: the best learning rate of each batch, from a table of runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sgdphase.cli._options import JSON
from sgdphase.cli._output import answer
from sgdphase.cli._tables import (
    BatchColumn,
    By,
    EpochsColumn,
    Higher,
    LrColumn,
    SeedColumn,
    TableFile,
    ValueColumn,
    Where,
    each_table,
    tables_of,
)  # fmt: skip
from sgdphase.errors import PICTURES, check_output

if TYPE_CHECKING:
    from sgdphase.diagram import BestRates, CriticalBatch

Growth = Annotated[
    str,
    typer.Option(metavar="COLUMN", help="How the answer grows with this column of --by."),
]


def rule(
    table: TableFile,
    lr: LrColumn = None,
    batch: BatchColumn = None,
    value: ValueColumn = None,
    seed: SeedColumn = None,
    epochs: EpochsColumn = None,
    by: By = "",
    where: Where = None,
    growth: Growth = "",
    higher: Higher = None,
    json: Annotated[bool, JSON] = False,
    out: Annotated[
        Path | None, typer.Option(help="Draw it to this file (.png, .pdf or .svg).")
    ] = None,
) -> None:
    """The best learning rate of each batch, and the rule lr ~ batch^x that they follow.

    From runs that you have: a table with a row per run. The best learning rate is the bottom of a
    smooth curve through the runs of a batch; [ ] are 90 % intervals.

    Example: sgdphase rule runs.csv --lr learning_rate --batch bs --value val_loss
    """
    from sgdphase.diagram import draw_runs
    from sgdphase.diagram import rule as best_rates

    if out is not None:
        check_output(out, PICTURES)
    tables = tables_of(
        table, by, where, higher, lr=lr, batch=batch, value=value, seed=seed, epochs=epochs
    )
    found = each_table(tables, best_rates)

    def draw() -> None:
        if out is not None:
            draw_runs([each for each in tables if each.by in [one.by for one in found]], out)
            print(f"wrote {out}", file=sys.stderr)

    print_found(found, growth, json, draw)


def print_found(
    found: Sequence[BestRates] | Sequence[CriticalBatch],
    column: str,
    json: bool,
    draw: Callable[[], None] = lambda: None,
) -> None:
    """What was found in each table, and how it grows with a column, which must be one of them.

    `draw` writes a picture, once there is an answer.
    """
    from sgdphase.diagram._growth import growth

    laws = growth(found, column) if column else {}
    exponents = {"growth": {name: law.as_dict() for name, law in laws.items()}} if laws else {}
    draw()
    document = {"tables": [each.as_dict() for each in found], **exponents}

    def text() -> None:
        print("\n\n".join(map(str, found)))
        for name, law in laws.items():
            print(f"{name.capitalize()} ~ {column}^{law}")

    answer(document, json, text)
