"""How `B*` is found: alignment over lr against batch bends from slope -1 to slope 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from sgdphase._diagnose.fitted.answer import FittedDiagnosis
from sgdphase._report._drawing import alignment_of, critical_batch_at, has_interval
from sgdphase._sweep import Run
from sgdphase.diagram._style import BLUE, GREEN, GREY, ORANGE, PURPLE, new_figure
from sgdphase.stats import Estimate, digits

__all__ = ["batch_picture"]

_MOST_ROWS = 4
_MOST_PANELS = 6

Row = tuple[float, dict[int, list[float]]]


def batch_picture(diagnosis: FittedDiagnosis, runs: Sequence[Run]) -> Figure | None:
    """Alignment over lr against batch, one panel per size; it bends at B*."""
    sizes = sorted({run.training.train_size for run in runs})
    panels = [(size, rows) for size in sizes if (rows := _rows(runs, size))][-_MOST_PANELS:]
    if not panels:
        return None
    columns = min(2, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure, axes = new_figure(columns, lines, size=(7.4 / columns, 3.4 if columns > 1 else 4.0))
    for panel, (size, rows) in zip(np.atleast_1d(axes), panels, strict=False):
        _bend(panel, rows, critical_batch_at(diagnosis, size))
        panel.set_title(f"train size {size}", fontsize=10)
        panel.set(xlabel="batch", ylabel="alignment / lr")
    for empty in np.atleast_1d(axes)[len(panels) :]:
        empty.set_axis_off()
    return figure


def _rows(runs: Sequence[Run], size: int) -> list[Row]:
    """The learning rates that were tried at the most batches, at least three, with their values."""
    rows: dict[float, dict[int, list[float]]] = {}
    for run in runs:
        value = alignment_of(run)
        if run.training.train_size == size and value is not None:
            row = rows.setdefault(run.training.lr, {})
            row.setdefault(run.training.batch, []).append(value / run.training.lr)
    long = [(lr, row) for lr, row in rows.items() if len(row) >= 3]
    most = max((len(row) for _, row in long), default=0)
    # The highest of them: m is proportional to lr in both regimes that B* divides, not in GD.
    kept = sorted(((lr, row) for lr, row in long if 2 * len(row) > most), reverse=True)
    return sorted(kept[:_MOST_ROWS])


def _bend(axes: Any, rows: Sequence[Row], star: Estimate | None) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    colours = [BLUE, ORANGE, GREEN, GREY]
    shifts = []
    for (lr, row), colour in zip(rows, colours, strict=False):
        batches = np.array(sorted(row), dtype=np.float64)
        middle = np.array([np.exp(np.mean(np.log(row[int(b)]))) for b in batches])
        for b in batches:
            values = row[int(b)]
            if len(values) > 1:
                axes.plot([b] * len(values), values, ".", color=colour, alpha=0.45, ms=6, mew=0)
        axes.plot(batches, middle, "o-", color=colour, ms=4.5, lw=1.2, label=f"lr = {digits(lr)}")
        if star is not None:
            octaves = np.log2(star.value / batches)
            # Off the bend by an octave or more, where the two power laws hold.
            apart = np.abs(octaves) >= 1
            use = apart if apart.any() else np.ones_like(apart)
            shifts.extend((np.log2(middle) - np.maximum(octaves, 0))[use])
    if star is not None:
        left, right = axes.get_xlim()
        b = np.geomspace(left, right, 200)
        floor = 2.0 ** np.median(shifts)
        axes.plot(
            b, floor * np.maximum(star.value / b, 1), color="black", lw=1.1, ls="--", zorder=1,
            label="slopes -1 and 0",
        )  # fmt: skip
        axes.set_xlim(b[0], b[-1])
        axes.axvline(star.value, color=PURPLE, lw=1.4, zorder=0, label=f"B* = {digits(star.value)}")
        if has_interval(star):
            axes.axvspan(max(star.low, b[0]), min(star.high, b[-1]), color=PURPLE, alpha=0.2, lw=0)
    axes.legend(frameon=False, fontsize=8, loc="best")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
