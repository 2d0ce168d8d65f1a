"""What networks have learnt at the end of training against `B`, for several `P`, collapsed.

Main panel: what is learnt against `B/P^g` with the exponent `g` that the paper found. Inset: raw.
Figs. 4B, S7B, S8A and S8B differ in the network, in what is measured and in `g`.

The paper's claim is `B* ~ P^g`: what is learnt depends on `B` and `P` below `B*`, and on `eta`
alone above it, so that curves at one `eta` fall onto one without a change of height.

A seed has the same initial weights at every `P`, and with them a factor of what is learnt, which
can be larger than all that `P` and `B` change: sizes are compared within seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase._typing import FloatArray
from sgdphase.diagram._style import new_figure
from sgdphase.errors import InputError
from sgdphase.paper._fitted import fitted
from sgdphase.paper._scaling import (
    inset,
    listed,
    number,
    power_of_two,
    powers,
    shades,
    size_range,
    spread,
    whole_powers,
)
from sgdphase.paper.captions import write_left_out
from sgdphase.paper.claim import Claim, equal, untested
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs
from sgdphase.paper.settings import Setting
from sgdphase.stats import Collapse, Curve, collapse, effective_collapses

# The paper gives its exponents to one digit, and says that 0.2 and 0.4 are different.
TOLERANCE = 0.1
REASON = "half the distance of 0.2 and 0.4, which the paper tells apart; it gives one digit"

MARKERS = ("o", "s", "^")

_WITHIN_SEEDS = (
    "Sizes are compared within seeds, which have the same initial weights at every P; in a first "
    "analysis they were not, and the verdict was the same."
)


@dataclass(frozen=True)
class Range:
    """Exponents of two, first and last, of sizes, learning rates and batches.

    Learning rates go by factors of 4; batches by factors of `2^step`, up to the size.
    """

    sizes: tuple[int, int]
    rates: tuple[int, int]
    batches: tuple[int, int]
    step: int = 1


@dataclass(frozen=True)
class Learnt:
    """What is measured at the end of training: its name, its letters, and its growth with `eta`.

    Curves are drawn and collapsed after division by `eta^power`.
    """

    observable: str
    letters: str
    power: int

    @property
    def rescaled(self) -> str:
        return rf"{self.letters}$\,/\,\eta$" if self.power else self.letters


ALIGNMENT = Learnt("alignment", r"alignment $\langle yf\rangle$", 1)
WEIGHT_CHANGE = Learnt("weight_change", r"weight change $|w-w_0|/|w_0|$", 0)


@dataclass(frozen=True)
class Batches:
    """One such figure: what it trains at each scale, what is measured, and the paper's `g`.

    `id` is that of the claim, and `says` the paper's statement.
    """

    name: str
    title: str
    setting: Callable[[Scale], Setting]
    ranges: Mapping[Scale, Range]
    learnt: Learnt
    id: str
    says: str
    exponent: float

    def plan(self, scale: Scale) -> Sequence[Training]:
        own = self.ranges[scale]
        return self.setting(scale).at(
            train_size=whole_powers(*own.sizes),
            lr=powers(*own.rates, 2),
            batch=whole_powers(*own.batches, own.step),
        )

    def draw(self, runs: Runs, scale: Scale) -> Any:
        figure, axes = new_figure(size=(5.4, 4.4))
        draw_curves(axes, fitted(runs), self.learnt, self.exponent)
        axes.set_title(self.title, fontsize="medium")
        write_left_out(figure, self.plan(scale), self.plan("paper"))
        return figure

    def claims(self, runs: Runs, scale: Scale) -> list[Claim]:
        return [
            exponent_claim(self.id, self.says, curves(fitted(runs), self.learnt), self.exponent)
        ]

    def figure(self, shows: str, remark: str = "") -> Figure:
        said = f"{remark} {_WITHIN_SEEDS}".strip()
        return Figure(self.name, shows, self.plan, self.draw, self.claims, remark=said)


def draw_curves(axes: Any, runs: Runs, learnt: Learnt, exponent: float) -> None:
    """Means over seeds with their errors; a black dot where a training did not end."""
    small = inset(
        axes, (0.6, 0.6, 0.39, 0.39), xlabel="$B$", ylabel=learnt.observable.replace("_", " ")
    )
    sizes, rates = runs.values("train_size"), runs.values("lr")
    for size, color in zip(sizes, shades(len(sizes)), strict=True):
        for rate, marker in zip(rates, MARKERS, strict=False):
            batch, y = runs.curve("batch", learnt.observable, train_size=size, lr=rate)
            there = (y > 0).any(axis=1)
            mean, error = spread(y[there])
            unit, at = rate**learnt.power, batch[there] / size**exponent
            look = {"color": color, "marker": marker, "markersize": 4, "linewidth": 0.7}
            axes.errorbar(at, mean / unit, error / unit, **look)
            small.plot(batch[there], mean, **look | {"markersize": 2.5})
            lost = batch[np.isnan(y).any(axis=1)] / size**exponent
            axes.plot(lost, np.full(lost.size, 0.02), "k.", transform=axes.get_xaxis_transform())
        axes.plot([], [], "o", color=color, markersize=4, label=rf"$P={power_of_two(size)[1:]}")
    for rate, marker in zip(rates, MARKERS, strict=False):
        axes.plot([], [], marker, color="0.4", markersize=4, label=rf"$\eta={rate:g}$",
                  fillstyle="none")  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set(
        yscale="log",
        xlabel=rf"$B/P^{{{exponent:g}}}$",
        ylabel=learnt.rescaled,
    )
    low, high = axes.get_ylim()
    axes.set_ylim(low * (low / high) ** 0.3, high * (high / low) ** 0.3)  # for legend and inset
    # Above the dots of what did not end.
    axes.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0.0, 0.05), ncols=2,
                handletextpad=0.2, columnspacing=0.6, labelspacing=0.25)  # fmt: skip


def curves(runs: Runs, learnt: Learnt) -> list[Curve]:
    """What is learnt against `B` for each `P`: the mean over `eta` within each seed.

    Cells of one seed share a training set, so they are one curve with one error, not several. A
    batch at which a seed did not end, at whatever `eta`, lacks that seed.
    """
    found = []
    for size in runs.values("train_size"):
        own = runs.where(train_size=size)
        logs = []
        for rate in own.values("lr"):
            batch, y = own.curve("batch", learnt.observable, lr=rate)
            logs.append(_log(y / rate**learnt.power))
        found.append(Curve(size, batch, np.exp(np.mean(logs, axis=0))))
    return found


def _log(y: FloatArray) -> FloatArray:
    logs = np.full(y.shape, np.nan)
    np.log(y, out=logs, where=y > 0)
    return logs


def exponent_claim(id: str, says: str, own: Sequence[Curve], predicted: float) -> Claim:
    """`B* ~ P^g` by best collapse; the claim says how good it is, and how `g` moves."""
    sizes = [curve.size for curve in own]
    try:
        best = collapse(own, same_seeds=True)
    except InputError as error:
        return untested(id, says, predicted, f"no collapse: {error}")
    at = f"effective exponent at {size_range(sizes)}, chi2 {best.chi2:.2g}"
    claim = f"{says} by best collapse ({at}; {_drift(own)}; {_free(own)})"
    return equal(id, claim, number(best), predicted, TOLERANCE, REASON)


def _drift(own: Sequence[Curve]) -> str:
    window = min(3, len(own))
    try:
        return listed(effective_collapses(own, window=window, same_seeds=True), window)
    except InputError:
        return f"no collapse of each {window} consecutive sizes"


def _free(own: Sequence[Curve]) -> str:
    """The same if the height of the curves may change as a power of `P`."""
    try:
        free: Collapse = collapse(own, y_exponent=None, same_seeds=True)
    except InputError:
        return "no collapse with free heights"
    return f"with heights ~ P^{free.y_exponent.value:.2f} too: {free.exponent.value:.2f}"
