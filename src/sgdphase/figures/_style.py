"""One look for all pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sgdphase.diagram.draw import STYLE

# Okabe and Ito's colours, told apart by colour-blind readers.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#999999"

_STYLE: Any = {
    **STYLE,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "legend.fontsize": 9,
}


def new_figure(columns: int = 1, rows: int = 1, size: tuple[float, float] = (4.4, 3.6)) -> Any:
    """A figure and its axes, without touching pyplot's global state."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, columns)
    return figure, np.ravel(axes) if rows * columns > 1 else axes


def save(figure: Figure, path: Path) -> None:
    """Write the picture in the format of its ending."""
    with rc_context(_STYLE):
        figure.savefig(path)
