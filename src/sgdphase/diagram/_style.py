"""One look for all pictures of the package."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, distinct for colour-blind readers.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#999999"

_STYLE: Any = {
    "font.size": 10,
    "axes.linewidth": 0.8,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "savefig.dpi": 160,
    "svg.hashsalt": "sgdphase",
}


def new_figure(
    columns: int = 1, rows: int = 1, size: tuple[float, float] = (4.4, 3.6)
) -> tuple[Figure, Any]:
    """A figure and its axes, of this size each, without touching pyplot's global state."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, columns)
    return figure, np.ravel(axes) if rows * columns > 1 else axes


def save(figure: Figure, out: Path | IO[bytes], **how: Any) -> None:
    """Write the picture, in the format of the ending of a path."""
    from matplotlib import rc_context

    with rc_context(_STYLE):
        figure.savefig(out, **how)
