"""`sgdphase steps`: the critical batch, from a table of steps to a target."""

from __future__ import annotations

from typing import Annotated

import typer

from sgdphase.cli._options import JSON
from sgdphase.cli._tables import BatchColumn, By, TableFile, Where, each_table, tables_of
from sgdphase.cli.rule import Growth, print_found


def steps(
    table: TableFile,
    steps: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Steps that a training takes to the target; by default a usual name.",
        ),
    ] = None,
    batch: BatchColumn = None,
    by: By = "",
    where: Where = None,
    growth: Growth = "",
    json: Annotated[bool, JSON] = False,
) -> None:
    """From which batch on do more samples per step save no steps?

    From runs that you have: for each batch the steps that it takes to a target loss, at a tuned
    learning rate. The critical batch has three usual definitions, which differ: all are given.

    Example: sgdphase steps runs.csv --batch bs --steps steps_to_target --by model
    """
    from sgdphase.diagram import steps_to_target

    tables = tables_of(table, by, where, False, lr="", batch=batch, value=steps)
    print_found(each_table(tables, steps_to_target), growth, json)
