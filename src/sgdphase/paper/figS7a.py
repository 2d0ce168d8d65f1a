"""Fig. S7A: the alignment of the fully connected net in time at a large margin.

The output has to grow to the order of the margin before points are fitted: it inflates. So what
holds at small margin (Fig. 3, inset) does not hold here, and the first steps decide little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase.paper.claim import Claim, Scale, below
from sgdphase.paper.fig3_inset import FEW, alignment_in_time, nine_tenths, part_after
from sgdphase.paper.figure import Figure
from sgdphase.paper.measure import mean
from sgdphase.paper.runs import Runs
from sgdphase.paper.settings import fc_large_margin
from sgdphase.stats import Estimate

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
    title = rf"fully connected, parity MNIST, $\kappa=1$, $\eta={CELLS[scale][0]:g}$"
    return alignment_in_time(title)(runs, scale)


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    largest = runs.values("batch")[-1]
    return [
        below("1a", "inflation: the alignment does not jump in the first step; alignment after it "
              "over the final one, at the B where it is largest", _largest_part(runs), 0.1,
              "a tenth: in the perceptron at large B it is within a tenth of 1"),
        below("1b", f"nor in the first {FEW}: alignment after them over the final one, at the "
              f"largest B ({largest}, where nine tenths take {nine_tenths(runs, largest)})",
              mean(part_after(runs, largest, FEW)), 0.5,
              "less than half is built up; at small margin (fig3-inset) within a tenth of all"),
    ]  # fmt: skip


def _largest_part(runs: Runs) -> Estimate:
    """The part of the final alignment after one step, at the batch where it is largest."""
    each = [mean(part_after(runs, batch, 1)) for batch in runs.values("batch")]
    return max(each, key=lambda part: -np.inf if np.isnan(part.value) else part.value)


FIGURE = Figure(
    "figS7a",
    "alignment of the fully connected net on parity MNIST in time, several B: large margin",
    plan,
    draw,
    claims,
    trajectories=True,
    reduced=True,
)
