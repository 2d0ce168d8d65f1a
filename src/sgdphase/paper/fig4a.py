"""Fig. 4A: `w1` at the end of training against `B`, at chi = 0, 1 and 3.

Inset: raw. Main panel: `w1/eta` against `B/P^gamma`, with the theory's lines for the two regimes,
`w1 = k_perp sqrt(d) T (P/(2 pi c_n d))^gamma` and `w1 = eta E|x1|/sqrt(d)`, dashed, nothing fitted.

Every learning rate is at least twice the first-step line of the largest `P`. At chi = 0 the sizes
stop at 2^13 (the time to fit grows as `P^3`), and no batch is far above `B* = P/4`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase._typing import FloatArray
from sgdphase.diagram._style import new_figure
from sgdphase.paper._scaling import (
    AWAY,
    exponents,
    inset,
    listed,
    number,
    power_of_two,
    powers,
    regime_claim,
    shades,
    size_claim,
    size_range,
    spread,
    whole_powers,
)
from sgdphase.paper.claim import Claim
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs
from sgdphase.stats import Curve, collapse, effective_collapses
from sgdphase.theory import constants, mean_abs_x1, scales

MARGIN = 2.0**-7
MARKERS = ("o", "s", "^")

# chi: exponents of two of the sizes, of the learning rates (first, last, step) and of the smallest
# batch.
PAPER = {
    0.0: ((9, 13), (14, 18, 4), 2),
    1.0: ((10, 15), (8, 12, 2), 1),
    3.0: ((10, 15), (4, 8, 2), 0),
}
QUICK = {
    0.0: ((8, 10), (12, 14, 2), 2),
    1.0: ((9, 11), (8, 10, 2), 0),
    3.0: ((9, 11), (4, 6, 2), 0),
}


def plan(scale: Scale) -> Sequence[Training]:
    quick = scale == "quick"
    trainings: list[Training] = []
    for chi, (sizes, rates, smallest) in (QUICK if quick else PAPER).items():
        trainings += grid(
            dim=32 if quick else 128,
            chi=chi,
            margin=MARGIN,
            train_size=whole_powers(*sizes),
            lr=powers(*rates),
            batch=whole_powers(smallest, sizes[1], 2 if quick else 1),
            seeds=3 if quick else 5,
            test_size=1024 if quick else 32768,
        )
    return trainings


def draw(runs: Runs, scale: Scale) -> Any:
    chis = runs.values("chi")
    figure, axes = new_figure(columns=len(chis), size=(4.7, 4.1))
    for panel, chi in zip(axes, chis, strict=True):
        _panel(panel, runs.where(chi=chi), chi)
    return figure


def _panel(axes: Any, runs: Runs, chi: float) -> None:
    gamma = constants(chi).gamma
    small = inset(axes, (0.56, 0.56, 0.42, 0.42), xlabel="$B$", ylabel="$w_1$")
    sizes, rates = runs.values("train_size"), runs.values("lr")
    for size, color in zip(sizes, shades(len(sizes)), strict=True):
        for rate, marker in zip(rates, MARKERS, strict=False):
            batch, w1 = runs.curve("batch", "w1", train_size=size, lr=rate)
            mean, error = spread(w1)
            look = {"color": color, "marker": marker, "markersize": 4, "linewidth": 0.7}
            axes.errorbar(batch / size**gamma, mean / rate, error / rate, **look)
            small.plot(batch, mean, **look | {"markersize": 2.5})
        axes.plot([], [], "o", color=color, markersize=4, label=rf"$P={power_of_two(size)[1:]}")
    for rate, marker in zip(rates, MARKERS, strict=False):
        label = rf"$\eta={power_of_two(rate)[1:]}"
        axes.plot([], [], marker, color="0.4", markersize=4, label=label, fillstyle="none")
    _theory(axes, runs, chi)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel=rf"$B/P^{{\gamma}}$,  $\gamma={gamma:g}$",
        ylabel=r"$w_1/\eta$",
        title=rf"$\chi={chi:g}$",
    )
    low, high = axes.get_ylim()
    axes.set_ylim(low * (low / high) ** 0.35, high)  # room for the legend
    axes.legend(
        fontsize=7.5,
        loc="lower left",
        ncols=2,
        frameon=False,
        handletextpad=0.2,
        columnspacing=0.6,
        labelspacing=0.25,
    )


def _theory(axes: Any, runs: Runs, chi: float) -> None:
    c, dim = constants(chi), runs.values("dim")[0]
    floor = mean_abs_x1(chi) / math.sqrt(dim)
    rise = c.k_perp * math.sqrt(dim) * (2 * math.pi * c.c_n * dim) ** -c.gamma
    cross = rise / floor
    sizes, batches = runs.values("train_size"), runs.values("batch")
    left = np.array([batches[0] / sizes[-1] ** c.gamma, cross])
    right = [cross, sizes[-1] ** (1 - c.gamma)]
    axes.plot(left, rise / left, "k--", linewidth=1.2, zorder=5, label=r"theory at $\hat t$")
    axes.plot(right, [floor, floor], "k--", linewidth=1.2, zorder=5)


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    return [claim for chi in runs.values("chi") for claim in _claims(runs.where(chi=chi), chi)]


NO_CELLS = "no batches far enough above B* to tell the dependence on B from that on P"


def _claims(runs: Runs, chi: float) -> list[Claim]:
    id, gamma = f"fig4a.chi{chi:g}", constants(chi).gamma
    table, ratio = runs.table(), _over_critical(runs)
    of = ("lr", "batch", "train_size")
    below = exponents(table, "w1", of, ratio <= 1 / AWAY)
    above = exponents(table, "w1", of, ratio >= AWAY * (1 - 1e-9))
    curves, sizes = _curves(runs), runs.values("train_size")
    best = collapse(curves)
    window = min(3, len(sizes))
    moves = listed(effective_collapses(curves, window=window), window)
    steps = "; ".join(f"{value:.2f}" for value in _small_batch_drift(runs))
    return [
        size_claim(
            f"{id}.1a",
            f"small B: w1 ~ P^gamma (effective exponent at {size_range(sizes)}; by doublings of "
            f"P: {steps})",
            below["train_size"],
            gamma,
            gamma,
        ),
        regime_claim(f"{id}.1b", "small B: w1 ~ eta", below, "lr", 1, NO_CELLS),
        regime_claim(f"{id}.1c", "small B: w1 ~ 1/B", below, "batch", -1, NO_CELLS),
        regime_claim(f"{id}.2a", "large B: w1 ~ eta", above, "lr", 1, NO_CELLS),
        regime_claim(f"{id}.2b", "large B: w1 does not depend on B", above, "batch", 0, NO_CELLS),
        regime_claim(f"{id}.2c", "large B: w1 does not depend on P", above, "train_size", 0,
                     NO_CELLS),
        size_claim(
            f"{id}.3",
            f"B* ~ P^gamma by best collapse of w1/eta (effective exponent; {moves})",
            number(best),
            gamma,
            gamma,
        ),
    ]  # fmt: skip


def _over_critical(runs: Runs) -> FloatArray:
    """`B/B*` of each run, with the theory's `B*`."""
    return np.array([training.batch / _critical(training) for training in _trainings(runs)])


def _trainings(runs: Runs) -> list[Training]:
    return [run.training for run in runs.runs]


def _critical(training: Training) -> float:
    task = training.teacher
    return scales(
        train_size=training.train_size, dim=task.dim, chi=task.chi, margin=training.margin
    ).critical_batch


def _curves(runs: Runs) -> list[Curve]:
    """`w1/eta` against `B` for each `P`: the mean over `eta` within each seed.

    Cells of one seed share a training set, so they are one curve with one error, not several.
    """
    curves = []
    for size in runs.values("train_size"):
        own = runs.where(train_size=size)
        rates = own.values("lr")
        logs = [np.log(own.curve("batch", "w1", lr=rate)[1] / rate) for rate in rates]
        batch, _ = own.curve("batch", "w1", lr=rates[0])
        curves.append(Curve(size, batch, np.exp(np.mean(logs, axis=0))))
    return curves


def _small_batch_drift(runs: Runs) -> list[float]:
    """The exponent of `P` between each two sizes, at small `B`."""
    table, ratio = runs.table(), _over_critical(runs)
    sizes = runs.values("train_size")
    found = []
    for pair in pairwise(sizes):
        keep = (ratio <= 1 / AWAY) & np.isin(table["train_size"], pair)
        own = exponents(table, "w1", ("lr", "batch", "train_size"), keep)
        found.append(own["train_size"].value if "train_size" in own else math.nan)
    return found


FIGURE = Figure(
    "fig4a",
    "w1 at the end of training against B for several P and eta, collapsed: chi = 0, 1, 3",
    plan,
    draw,
    claims,
    remark=(
        "The tolerance of a fifth was fixed when the exponents of a sketch (0.46, 0.21 and "
        "0.95) were known."
    ),
)
