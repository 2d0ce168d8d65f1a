"""A training in the plane of batch and learning rate, among the runs around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sgdphase._diagnose.fitted.answer import FittedDiagnosis
from sgdphase._diagnose.fitted.reasons import unusable
from sgdphase._diagnose.fitted.text import doublings
from sgdphase._report.fitted_pictures import COLOURS, alignment_of
from sgdphase._report.page import has_interval
from sgdphase._sweep import Run
from sgdphase.diagram import Regime
from sgdphase.diagram._style import GREEN, PURPLE, new_figure
from sgdphase.stats import Estimate, digits, power_of_two_tex

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# How runs are drawn that have no alignment to show, and what the legend calls them.
_MARKS = {
    "diverged": ("x", "diverged"),
    "budget": ("1", "not fitted"),
    "given up": ("2", "given up"),
    "not positive": ("v", "alignment not positive"),
    "failed": ("+", "failed"),
}


def plane_picture(diagnosis: FittedDiagnosis) -> Figure | None:
    """Every run at the size that was measured, the user's point, `B*` and the GD line."""
    here = [r for r in diagnosis.runs if r.training.train_size == diagnosis.measured_at]
    if not here:
        return None
    star = diagnosis.critical_batch_at(diagnosis.measured_at)
    figure, axes = new_figure(size=(7.4, 5.6))
    _fix_limits(axes, diagnosis, here, star)
    axes.plot(
        *np.log2([diagnosis.batch, diagnosis.lr]), "*", ms=21, mfc="none", mec="black", mew=1.8,
        ls="", zorder=9, label=f"yours: lr = {digits(diagnosis.lr)}, batch = {diagnosis.batch}",
    )  # fmt: skip
    _dots(axes, here)
    if diagnosis.gd_line:
        _gd_line(axes, diagnosis)
    if star is not None:
        _band(axes, diagnosis, star)
    _names(axes, diagnosis, star)
    _arrows(axes, diagnosis, star)
    axes.set(xlabel="batch", ylabel="learning rate")
    _octaves(axes.xaxis, 0)
    _octaves(axes.yaxis, -np.inf)
    legend = axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False, fontsize=9,
    )  # fmt: skip
    for handle in legend.legend_handles:
        if handle is not None and handle.get_label().startswith("yours"):
            handle.set_markersize(12)
    return figure


def _fix_limits(
    axes: Any, diagnosis: FittedDiagnosis, runs: Sequence[Run], star: Estimate | None
) -> None:
    """All that is shown, with a strip above and below in which the regimes are named."""
    points = diagnosis.gd_line
    batches = [diagnosis.batch, *(r.training.batch for r in runs), *(p.batch for p in points)]
    lrs = [diagnosis.lr, *(r.training.lr for r in runs), *(p.lr.value for p in points)]
    left, right = np.log2(min(batches)) - 0.7, np.log2(max(batches)) + 0.7
    if star is not None:
        # Room for a name on either side of B*.
        share, at = 0.3, float(np.log2(star.value))
        left = min(left, (at - share * right) / (1 - share))
        right = max(right, (at - share * left) / (1 - share))
    bottom, top = np.log2(min(lrs)) - 0.4, np.log2(max(lrs)) + 0.4
    strip = 0.12 * (top - bottom) + 0.1
    axes.set(xlim=(left - 0.3, right + 0.3), ylim=(bottom - strip, top + strip))


def _dots(axes: Any, runs: Sequence[Run]) -> None:
    """One dot per run, the seeds of a place side by side."""
    from matplotlib.colors import LogNorm, Normalize

    seeds = sorted({run.training.seed for run in runs})
    step = min(0.16, 0.56 / len(seeds))
    aside = {seed: (k - (len(seeds) - 1) / 2) * step for k, seed in enumerate(seeds)}

    def places(some: Sequence[Run]) -> Any:
        x = [np.log2(run.training.batch) + aside[run.training.seed] for run in some]
        return x, np.log2([run.training.lr for run in some])

    fitted = {i: value for i, run in enumerate(runs) if (value := alignment_of(run)) is not None}
    if fitted:
        values = np.array(list(fitted.values()))
        wide = values.max() > 1.01 * values.min()
        dots = axes.scatter(
            *places([runs[i] for i in fitted]),
            c=values,
            norm=LogNorm(values.min(), values.max()) if wide else Normalize(),
            cmap="viridis",
            s=26 if len(fitted) < 400 else 10,
            edgecolors="0.25",
            linewidths=0.4,
            zorder=3,
        )
        axes.figure.colorbar(dots, ax=axes, pad=0.02).set_label("alignment")
    for reason, (mark, label) in _MARKS.items():
        others = [run for run in runs if unusable(run.outcome) == reason]
        if others:
            axes.plot(*places(others), mark, color="black", ms=6, ls="", zorder=3, label=label)


def _gd_line(axes: Any, diagnosis: FittedDiagnosis) -> None:
    """The points that were measured, and the line that the regimes make of them."""
    points = sorted(diagnosis.gd_line, key=lambda point: point.batch)
    x, y, low, high = np.log2([(p.batch, p.lr.value, p.lr.low, p.lr.high) for p in points]).T
    here = diagnosis.gd_line_at(diagnosis.batch)
    away = "" if here is None else f", {doublings(here / diagnosis.lr, 'lr')} away"
    reach = np.nan_to_num(np.maximum([y - low, high - y], 0))
    axes.errorbar(x, y, yerr=reach, fmt="D", ms=5, capsize=3, color=GREEN, zorder=4,
                  label=f"GD line{away}")  # fmt: skip
    left, right = axes.get_xlim()
    along = np.linspace(left, right, 200)
    heights = [_line_height(diagnosis, 2.0**place) for place in along]
    axes.plot(along, np.array(heights, dtype=float), color=GREEN, lw=1.8, zorder=2)


def _band(axes: Any, diagnosis: FittedDiagnosis, star: Estimate) -> None:
    """`B*` with its interval, down to the GD line: below that there is nothing for it to divide."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    x = np.log2(star.value)
    height = _line_height(diagnosis, star.value)
    foot = bottom if height is None else height
    if has_interval(star):
        ends = np.log2(np.clip([star.low, star.high], 2.0**left, 2.0**right))
        axes.fill_betweenx([foot, top], *ends, color=PURPLE, alpha=0.22, lw=0, zorder=0)
    away = doublings(star.value / diagnosis.batch, "batch")
    label = f"B* = {digits(star.value)}, {away} away"
    axes.plot([x, x], [foot, top], color=PURPLE, lw=1.8, zorder=1, label=label)


def _names(axes: Any, diagnosis: FittedDiagnosis, star: Estimate | None) -> None:
    """The regimes whose place is known, in the strips above and below the runs."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    edge = 0.045 * (top - bottom)
    names: list[tuple[float, float, Regime, str]] = []
    if star is not None:
        x, gap = float(np.log2(star.value)), 0.012 * (right - left)
        names.append((x - gap, top - edge, "noise-dominated", "right"))
        names.append((x + gap, top - edge, "first-step-dominated", "left"))
    if diagnosis.gd_line:
        names.append(((left + right) / 2, bottom + edge, "GD", "center"))
    for x, y, name, ha in names:
        axes.text(x, y, name, ha=ha, va="center", color=COLOURS[name], weight="bold", zorder=6)


def _arrows(axes: Any, diagnosis: FittedDiagnosis, star: Estimate | None) -> None:
    """From the user's point to the boundaries, where nothing lies between."""
    x, y = np.log2([diagnosis.batch, diagnosis.lr])
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    how: Any = {"arrowstyle": "->", "color": "black", "lw": 1.3, "shrinkA": 10, "shrinkB": 0}
    # Nearer than the star is wide, an arrow would be its head only.
    if star is not None and abs(np.log2(star.value) - x) > 0.06 * (right - left):
        foot = _line_height(diagnosis, star.value)
        if foot is None or y > foot:
            axes.annotate("", (np.log2(star.value), y), (x, y), arrowprops=how, zorder=7)
    height = _line_height(diagnosis, diagnosis.batch)
    if height is not None and abs(height - y) > 0.06 * (top - bottom):
        axes.annotate("", (x, height), (x, y), arrowprops=how, zorder=7)


def _line_height(diagnosis: FittedDiagnosis, batch: float) -> float | None:
    """`log2 lr_c` at a batch; None where the line is not known."""
    lr = diagnosis.gd_line_at(batch)
    return None if lr is None else float(np.log2(lr))


def _octaves(axis: Any, lowest: float) -> None:
    """Ticks at whole powers of two, written out where that is short."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

    low, high = axis.get_view_interval()
    ticks = MaxNLocator(nbins=8, integer=True).tick_values(low, high)
    keep = [t for t in ticks if max(low, lowest) <= t <= high and float(t).is_integer()]
    axis.set_major_locator(FixedLocator(keep))
    axis.set_major_formatter(
        FuncFormatter(
            lambda t, _: f"{2.0**t:g}" if -4 <= t <= 16 else f"${power_of_two_tex(2.0**t)}$"
        )
    )
