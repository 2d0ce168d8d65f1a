"""Fig. 3, inset: the alignment of a network in time at a large learning rate, small margin.

The paper says that at large batches it reaches its final value "after some training steps". Here
some steps are `FEW`, and what is measured is the part of the final alignment after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase._typing import FloatArray
from sgdphase.paper.claim import Claim, Scale, below, equal
from sgdphase.paper.draw import Trajectories
from sgdphase.paper.figure import Figure
from sgdphase.paper.measure import mean
from sgdphase.paper.runs import Runs, Trajectory
from sgdphase.paper.settings import fc

LR = 16.0
# Training points and batches.
CELLS: dict[Scale, tuple[int, tuple[int, ...]]] = {
    "quick": (256, (4, 16, 64, 256)),
    "laptop": (4096, (1, 4, 16, 64, 256, 1024)),
    "paper": (32768, (1, 4, 16, 64, 256, 1024)),
}
# A step at which all trainings are looked at (1, 2, 4, ...).
FEW = 8


def part_after(runs: Runs, batch: int, steps: int) -> FloatArray:
    """Alignment after so many steps over the final one, for each seed; NaN if it did not end."""
    _, final = runs.fitted().curve("batch", "alignment", batch=batch)
    early = [_after(along, steps) for along in runs.trajectories(batch=batch)]
    return np.array(early) / np.where(final[0] > 0, final[0], np.nan)


def _after(along: Trajectory, steps: int) -> float:
    """The latest look up to a step; the last one if the training was shorter."""
    alignment = along["alignment"][along["step"] <= steps]
    return float(alignment[-1]) if alignment.size else float("nan")


def steps_to(runs: Runs, batch: int, part: float) -> float:
    """Median over seeds of the steps after which the alignment first has this part of its end."""
    first = []
    for along in runs.trajectories(batch=batch):
        there = along["step"][along["alignment"] >= part * along["alignment"][-1:]]
        first += [float(there[0])] if there.size else []
    return float(np.median(first)) if first else float("nan")


def nine_tenths(runs: Runs, batch: int) -> str:
    """The steps to nine tenths of the final alignment, of those to the end: medians over seeds."""
    _, steps = runs.curve("batch", "steps", batch=batch)
    return f"{steps_to(runs, batch, 0.9):g} steps of {np.median(steps):g}"


def mark_few(axes: Any, runs: Runs) -> None:
    """A vertical line at `FEW` steps."""
    time = FEW * runs.only("lr")
    axes.axvline(time, color="0.4", linestyle=":", linewidth=1, zorder=0)
    foot = axes.get_xaxis_transform()
    axes.text(time * 1.1, 0.02, f"{FEW} steps", color="0.4", fontsize="small", transform=foot)


def alignment_in_time(title: str) -> Trajectories:
    """The drawing, for a large margin too (Fig. S7A)."""
    return Trajectories("alignment", r"alignment $\langle yf\rangle$", title, mark_few)


def plan(scale: Scale) -> Sequence[Training]:
    train_size, batches = CELLS[scale]
    return fc(scale).at(train_size=train_size, lr=LR, batch=batches)


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    smallest, *_, largest = runs.values("batch")
    return [
        below("1a", f"smallest B ({smallest}): the alignment grows through training; alignment "
              f"after {FEW} steps over the final one", mean(part_after(runs, smallest, FEW)), 0.25,
              "a factor of 4, as in fig3.1a"),
        equal("1b", f"largest B ({largest}): the alignment reaches its final value in few steps; "
              f"alignment after {FEW} steps over the final one (nine tenths take "
              f"{nine_tenths(runs, largest)})", mean(part_after(runs, largest, FEW)), 1, 0.1,
              f"few are {FEW}; a tenth as in fig3.1b"),
    ]  # fmt: skip


FIGURE = Figure(
    "fig3-inset",
    "alignment of the fully connected net on parity MNIST in time, several B: small margin",
    plan,
    alignment_in_time(rf"fully connected, parity MNIST, $\kappa=2^{{-15}}$, $\eta={LR:g}$"),
    claims,
    trajectories=True,
    reduced=True,
)
