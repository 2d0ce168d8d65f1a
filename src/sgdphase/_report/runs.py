"""Every run behind a page, as a table: what differs between the runs, and their outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgdphase._report.page import Html, folded, paragraph, table
from sgdphase._sweep import Run, table_of
from sgdphase._sweep.table import RESULTS, flat

# The path of a file on the machine of the runs means nothing to a reader.
_HIDDEN = ("path",)
# In every row, also where all runs agree.
_ALWAYS = ("lr", "batch", "seed", "status")


def shared(runs: Sequence[Run]) -> dict[str, Any]:
    """The parameters that all runs have in common, by name."""
    parameters = [flat(run.training) for run in runs]
    if not parameters:
        return {}
    return {
        name: value
        for name, value in parameters[0].items()
        if name not in (*_ALWAYS, *_HIDDEN)
        and all(others.get(name) == value for others in parameters)
    }


def every_run(runs: Sequence[Run]) -> Html:
    """A folded table of all runs, in the order of train size, lr, batch, seed."""
    if not runs:
        return paragraph("There are no runs.")
    ordered = sorted(runs, key=_order)
    common = shared(ordered)
    columns = {
        name: column
        for name, column in table_of(ordered).items()
        if name in (*_ALWAYS, *RESULTS)
        or (name not in common and name not in _HIDDEN and _has_values(column))
    }
    names = list(columns)
    rows: list[list[Any]] = [list(row) for row in zip(*columns.values(), strict=True)]
    if any(run.traceback for run in ordered):
        names.append("error")
        for row, run in zip(rows, ordered, strict=True):
            row.append(run.traceback.strip().rpartition("\n")[2])
    return folded(f"Every run ({len(ordered)})", table(names, rows))


def _order(run: Run) -> tuple[Any, ...]:
    t = run.training
    return (t.train_size, t.lr, t.batch, t.seed, t.key)


def _has_values(column: NDArray[Any]) -> bool:
    if column.dtype.kind == "U":
        return bool((column != "").any())
    return bool(np.any(~np.isnan(column.astype(np.float64))))
