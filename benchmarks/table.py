"""Rows of the table that `run_all.py` writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Row(NamedTuple):
    """What was measured. A limit is what the arithmetic or the memory alone would take."""

    what: str
    measured: str
    target: str = ""
    limit: str = ""


def markdown(rows: Iterable[Row]) -> str:
    names = " | ".join(Row._fields)
    return "\n".join([f"| {names} |", "|---|---|---|---|", *(f"| {' | '.join(r)} |" for r in rows)])
