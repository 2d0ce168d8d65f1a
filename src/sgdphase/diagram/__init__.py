"""From runs to phases: regimes, boundaries, power laws and data collapse, all with intervals.

It reads a table of runs and knows nothing of how they were made.
"""

from __future__ import annotations

from sgdphase.diagram._batch_table import Equivalent, Equivalents, equivalents
from sgdphase.diagram._cells import Plane, plane_from_dataset, plane_from_table
from sgdphase.diagram._draw import draw, draw_figure, draw_lines, draw_names, draw_plane
from sgdphase.diagram._phase import Best, Cell, LinePoint, PhaseDiagram, phase_diagram
from sgdphase.diagram._regimes import (
    REGIMES,
    TARGETS,
    Regime,
    RegimeMap,
    classify,
    local_slopes,
)
from sgdphase.diagram._terminal import TerminalMap
from sgdphase.diagram._training_runs import Setting, TrainingRun
from sgdphase.diagram._trajectory import draw_trajectory

__all__ = [
    "REGIMES",
    "TARGETS",
    "Best",
    "Cell",
    "Equivalent",
    "Equivalents",
    "LinePoint",
    "PhaseDiagram",
    "Plane",
    "Regime",
    "RegimeMap",
    "Setting",
    "TerminalMap",
    "TrainingRun",
    "classify",
    "draw",
    "draw_figure",
    "draw_lines",
    "draw_names",
    "draw_plane",
    "draw_trajectory",
    "equivalents",
    "local_slopes",
    "phase_diagram",
    "plane_from_dataset",
    "plane_from_table",
]
