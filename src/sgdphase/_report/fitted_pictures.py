"""Pictures of a diagnosis until fitted: how `B*` is found and grows, and the slopes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sgdphase._diagnose.fitted.answer import FittedDiagnosis, Scaling
from sgdphase._diagnose.fitted.reasons import unusable
from sgdphase._report.page import has_interval
from sgdphase._sweep import Run
from sgdphase._typing import FloatArray
from sgdphase.diagram import TARGETS, Regime
from sgdphase.diagram._regimes import REACH
from sgdphase.diagram._style import BLUE, GREEN, GREY, ORANGE, PURPLE, new_figure
from sgdphase.stats import Estimate, digits, power_of_two_tex

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: dict[Regime, str] = {
    "noise-dominated": ORANGE,
    "first-step-dominated": BLUE,
    "GD": GREEN,
}
_MOST_ROWS = 4
_MOST_PANELS = 6

Row = tuple[float, dict[int, list[float]]]


def alignment_of(run: Run) -> float | None:
    """The alignment of a fitted run, where it has a logarithm."""
    return None if unusable(run.outcome) else run.outcome.observables["alignment"]


def reach(at: Estimate) -> FloatArray | None:
    """The two arms of an error bar; None without interval."""
    arms = [[at.value - at.low], [at.high - at.value]]
    return np.maximum(arms, 0) if has_interval(at) else None


def batch_picture(diagnosis: FittedDiagnosis) -> Figure | None:
    """Alignment over lr against batch, one panel per size; it bends at B*."""
    sizes = sorted({run.training.train_size for run in diagnosis.runs})
    rows_of = {size: _rows(diagnosis.runs, size) for size in sizes}
    panels = [(size, rows) for size, rows in rows_of.items() if rows][-_MOST_PANELS:]
    if not panels:
        return None
    columns = min(2, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure, axes = new_figure(columns, lines, size=(7.4 / columns, 3.4 if columns > 1 else 4.0))
    for panel, (size, rows) in zip(np.atleast_1d(axes), panels, strict=False):
        _bend(panel, rows, diagnosis.critical_batch_at(size))
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
    axes.xaxis.set_major_formatter("{x:g}")


def scaling_picture(diagnosis: FittedDiagnosis) -> Figure | None:
    """`B*` against train size, with its power law out to the full set and beyond."""
    from matplotlib.ticker import FuncFormatter

    sizes, scaling = diagnosis.critical_batches, diagnosis.scaling
    if len(sizes) < 2 and scaling is None:
        return None
    figure, axes = new_figure(size=(7.0, 4.2))
    axes.set(xlabel="train size", ylabel="B*")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    if scaling is not None:
        _power_law(axes, sizes, scaling)
        _error_bars(axes, scaling.extrapolated, "s", ORANGE, "extrapolated", "white")
        for size, batch in scaling.extrapolated.items():
            axes.annotate(
                digits(batch.value), (size, batch.value), (7, -4), textcoords="offset points",
                color=ORANGE, fontsize=9, va="top",
            )  # fmt: skip
    _error_bars(axes, sizes, "o", BLUE, "measured", BLUE)
    axes.axvline(diagnosis.train_size, color=GREY, lw=1, ls=":", zorder=0)
    axes.text(
        diagnosis.train_size, 0.02, " your set", transform=axes.get_xaxis_transform(),
        color="0.35", fontsize=9, rotation=90, ha="right", va="bottom",
    )  # fmt: skip
    axes.axhline(diagnosis.batch, color="black", lw=1, ls=(0, (1, 2)), label="your batch", zorder=0)
    for get, put in ((axes.get_xlim, axes.set_xlim), (axes.get_ylim, axes.set_ylim)):
        low, high = get()
        put(low / 1.5, high * 1.5)
    axes.legend(loc="upper left", frameon=False, fontsize=9)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(
            FuncFormatter(lambda x, _: f"{x:g}" if x < 2**17 else f"${power_of_two_tex(x)}$")
        )
    return figure


def _power_law(axes: Any, sizes: Mapping[int, Estimate], scaling: Scaling) -> None:
    """The law with its interval, drawn through its extrapolated values.

    In logarithms the half-width of a fitted line at a distance `d` from the middle of its points is
    `sqrt(w^2 + (s d)^2)`, with `s` that of the exponent; `w` follows from one extrapolation.
    """
    exponent = scaling.exponent
    anchors = scaling.extrapolated or sizes
    if not anchors:
        return
    nearest = min(anchors)
    known = anchors[nearest]
    x = np.linspace(np.log(min([*sizes, nearest])), np.log(max(anchors)), 100)
    y = np.log(known.value) + exponent.value * (x - np.log(nearest))
    between = f" ({exponent.low:.2f} to {exponent.high:.2f})" if has_interval(exponent) else ""
    axes.plot(
        np.exp(x), np.exp(y), color="black", lw=1.2, zorder=1,
        label=f"B* ~ P^{exponent.value:.2f}{between}",
    )  # fmt: skip
    if not (has_interval(exponent) and has_interval(known) and scaling.extrapolated and sizes):
        return
    middle = float(np.mean(np.log(list(sizes))))
    edges = []
    for sign, end, rate in ((-1, known.low, exponent.low), (1, known.high, exponent.high)):
        s = abs(rate - exponent.value)
        w = abs(np.log(max(end, 1e-12) / known.value))
        at_middle = max(w**2 - (s * (np.log(nearest) - middle)) ** 2, 0.0)
        edges.append(np.exp(y + sign * np.sqrt(at_middle + (s * (x - middle)) ** 2)))
    axes.fill_between(np.exp(x), *edges, color="black", alpha=0.1, lw=0, zorder=0)


def _error_bars(
    axes: Any, sizes: Mapping[int, Estimate], mark: str, colour: str, label: str, face: str
) -> None:
    for number, (size, at) in enumerate(sizes.items()):
        axes.errorbar(
            size, at.value, yerr=reach(at), fmt=mark, ms=6, color=colour, mfc=face, capsize=3,
            elinewidth=1.3, label="" if number else label, zorder=4,
        )  # fmt: skip


def slopes_picture(diagnosis: FittedDiagnosis) -> Figure | None:
    """The slopes with their intervals among those of the three regimes; None without intervals."""
    from matplotlib.patches import Circle

    x, y = diagnosis.slopes.get("lr"), diagnosis.slopes.get("batch")
    if x is None or y is None or not (has_interval(x) and has_interval(y)):
        return None
    figure, axes = new_figure(size=(5.4, 4.6))
    for name, (u, v) in TARGETS.items():
        axes.add_patch(Circle((u, v), REACH, color=COLOURS[name], alpha=0.16, lw=0))
        axes.plot(u, v, "+", color=COLOURS[name], ms=9, mew=1.6)
        axes.text(u, v - 0.32, name.replace("-step-", "-step-\n").replace("noise-", "noise-\n"),
                  color=COLOURS[name], ha="center", va="center", fontsize=9)  # fmt: skip
    axes.errorbar(
        x.value, y.value, xerr=reach(x), yerr=reach(y), fmt="*", ms=13, mfc="white", mec="black",
        ecolor="black", elinewidth=1.4, capsize=3, zorder=5,
    )  # fmt: skip
    axes.set_aspect("equal")
    axes.set(
        xlim=(min(-0.65, x.low - 0.1), max(1.65, x.high + 0.1)),
        ylim=(min(-1.65, y.low - 0.1), max(0.65, y.high + 0.1)),
        xlabel="d log alignment / d log lr",
        ylabel="d log alignment / d log batch",
    )
    return figure
