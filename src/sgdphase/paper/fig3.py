"""Fig. 3: `w1` of the perceptron in time at a large learning rate, for small and large batches.

Dashed: the online solution; dotted: the theory's first step. The inset of the paper is fig3-inset.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sgdphase import theory
from sgdphase.paper.claim import Claim, Scale, above, equal
from sgdphase.paper.draw import Trajectories, key
from sgdphase.paper.figure import Figure, Grid
from sgdphase.paper.measure import AWAY, furthest, scales
from sgdphase.paper.runs import Runs
from sgdphase.stats import whole_powers

CHI, MARGIN, LR = 1.0, 2.0**-7, 512.0


def _first_step(runs: Runs) -> float:
    return theory.first_step(lr=LR, batch=1, dim=runs.only("dim"), chi=CHI).w1


def _theory(axes: Any, runs: Runs) -> None:
    dim, star = runs.only("dim"), scales(runs).critical_batch
    for batch in runs.values("batch"):
        if batch <= star / AWAY:
            end = runs.trajectories(batch=batch, seed=0)[0]["time"][-1]
            times = np.geomspace(LR, end, 200)
            w1 = theory.online(times, chi=CHI, dim=dim, margin=MARGIN, temperature=LR / batch).w1
            axes.plot(times, w1, "k--", linewidth=0.9)
    key(axes, "--", "online SDE", "k", linewidth=0.9)
    step = _first_step(runs)
    axes.axhline(step, color="0.4", linestyle=":", linewidth=1, zorder=0)
    axes.text(
        0.98, step / 1.1, "first step, theory", color="0.4", ha="right", va="top",
        fontsize="small", transform=axes.get_yaxis_transform(),
    )  # fmt: skip


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    star = scales(runs).critical_batch
    batch, final = runs.curve("batch", "w1")
    _, first = runs.curve("batch", "first_step_w1")
    small, large = batch <= star / AWAY, batch >= AWAY * star
    largest = np.flatnonzero(small)[-1:]
    return [
        above("1a", "B <= B*/4: w1 grows through training; final w1 over the first step's "
              "mean, at the largest such B", furthest(final[largest] / _first_step(runs)), 4,
              "what the theory says of B*/4, and more at smaller B"),
        equal("1b", "B >= 4 B*: w1 reaches its final value in one step; first over final w1, "
              "at the B where it is furthest from 1", furthest(first[large] / final[large]), 1,
              0.1, "a tenth allows for the width of the crossover"),
    ]  # fmt: skip


FIGURE = Figure(
    "fig3",
    "w1 in time at eta = 512, several B",
    plan=Grid(
        chi=CHI,
        margin=MARGIN,
        lr=LR,
        quick=dict(train_size=4096, dim=32, batch=whole_powers(0, 12, 2), seeds=3),
        paper=dict(train_size=8192, dim=128, batch=[*whole_powers(0, 12, 2), 8192], seeds=5),
    ),
    draw=Trajectories("w1", "$w_1$", title="perceptron", extra=_theory),
    claims=claims,
    trajectories=True,
)
