"""`sgdphase equivalents`: the table of the diagnosis, from runs that exist."""

from __future__ import annotations

from typing import Annotated

from sgdphase.cli._options import JSON, integer_option, number_option
from sgdphase.cli._output import answer
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
    Where,
    each_table,
    tables_of,
)  # fmt: skip

YourLr = Annotated[
    float | None,
    number_option("--your-lr", "Your learning rate; by default the best of your batch."),
]
YourBatch = Annotated[
    int | None, integer_option("--your-batch", "Your batch; by default the smallest.")
]


def equivalents(
    table: TableFile,
    lr: LrColumn = None,
    batch: BatchColumn = None,
    value: ValueColumn = None,
    seed: SeedColumn = None,
    epochs: EpochsColumn = None,
    your_lr: YourLr = None,
    your_batch: YourBatch = None,
    by: By = "",
    where: Where = None,
    tolerance: Tolerance = 0.05,
    higher: Higher = None,
    json: Annotated[bool, JSON] = False,
) -> None:
    """Which learning rate goes with another batch, from runs that you have?

    A table with a row per run gives, for each batch, the learning rate that has the same result as
    yours, or says that there is none: the answer of `diagnose`, without a training.

    Example: sgdphase equivalents runs.csv --value val_loss --your-lr 0.05 --your-batch 32
    """
    from sgdphase._diagnose.table import table_diagnosis

    tables = tables_of(
        table, by, where, higher, lr=lr, batch=batch, value=value, seed=seed, epochs=epochs
    )
    found = each_table(
        tables, lambda each: (each, table_diagnosis(each, your_lr, your_batch, tolerance))
    )
    document = found[0][1].as_dict() if len(tables) == 1 else [
        {"by": dict(each.by), **one.as_dict()} for each, one in found
    ]  # fmt: skip

    def text() -> None:
        for each, one in found:
            print(f"{each.name}\n{one}\n" if each.by else one)

    answer(document, json, text)
