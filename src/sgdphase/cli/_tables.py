"""Options that name the columns of a table of runs, for the commands that read one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sgdphase.cli._choosers import chosen
from sgdphase.cli._values import for_option, number
from sgdphase.errors import InputError

if TYPE_CHECKING:
    from sgdphase.diagram import RunTable

TableFile = Annotated[
    Path,
    typer.Argument(help="Table of runs: .csv, .tsv, .jsonl, .json, .parquet; or a store."),
]


def _column(flag: str, text: str) -> Any:
    return typer.Option(flag, metavar="COLUMN", help=text)


LrColumn = Annotated[str | None, _column("--lr", "Learning rate; by default a usual name.")]
BatchColumn = Annotated[str | None, _column("--batch", "Batch; by default a usual name.")]
ValueColumn = Annotated[
    str | None, _column("--value", "Result, as a test loss; by default a usual name.")
]
SeedColumn = Annotated[str | None, _column("--seed", "Seed, if there is one.")]
EpochsColumn = Annotated[
    str | None, _column("--epochs", "Number of epochs: runs of different ones are kept apart.")
]
By = Annotated[
    str,
    typer.Option(metavar="COLUMNS", help="Keep runs apart by these columns, such as model,size."),
]
Where = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN=VALUE", help="Only runs with this value."),
]
Higher = Annotated[
    bool | None,
    typer.Option(
        "--higher-is-better/--lower-is-better",
        help="Which way the result is better; by default told from its name.",
    ),
]


def _relative(text: str) -> float:
    """A share, as `0.01` or `1%`."""
    value = number(text[:-1]) / 100 if str(text).endswith("%") else number(text)
    if not 0 < value < 1:
        raise InputError(f"tolerance {text}: must be between 0 and 1, or as 1%")
    return value


Tolerance = Annotated[
    float,
    typer.Option(
        parser=for_option(_relative), metavar="SHARE",
        help="Relative difference of the result that counts as the same, as 0.01 or 1%.",
    ),
]  # fmt: skip


def is_store(path: Path) -> bool:
    """Whether a file is a store rather than a table."""
    try:
        with path.open("rb") as file:
            return file.read(15) == b"SQLite format 3"
    except OSError:  # a table says it better
        return False


def tables_of(
    path: Path,
    by: str = "",
    where: Sequence[str] | None = None,
    higher: bool | None = None,
    **columns: str | None,
) -> tuple[RunTable, ...]:
    """The tables of runs in a file, one for each combination of the columns `by`."""
    from sgdphase._sweep import Store
    from sgdphase.diagram import run_tables

    return run_tables(
        Store(path) if is_store(path) else path,
        by=[name.strip() for name in by.split(",") if name.strip()],
        where=chosen(where),
        maximize=higher,
        **columns,
    )


def each_table(tables: Sequence[RunTable], function: Callable[[RunTable], Any]) -> list[Any]:
    """What a function finds in each table; one of several that it cannot answer is only named."""
    if len(tables) == 1:
        return [function(tables[0])]
    found: list[Any] = []
    for table in tables:
        try:
            found.append(function(table))
        except InputError as error:
            typer.echo(f"note: {table.name}: {error}", err=True)
    if not found:
        raise InputError(f"none of the {len(tables)} tables has an answer: see the notes")
    return found
