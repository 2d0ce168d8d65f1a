"""From runs to phases: regimes, boundaries, power laws and data collapse, all with intervals.

It reads a table of runs and knows nothing of how they were made.
"""

from __future__ import annotations

from sgdphase.diagram.batch_table import Equivalent, Equivalents, equivalents
from sgdphase.diagram.bootstrap import Estimate
from sgdphase.diagram.cells import Plane, plane_from_dataset, plane_from_table
from sgdphase.diagram.collapse import Collapse, Curve, collapse, effective_collapses
from sgdphase.diagram.draw import draw, draw_figure, draw_lines, draw_names, draw_plane
from sgdphase.diagram.phase import Best, Cell, LinePoint, PhaseDiagram, phase_diagram
from sgdphase.diagram.powerlaw import PowerLaw, effective_power_laws, power_law
from sgdphase.diagram.regimes import (
    REGIMES,
    TARGETS,
    Regime,
    RegimeMap,
    classify,
    local_slopes,
)
from sgdphase.diagram.terminal import TerminalMap
from sgdphase.diagram.training_runs import Setting, TrainingRun

__all__ = [
    "REGIMES",
    "TARGETS",
    "Best",
    "Cell",
    "Collapse",
    "Curve",
    "Equivalent",
    "Equivalents",
    "Estimate",
    "LinePoint",
    "PhaseDiagram",
    "Plane",
    "PowerLaw",
    "Regime",
    "RegimeMap",
    "Setting",
    "TerminalMap",
    "TrainingRun",
    "classify",
    "collapse",
    "draw",
    "draw_figure",
    "draw_lines",
    "draw_names",
    "draw_plane",
    "effective_collapses",
    "effective_power_laws",
    "equivalents",
    "local_slopes",
    "phase_diagram",
    "plane_from_dataset",
    "plane_from_table",
    "power_law",
]
