"""Fig. 2: trajectories of SGD in the (w1, |w_perp|) plane at fixed T."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase._typing import FloatArray
from sgdphase.paper._along import Trajectory, exponent, geometric_mean, mean
from sgdphase.paper._trajectory_plane import TEMPERATURE, Setting, draw_paths, setting
from sgdphase.paper.claim import Claim, above, below, equal
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs


def plan(scale: Scale) -> Sequence[Training]:
    return setting(scale).plan(momentum=0.0)


def draw(runs: Runs, scale: Scale) -> Any:
    return draw_paths(runs, scale, momentum=0.0)


# Up to B*/8 the first step leaves a factor of 8 in w1 to meet the online solution before the
# crossover, where that solution ends. From 4 B* on the first step is 4 times w1 there.
SMALL, LARGE = 1 / 8, 4.0


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    own = setting(scale)
    star = own.theory.critical_batch
    small = np.array([batch for batch in own.batches if batch <= SMALL * star])
    ratio = np.array([_ratios(runs, own, int(batch)) for batch in small])
    batch, norm = runs.curve("batch", "norm")
    large = batch >= LARGE * star
    full = runs.where(batch=own.train_size)
    unfitted = [along["unfitted"][0] for along in full.trajectories()]
    _, steps = full.curve("batch", "steps")
    return [
        equal("fig2.1a", "B <= B*/8: |w_perp| is that of the online solution at the same w1, from "
              "half its w1 at the crossover to it", geometric_mean(ratio), 1, 0.1,
              "a training of d = 128 fluctuates by d^(-1/2) = 0.09 about it"),
        equal("fig2.1b", "B <= B*/8: |w_perp| at the same w1 does not depend on B",
              exponent(small, ratio), 0, 0.05,
              "first steps have |w_perp| ~ B^(1/2); a tenth of that is left at most"),
        equal("fig2.2a", "the final |w| grows with B above B*: as eta = T B, from 4 B* on",
              exponent(batch[large], norm[large]), 1, 0.1,
              "regimes differ by 1 in it; a tenth allows for the width of the crossover"),
        above("fig2.2b", "the final |w| at full batch is above that of the smallest batch",
              geometric_mean(norm[-1] / norm[0]), 2, "a factor of 2 is more than a crossover"),
        below("fig2.3a", "the full batch fits nearly all data after one step: unfitted fraction",
              mean(unfitted), 0.01, "nearly all: 99 of 100 points"),
        below("fig2.3b", "the full batch fits all data within a few steps: steps to zero loss",
              geometric_mean(steps), 10, "few: at most 10"),
    ]  # fmt: skip


def _ratios(runs: Runs, own: Setting, batch: int) -> FloatArray:
    """`|w_perp|` over that of the online solution at the same `w1`, for each seed."""
    theory = own.online(TEMPERATURE)
    first, last = own.theory.w1 / 2, own.theory.w1

    def ratio(along: Trajectory) -> float:
        inside = (along["w1"] >= first) & (along["w1"] <= last)
        expected = np.interp(np.log(along["w1"][inside]), np.log(theory.w1), np.log(theory.w_perp))
        return float(np.exp(np.mean(np.log(along["w_perp"][inside]) - expected)))

    return np.array([ratio(along) for along in runs.trajectories(batch=batch)])


FIGURE = Figure(
    "fig2",
    "trajectories in the (w1, |w_perp|) plane at fixed T, one per B, over the training loss",
    plan,
    draw,
    claims,
    trajectories=True,
    remark=(
        "The bound of 3b was set when the number of steps of one seed was known; 3a was changed "
        "from a geometric to an arithmetic mean after the run, with the same verdict."
    ),
)
