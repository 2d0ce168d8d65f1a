"""The answer about runs that exist, in the form of a diagnosis."""

from __future__ import annotations

from sgdphase._diagnose.answer import Diagnosis
from sgdphase.diagram import RunTable, table_equivalents
from sgdphase.diagram._four_regimes import TrainingRegime


def table_diagnosis(
    table: RunTable, lr: float | None, batch: int | None, tolerance: float
) -> Diagnosis:
    """The equivalents of `lr` at `batch`; by default the best lr of the smallest batch."""
    found = table_equivalents(table, lr=lr, batch=batch, tolerance=tolerance)
    still_open = [str(row.batch) for row in found.rows if row.exists is None]
    unknown = []
    if still_open:
        unknown.append(
            f"batch {', '.join(still_open)}: more seeds, or a wider or finer range of learning "
            "rates, would decide it"
        )
    return Diagnosis(
        lr=found.yours.lr.value,
        batch=found.yours.batch,
        epochs=None,
        train_size=None,
        metric=table.metric,
        table=found,
        regime=TrainingRegime(None, None, None),
        warnings=table.notes,
        unknown=tuple(unknown),
        seconds=0.0,
    )
