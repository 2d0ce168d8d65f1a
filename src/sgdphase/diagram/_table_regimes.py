"""The regimes of SGD in a table of runs, if its value can tell them."""

from __future__ import annotations

from sgdphase.diagram._best_rates import BestRates
from sgdphase.diagram._column_names import TELLING
from sgdphase.diagram._phase import PhaseDiagram, phase_diagram
from sgdphase.diagram._run_table import RunTable


def has_best(table: RunTable, best: BestRates) -> bool:
    """Whether the value has a best learning rate, as a loss has; what tells regimes has none."""
    return table.metric not in TELLING and any(row.known for row in best.rows)


def table_regimes(table: RunTable, factor: float) -> PhaseDiagram | None:
    """The phase diagram of a table, if some cell depends on lr or lr/batch as in a regime."""
    phases = phase_diagram(table.plane(), factor=factor)
    told = ("noise-dominated", "first-step-dominated")
    return phases if any(cell.regime in told for cell in phases.cells) else None
