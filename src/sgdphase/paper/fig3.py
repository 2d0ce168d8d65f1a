"""Fig. 3: what is learnt in time at a large learning rate, for small and large batches.

Main panel: w1 of the perceptron. Inset: the alignment of a network, a figure of its own here
(fig3-inset), since it needs PyTorch and MNIST.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps

from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase.diagram._style import new_figure
from sgdphase.paper._along import furthest
from sgdphase.paper.claim import Claim, above, equal
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs
from sgdphase.theory import first_step, online, scales

CHI, MARGIN, LR = 1.0, 2.0**-7, 512.0


def sizes(scale: Scale) -> tuple[int, int]:
    """Training points and dimension."""
    return (4096, 32) if scale == "quick" else (8192, 128)


def plan(scale: Scale) -> Sequence[Training]:
    train_size, dim = sizes(scale)
    batches = [2**k for k in range(0, 15, 2) if 2**k < train_size] + [train_size]
    return grid(
        train_size=train_size,
        dim=dim,
        chi=CHI,
        margin=MARGIN,
        lr=LR,
        batch=batches,
        seeds=3 if scale == "quick" else 5,
    )


def critical_batch(scale: Scale) -> float:
    train_size, dim = sizes(scale)
    return scales(train_size=train_size, dim=dim, chi=CHI, margin=MARGIN).critical_batch


def draw(runs: Runs, scale: Scale) -> Any:
    figure, axes = new_figure(size=(5.6, 4.0))
    draw_perceptron(axes, runs, scale)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", frameon=False)
    return figure


def draw_perceptron(axes: Any, runs: Runs, scale: Scale) -> None:
    """The main panel: one training for each batch, starred at its end, theory dashed."""
    _, dim = sizes(scale)
    batches = runs.values("batch")
    colors = colormaps["plasma"](np.linspace(0.0, 0.88, len(batches)))
    for batch, color in zip(batches, colors, strict=True):
        along = runs.trajectories(batch=batch, seed=0)[0]
        axes.plot(along["time"], along["w1"], color=color, label=f"$B={batch}$")
        axes.plot(along["time"][-1], along["w1"][-1], "*", color="k", markerfacecolor=color,
                  markersize=9)  # fmt: skip
        if batch <= critical_batch(scale) / 4:
            _draw_online(axes, dim, batch, float(along["time"][-1]))
    step = first_step(lr=LR, batch=1, dim=dim, chi=CHI).w1
    axes.axhline(step, color="0.4", linestyle=":", linewidth=1, zorder=0)
    axes.text(
        0.98, step / 1.1, "first step, theory", color="0.4", ha="right", va="top",
        fontsize="small", transform=axes.get_yaxis_transform(),
    )  # fmt: skip
    axes.plot([], [], "k--", linewidth=0.9, label="online SDE")
    axes.set(xscale="log", yscale="log", xlabel=r"$t$", ylabel=r"$w_1$")
    axes.set_title(rf"perceptron, $\eta={LR:g}$", fontsize="medium")


def _draw_online(axes: Any, dim: int, batch: int, end: float) -> None:
    times = np.geomspace(LR, end, 200)
    theory = online(times, chi=CHI, dim=dim, margin=MARGIN, temperature=LR / batch)
    axes.plot(times, theory.w1, "k--", linewidth=0.9)


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    star = critical_batch(scale)
    batch, final = runs.curve("batch", "w1")
    _, first = runs.curve("batch", "first_step_w1")
    small, large = batch <= star / 4, batch >= 4 * star
    largest = np.flatnonzero(small)[-1:]
    expected = first_step(lr=LR, batch=1, dim=sizes(scale)[1], chi=CHI).w1
    return [
        above("fig3.1a", "B <= B*/4: w1 grows through training; final w1 over the first step's "
              "mean, at the largest such B", furthest(final[largest] / expected), 4,
              "what the theory says of B*/4, and more at smaller B"),
        equal("fig3.1b", "B >= 4 B*: w1 reaches its final value in one step; first over final w1, "
              "at the B where it is furthest from 1", furthest(first[large] / final[large]), 1,
              0.1, "a tenth allows for the width of the crossover"),
    ]  # fmt: skip


FIGURE = Figure(
    "fig3",
    "w1 in time at eta = 512, several B",
    plan,
    draw,
    claims,
    trajectories=True,
)
