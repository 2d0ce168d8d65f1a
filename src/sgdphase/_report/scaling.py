"""How `B*` grows with the train size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from sgdphase._diagnose.fitted.answer import FittedDiagnosis, Scaling, Size
from sgdphase._report._drawing import has_interval
from sgdphase.diagram._style import BLUE, GREY, ORANGE, new_figure
from sgdphase.stats import Estimate, digits

__all__ = ["scaling_picture"]


def scaling_picture(diagnosis: FittedDiagnosis) -> Figure | None:
    """`B*` against train size, with its power law out to the full set and beyond."""
    sizes = [size for size in diagnosis.sizes if size.critical_batch is not None]
    scaling = diagnosis.scaling
    if len(sizes) < 2 and scaling is None:
        return None
    figure, axes = new_figure(size=(7.0, 4.2))
    axes.set(xlabel="train size", ylabel="B*")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    if scaling is not None:
        _power_law(axes, sizes, scaling)
        for size, batch in scaling.extrapolated.items():
            _error_bar(axes, size, batch, "s", ORANGE, "extrapolated", "white")
            axes.annotate(
                digits(batch.value), (size, batch.value), (7, -4), textcoords="offset points",
                color=ORANGE, fontsize=9, va="top",
            )  # fmt: skip
    for at in sizes:
        if at.critical_batch is not None:
            _error_bar(axes, at.train_size, at.critical_batch, "o", BLUE, "measured", BLUE)
    axes.axvline(diagnosis.train_size, color=GREY, lw=1, ls=":", zorder=0)
    axes.text(
        diagnosis.train_size, 0.02, " your set", transform=axes.get_xaxis_transform(),
        color="0.35", fontsize=9, rotation=90, ha="right", va="bottom",
    )  # fmt: skip
    axes.axhline(diagnosis.batch, color="black", lw=1, ls=(0, (1, 2)), label="your batch", zorder=0)
    _wider(axes, 1.5)
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    axes.legend(once.values(), once.keys(), loc="upper left", frameon=False, fontsize=9)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(
            FuncFormatter(lambda x, _: f"{x:g}" if x < 2**17 else f"$2^{{{np.log2(x):.0f}}}$")
        )
    return figure


def _power_law(axes: Any, sizes: Sequence[Size], scaling: Scaling) -> None:
    """The law with its interval, drawn through its extrapolated values.

    In logarithms the half-width of a fitted line at a distance `d` from the middle of its points is
    `sqrt(w^2 + (s d)^2)`, with `s` that of the exponent; `w` follows from one extrapolation.
    """
    exponent = scaling.exponent
    anchors = list(scaling.extrapolated.items()) or [
        (size.train_size, size.critical_batch) for size in sizes if size.critical_batch
    ]
    if not anchors:
        return
    nearest, known = min(anchors)
    first = min([size.train_size for size in sizes] + [nearest])
    x = np.linspace(np.log(first), np.log(max(size for size, _ in anchors)), 100)
    y = np.log(known.value) + exponent.value * (x - np.log(nearest))
    axes.plot(
        np.exp(x), np.exp(y), color="black", lw=1.2, zorder=1,
        label=f"B* ~ P^{exponent.value:.2f}" + _between(exponent),
    )  # fmt: skip
    if not (has_interval(exponent) and has_interval(known) and scaling.extrapolated and sizes):
        return
    middle = float(np.mean(np.log([size.train_size for size in sizes])))
    edges = []
    for sign, end, rate in ((-1, known.low, exponent.low), (1, known.high, exponent.high)):
        s = abs(rate - exponent.value)
        w = abs(np.log(max(end, 1e-12) / known.value))
        at_middle = max(w**2 - (s * (np.log(nearest) - middle)) ** 2, 0.0)
        edges.append(np.exp(y + sign * np.sqrt(at_middle + (s * (x - middle)) ** 2)))
    axes.fill_between(np.exp(x), *edges, color="black", alpha=0.1, lw=0, zorder=0)


def _error_bar(
    axes: Any, x: float, at: Estimate, mark: str, colour: str, label: str, face: str
) -> None:
    reach = [[at.value - at.low], [at.high - at.value]] if has_interval(at) else None
    axes.errorbar(
        x, at.value, yerr=None if reach is None else np.maximum(reach, 0), fmt=mark, ms=6,
        color=colour, mfc=face, capsize=3, elinewidth=1.3, label=label, zorder=4,
    )  # fmt: skip


def _between(estimate: Estimate) -> str:
    return f" ({estimate.low:.2f} to {estimate.high:.2f})" if has_interval(estimate) else ""


def _wider(axes: Any, factor: float) -> None:
    for get, put in ((axes.get_xlim, axes.set_xlim), (axes.get_ylim, axes.set_ylim)):
        low, high = get()
        put(low / factor, high * factor)
