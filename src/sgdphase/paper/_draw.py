"""How figures are drawn: colours, insets, curves with errors over seeds.

`Curves` is the specification of a picture, called with the runs of a figure. What one figure alone
draws is a function in its file. Matplotlib loads with the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase._typing import FloatArray
from sgdphase.diagram._style import new_figure
from sgdphase.paper._runs import Number, Runs, Where
from sgdphase.stats import LEVEL, power_of_two_tex, power_or_digits, quantile

Bounds = tuple[float, float, float, float]
# Adds to axes what only this figure has: lines of the theory, or marks.
Extra = Callable[[Any, Runs], None]

MARKERS = "os^Dv<>pPhX"
DASHED: dict[str, Any] = {"color": "black", "linestyle": "--", "linewidth": 1.2}


def panel(
    xlabel: str, ylabel: str, title: str = "", size: tuple[float, float] = (5.4, 4.3)
) -> tuple[Any, Any]:
    """A figure of one panel, and its logarithmic axes."""
    figure, axes = new_figure(size=size)
    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    axes.set_title(title, fontsize="medium")
    return figure, axes


def colored(ordered: Sequence[Any], colormap: str = "viridis") -> list[tuple[Any, Any]]:
    """Each with its colour, dark to light, that colour-blind readers can distinguish."""
    from matplotlib import colormaps

    shades = colormaps[colormap](np.linspace(0.0, 0.88, max(len(ordered), 2)))
    return list(zip(ordered, map(tuple, shades), strict=False))


def inset(axes: Any, bounds: Bounds, xlabel: str = "", ylabel: str = "") -> Any:
    """Logarithmic axes within axes, for the raw data."""
    small = axes.inset_axes(bounds)
    small.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    small.minorticks_off()
    small.set_in_layout(False)
    small.tick_params(labelsize=7)
    small.xaxis.label.set_size(9)
    small.yaxis.label.set_size(9)
    small.xaxis.labelpad = small.yaxis.labelpad = 1
    return small


# Symbols of parameters, in the order in which a picture says them.
_SYMBOLS = {
    "chi": r"\chi", "train_size": "P", "dim": "d", "margin": r"\kappa", "batch": "B",
    "lr": r"\eta", "temperature": "T", "momentum": "m",
}  # fmt: skip


def conditions(runs: Runs, *but: str) -> str:
    """The setting of a picture: what has one value in all runs, and the seeds of each size.

    `but` are parameters that are left out.
    """
    parts = []
    for name, symbol in _SYMBOLS.items():
        values = runs.values(name) if name not in but else []
        if len(values) == 1 and (name != "momentum" or values[0] > 0):
            parts.append(f"${symbol}={_number(values[0])}$")
    seeds = [len(part.values("seed")) for part in runs.split("train_size")]
    few, many = min(seeds), max(seeds)
    count = f"{many} seed{'s' if many > 1 else ''}"
    return ", ".join([*parts, count if few == many else f"{few} to {count}"])


def _number(value: float) -> str:
    plain = 1 <= value < 256 or "^" not in power_or_digits(value)
    return power_or_digits(value, below=0) if plain else power_of_two_tex(value)


def one_of(runs: Runs, *but: str) -> str:
    """The `conditions` of a picture that draws the first seed."""
    return f"{conditions(runs.at(seed=0), *but)} of {len(runs.values('seed'))}"


def letters(axes: Sequence[Any], names: Sequence[str] = "abcdefgh") -> None:
    """(a), (b), ... before the titles of the panels of a figure, or other names."""
    for each, name in zip(axes, names, strict=False):
        title = each.get_title()
        where = "center" if title else "left"
        each.set_title(f"({name}) {title}".strip(), loc=where, fontsize="medium")


def key(axes: Any, fmt: str, label: str, color: Any = "0.4", **look: Any) -> None:
    """An entry of the legend, for what is drawn in many colours."""
    axes.plot([], [], fmt, color=color, label=label, **look)


def legend(axes: Any, loc: str, **other: Any) -> None:
    """A small legend in two columns."""
    look: Any = {"fontsize": 8, "ncols": 2, "columnspacing": 0.8, "handletextpad": 0.4}
    axes.legend(loc=loc, frameon=False, **look | other)


def legend_outside(figure: Any, axes: Any) -> None:
    """The legend of a panel on the right of the figure."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False)


def power_label(symbol: str, value: float) -> str:
    """`$P=2^{10}$`; as it is if it is 0, or the exponent chi."""
    plain = value == 0 or symbol == r"\chi"
    return f"${symbol}={f'{value:g}' if plain else power_of_two_tex(value)}$"


def spread(y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Geometric mean over seeds, and the distances down and up to the ends of its interval.

    The interval is Student's, of the level that all intervals have. There is none (0) with fewer
    than 3 seeds: that of 2 would be six errors of the mean wide, and hide all others.
    """
    logs = np.log(np.where(y > 0, y, np.nan))
    mean = np.nanmean(logs, axis=1)
    n = np.isfinite(logs).sum(axis=1)
    student = [quantile(seeds - 1, (1 + LEVEL) / 2) if seeds > 2 else 0.0 for seeds in n.tolist()]
    error = np.array(student) * np.nanstd(logs, axis=1) / np.sqrt(np.maximum(n - 1, 1))
    centre = np.exp(mean)
    return centre, np.stack([centre - np.exp(mean - error), np.exp(mean + error) - centre])


def unfitted(runs: Runs) -> str:
    """How many did not fit their points, and why; empty if none.

    A training that diverged has a result, one whose budget was spent has none.
    """
    names = {"diverged": "diverged", "budget": "spent their budget", "failed": "failed"}
    ends = [run.outcome.status for run in runs.runs]
    parts = [f"{ends.count(end)} {name}" for end, name in names.items() if end in ends]
    return f"of {len(ends)} runs\n{', '.join(parts)}" if parts else ""


def draw_curve(
    axes: Any,
    x: FloatArray,
    y: FloatArray,
    *,
    unit: tuple[float, float] = (1.0, 1.0),
    small: Any = None,
    **look: Any,
) -> None:
    """Means over seeds of `y [n, seeds]` at `x [n]` with their errors, in units of x and y.

    A black dot at the foot is an `x` where a training did not end. `small` axes show the means
    without units.
    """
    there = (y > 0).any(axis=1)
    mean, error = spread(y[there])
    axes.errorbar(x[there] / unit[0], mean / unit[1], error / unit[1], **look)
    lost = x[np.isnan(y).any(axis=1)] / unit[0]
    axes.plot(lost, np.full(lost.size, 0.02), "k.", transform=axes.get_xaxis_transform())
    if small is not None:
        small.plot(x[there], mean, **look | {"markersize": 2.5, "label": None})


@dataclass(frozen=True)
class Curves:
    """A final number against a parameter: means over seeds with their errors.

    Attributes
    ----------
    x : str; the parameter
    y : str, or function of a run; the observable
    by, marks, panels : str, default ""
        Parameters: a colour per value of `by`, a marker per value of `marks` (else of `by`), a
        panel per value of `panels`.
    xlabel, ylabel : str
    open : str, default ""
        Another observable, with open symbols.
    symbols : dict
        Letters of `by` and `marks` in the legend.
    where : function of a training; whether it is drawn
    fitted : bool, default True
        A number of a run that did not fit its points is missing.
    unit : function of a training
        What x and y of its curve are divided by.
    inset : tuple (bounds, label of x, label of y), default None
        Axes that show the means without units.
    inset_y : str, default ""
        Another observable for the inset, with errors.
    extra : function of axes and runs
        Adds what only this figure has: lines of the theory, or marks.
    title : function of the runs
    look : dict; of matplotlib's `errorbar`
    room : tuple of float, default (0, 0)
        Widens the y axis by parts of its length, below and above.
    legend : dict or None; of matplotlib's `legend`, None puts it on the right of the figure
    size : tuple of float; of a panel, in inches

    Examples
    --------
    >>> Curves("batch", "w1", by="train_size", xlabel="$B$", ylabel="$w_1$").symbols
    {'train_size': 'P'}
    """

    x: str
    y: Number
    by: str = ""
    xlabel: str = ""
    ylabel: str = ""
    marks: str = ""
    panels: str = ""
    open: str = ""
    symbols: Mapping[str, str] = field(default_factory=lambda: {"train_size": "P"})
    where: Where | None = None
    fitted: bool = True
    unit: Callable[[Training], tuple[float, float]] | None = None
    inset: tuple[Bounds, str, str] | None = None
    inset_y: str = ""
    extra: Extra | None = None
    title: Callable[[Runs], str] | None = None
    look: Mapping[str, Any] = field(default_factory=dict)
    room: tuple[float, float] = (0.0, 0.0)
    legend: Mapping[str, Any] | None = field(default_factory=lambda: {"loc": "best"})
    size: tuple[float, float] = (5.4, 4.4)

    def __call__(self, runs: Runs) -> Any:
        runs = runs.fitted() if self.fitted else runs
        parts = runs.split(self.panels) if self.panels else [runs]
        figure, axes = new_figure(len(parts), size=self.size)
        for each, part in zip(np.atleast_1d(axes), parts, strict=True):
            self.on(each, part)
            if self.legend is None:
                legend_outside(figure, each)
            elif each.get_legend_handles_labels()[1]:
                legend(each, **self.legend)
        if self.panels:
            letters(axes)
        return figure

    def on(self, axes: Any, runs: Runs) -> None:
        """Draw `runs` on one panel `axes`, without a legend."""
        small = inset(axes, *self.inset) if self.inset else None
        shown = runs.that(self.where)
        values: list[Any] = shown.values(self.by) if self.by else [None]
        marks = shown.values(self.marks) if self.marks else values
        markers = dict(zip(marks, cycle(MARKERS), strict=False))
        for value, color in colored(values):
            part = shown.where(**{self.by: value}) if self.by else shown
            for mark in marks if self.marks else [value]:
                own = part.where(**{self.marks: mark}) if self.marks else part
                look = {"color": color, "marker": markers[mark], "markersize": 4}
                if own.runs:
                    self._curves(axes, small, own, {**look, "linewidth": 0.8, **self.look})
            if self.by:
                fmt = "o" if self.marks else markers[value]
                key(axes, fmt, power_label(self.symbols[self.by], value), color, markersize=4)
        for mark, marker in markers.items() if self.marks else ():
            label = power_label(self.symbols[self.marks], mark)
            key(axes, marker, label, markersize=4, fillstyle="none")
        if self.fitted and (lost := unfitted(shown)):
            key(axes, ".", lost, "k")
        axes.set(xscale="log", yscale="log", xlabel=self.xlabel, ylabel=self.ylabel)
        axes.set_title(self.title(runs) if self.title else "", fontsize="medium")
        if self.extra:
            self.extra(axes, runs)
        (low, high), (below, above) = axes.get_ylim(), self.room
        axes.set_ylim(low * (low / high) ** below, high * (high / low) ** above)

    def _curves(self, axes: Any, small: Any, runs: Runs, look: dict[str, Any]) -> None:
        unit = self.unit(runs.runs[0].training) if self.unit else (1.0, 1.0)
        raw = None if self.inset_y else small
        draw_curve(axes, *runs.curve(self.x, self.y), unit=unit, small=raw, **look)
        if self.open:
            hollow = look | {"markerfacecolor": "none"}
            draw_curve(axes, *runs.curve(self.x, self.open), unit=unit, small=raw, **hollow)
        if self.inset_y:
            draw_curve(small, *runs.curve(self.x, self.inset_y), **look | {"markersize": 3})
