"""Fig. S7A: the alignment of the fully connected net in time at a large margin.

The output has to grow to the order of the margin before points are fitted: it inflates. So what
holds at small margin (Fig. 3, inset) does not hold here, and the first steps decide little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sgdphase._records import Training
from sgdphase.diagram._style import new_figure
from sgdphase.paper._alignment_in_time import (
    FEW,
    draw_alignment,
    largest_part_after,
    part_after,
    steps_in_all,
    steps_to,
)
from sgdphase.paper._along import mean
from sgdphase.paper._claims import Claim, below
from sgdphase.paper._frame import Figure, Scale
from sgdphase.paper._left_out import write_left_out
from sgdphase.paper._networks import fc_large_margin
from sgdphase.paper._runs import Runs

# Learning rate and batches.
CELLS: dict[Scale, tuple[float, tuple[int, ...]]] = {
    "quick": (8.0, (8, 32, 128)),
    "laptop": (32.0, (16, 64, 256, 1024)),
    "paper": (64.0, (16, 64, 256, 1024, 4096)),
}


def plan(scale: Scale) -> Sequence[Training]:
    lr, batches = CELLS[scale]
    return fc_large_margin(scale).at(lr=lr, batch=batches)


def draw(runs: Runs, scale: Scale) -> Any:
    figure, axes = new_figure(size=(5.6, 4.0))
    draw_alignment(axes, runs)
    axes.set_title(
        rf"fully connected, parity MNIST, $\kappa=1$, $\eta={CELLS[scale][0]:g}$", fontsize="medium"
    )
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", frameon=False)
    write_left_out(figure, plan(scale), plan("paper"))
    return figure


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    largest = runs.values("batch")[-1]
    took = f"{steps_to(runs, largest, 0.9):g} steps of {steps_in_all(runs, largest):g}"
    return [
        below("figS7a.1a", "inflation: the alignment does not jump in the first step; alignment "
              "after it over the final one, at the B where it is largest",
              largest_part_after(runs, 1), 0.1,
              "a tenth: in the perceptron at large B it is within a tenth of 1"),
        below("figS7a.1b", f"nor in the first {FEW}: alignment after them over the final one, at "
              f"the largest B ({largest}, where nine tenths take {took})",
              mean(part_after(runs, largest, FEW)), 0.5,
              "less than half is built up; at small margin (fig3-inset) within a tenth of all"),
    ]  # fmt: skip


FIGURE = Figure(
    "figS7a",
    "alignment of the fully connected net on parity MNIST in time, several B: large margin",
    plan,
    draw,
    claims,
    trajectories=True,
)
