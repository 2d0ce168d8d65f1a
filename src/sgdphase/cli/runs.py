"""`sgdphase runs`: what is inside a store."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

from sgdphase.cli._options import JSON, StoreFile
from sgdphase.cli._output import answer, print_table

if TYPE_CHECKING:
    from sgdphase._sweep import Table

# Left out of a group's parameters: what its title says, and what hardly ever varies.
_IN_TITLE, _USUAL = ("model", "problem"), (
    "loss", "sampler", "dynamics", "shell", "start", "depends",
)  # fmt: skip


def runs(store: StoreFile, json: Annotated[bool, JSON] = False) -> None:
    """List what is inside a store: models, ranges of each parameter, counts by status.

    Example: sgdphase runs runs.sqlite
    """
    from sgdphase._sweep import Store

    opened = Store(store)
    groups = _groups(opened.table())
    outdated = opened.outdated()

    def text() -> None:
        if not groups:
            print(f"{store}: no runs")
        for group in groups:
            counts = ", ".join(f"{status} {count}" for status, count in group["statuses"].items())
            title = f"{group['model']} on {group['problem']}: {group['runs']} runs ({counts})"
            spans = group["parameters"].items()
            rows = [(name, span["low"], span["high"], span["values"]) for name, span in spans]
            print_table(("parameter", "from", "to", "values"), rows, title)
        if outdated:
            print(f"and {outdated} runs of another engine version, which are not used")

    answer({"store": str(store), "groups": groups, "outdated": outdated}, json, text)


def _groups(table: Table) -> list[dict[str, Any]]:
    """By model and problem: number of runs, counts by status, values of each parameter."""
    from sgdphase._records import STATUSES

    if not table:
        return []
    groups = []
    pairs = sorted(set(zip(table["model"].tolist(), table["problem"].tolist(), strict=True)))
    for model, problem in pairs:
        chosen = (table["model"] == model) & (table["problem"] == problem)
        part = {name: column[chosen] for name, column in table.items()}
        counts = Counter(part["status"].tolist())
        names = [name for name in _parameters(part) if _is_said(name, part[name])]
        groups.append(
            {
                "model": model,
                "problem": problem,
                "runs": int(chosen.sum()),
                "statuses": {status: counts[status] for status in STATUSES if counts[status]},
                "seconds": float(part["seconds"].sum()),
                "parameters": {name: _range(part[name]) for name in names},
            }
        )
    return groups


def _is_said(name: str, column: Any) -> bool:
    return name not in _IN_TITLE and (name not in _USUAL or bool((column != column[0]).any()))


def _parameters(table: Table) -> list[str]:
    """Those of the training and those of its problem, which stand between them in the table."""
    from sgdphase._sweep.table import RESULTS

    names = list(table)
    return [name for name in names[: names.index(RESULTS[0])] if not _absent(table[name]).all()]


def _absent(column: Any) -> Any:
    import numpy as np

    return ~np.isfinite(column) if column.dtype.kind == "f" else column == ""


def _range(column: Any) -> dict[str, float | int]:
    values = sorted(set(column[~_absent(column)].tolist()))
    return {"low": values[0], "high": values[-1], "values": len(values)}
