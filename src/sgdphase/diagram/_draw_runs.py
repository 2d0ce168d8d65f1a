"""The picture of a table of runs: the value in the plane of batch and lr, and the best rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.diagram._best_rates import BestRates, rule
from sgdphase.diagram._draw import plane_edges
from sgdphase.diagram._run_table import RunTable
from sgdphase.diagram._style import ORANGE, new_figure, save
from sgdphase.errors import PICTURES, InputError, check_output
from sgdphase.stats import digits

_GREY = "0.88"
# Values further above the best than this many times the median share one colour.
_SATURATION = 4.0


def draw_runs(tables: RunTable | Sequence[RunTable], path: str | Path) -> Path:
    """Draw each table of runs with its best learning rates, and return the path.

    Parameters
    ----------
    tables : RunTable, or several; one panel each
    path : str or Path
        It ends in .png, .pdf or .svg.

    Examples
    --------
    >>> from sgdphase.diagram import run_table
    >>> runs = {"lr": [1, 2, 4], "batch": [8, 8, 8], "loss": [1.0, 0.9, 1.1]}
    >>> draw_runs(run_table(runs), "picture.txt")
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: picture.txt: must end in .png, .pdf or .svg
    """
    out = check_output(Path(path), PICTURES)
    several = [tables] if isinstance(tables, RunTable) else list(tables)
    columns = min(4, math.ceil(math.sqrt(len(several))))
    rows = math.ceil(len(several) / columns)
    figure, panels = new_figure(columns, rows, size=(4.6, 3.6) if len(several) == 1 else (3.4, 2.8))
    for axes, table in zip(np.ravel(panels), several, strict=False):
        _draw_panel(axes, table, rule(table))
    for axes in np.ravel(panels)[len(several) :]:
        axes.set_axis_off()
    try:
        save(figure, out)
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror})") from None
    return out


def _draw_panel(axes: Any, table: RunTable, best: BestRates) -> None:
    from matplotlib.ticker import FuncFormatter

    lr, batch = np.unique(table.lr), np.unique(table.batch)
    axes.set_facecolor(_GREY)
    value = _grid(table, lr, batch)
    worse = -value if table.maximize else value
    least, excess = np.nanmin(worse), worse - np.nanmin(worse)
    middle = float(np.median(excess[excess > 0])) if (excess > 0).any() else 1.0
    top = float(min(np.nanmax(worse), least + _SATURATION * middle))
    limits = (-top, -least) if table.maximize else (least, top)
    mesh = axes.pcolormesh(
        plane_edges(batch), plane_edges(lr), np.ma.masked_invalid(value),
        cmap="viridis" if table.maximize else "viridis_r",
        vmin=limits[0], vmax=limits[1], rasterized=True,
    )  # fmt: skip
    extend = "neither" if np.nanmax(worse) <= top else "min" if table.maximize else "max"
    axes.figure.colorbar(mesh, ax=axes, pad=0.02, extend=extend).set_label(table.metric)
    lost = np.isnan(table.value)
    axes.plot(np.log2(table.batch[lost]), np.log2(table.lr[lost]), "o", color="black", ms=3)
    known = [row for row in best.rows if row.known]
    if known:
        x = np.log2([row.batch for row in known])
        y, low, high = np.log2([(r.lr.value, r.lr.low, r.lr.high) for r in known]).T
        sides = np.nan_to_num([y - low, high - y]).clip(min=0)
        axes.errorbar(x, y, sides, fmt="o", color=ORANGE, ms=4, lw=1.2, mec="white", mew=0.5)
        _draw_law(axes, best, x, y)
    for axis, name, grid in ((axes.xaxis, "batch", batch), (axes.yaxis, "lr", lr)):
        axis.set_label_text(name)
        step = max(1, math.ceil(grid.size / 8))
        axis.set_ticks(np.log2(grid[::step]))
        axis.set_major_formatter(FuncFormatter(lambda u, _: digits(2.0**u, 4 if 2.0**u > 1 else 3)))
    axes.tick_params(axis="x", rotation=45)
    if table.by:
        axes.set_title(table.name, fontsize=8)


def _draw_law(axes: Any, best: BestRates, x: FloatArray, y: FloatArray) -> None:
    """The law, or its two pieces, through the middle of the points."""
    pieces = [np.log2((p.first, p.last)) for p in best.pieces]
    slopes = [piece.exponent.value for piece in best.pieces]
    if not pieces:
        return
    places = np.array([pieces[0][0], *(ends[1] for ends in pieces)])
    heights = np.concatenate([[0.0], np.cumsum(np.array(slopes) * np.diff(places))])
    inside = [row.place == "inside" for row in best.rows if row.known]
    at = np.interp(x[inside], places, heights)
    axes.plot(places, heights + float(np.mean(y[inside] - at)), color=ORANGE, lw=1.2, ls="--")


def _grid(table: RunTable, lr: FloatArray, batch: FloatArray) -> FloatArray:
    """Mean values `[lr, batch]`, NaN where there is no run."""
    total, count = np.zeros((lr.size, batch.size)), np.zeros((lr.size, batch.size))
    there = np.isfinite(table.value)
    at = np.searchsorted(lr, table.lr[there]), np.searchsorted(batch, table.batch[there])
    np.add.at(total, at, table.value[there])
    np.add.at(count, at, 1.0)
    mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return np.asarray(mean)
