"""Fig. S1a: trajectories of SGD with momentum in the (w1, |w_perp|) plane (SI 2.A)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase.paper._along import exponent, geometric_mean
from sgdphase.paper._trajectory_plane import draw_paths, setting
from sgdphase.paper.claim import Claim, above, equal
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs

MOMENTUM = 0.9
SLOWER = 10.0  # 1 / (1 - MOMENTUM)


def plan(scale: Scale) -> Sequence[Training]:
    """With momentum, and without for comparison (the trainings of Fig. 2)."""
    own = setting(scale)
    return [*own.plan(momentum=MOMENTUM), *own.plan(momentum=0.0)]


def draw(runs: Runs, scale: Scale) -> Any:
    return draw_paths(runs, scale, momentum=MOMENTUM)


# Batches that are small and large as in Fig. 2: B* compares w1 after the first steps,
# proportional to eta / (1 - m), with that at the crossover, proportional to T / (1 - m).
SMALL, LARGE = 1 / 8, 4.0
# The velocity of the first step has spent 96 % of itself after this many steps.
FIRST_STEPS = 30


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    star = setting(scale).theory.critical_batch
    batch, w_perp = runs.curve("batch", "w_perp", momentum=MOMENTUM)
    _, w_perp_plain = runs.curve("batch", "w_perp", momentum=0.0)
    _, w1 = runs.curve("batch", "w1", momentum=MOMENTUM)
    _, w1_plain = runs.curve("batch", "w1", momentum=0.0)
    small, large = batch <= SMALL * star, batch >= LARGE * star
    early = np.array([_early(runs, int(b)) for b in batch[large]])
    return [
        equal("figS1a.1", "B <= B*/8: the final |w_perp| is 1/(1-m) = 10 times that without "
              "momentum", geometric_mean(w_perp[small] / w_perp_plain[small]), SLOWER, 1,
              "a training of d = 128 fluctuates by d^(-1/2) = 0.09 about its mean"),
        above("figS1a.2a", "B >= 4 B*: first steps dominate; w1 after 30 steps over its final "
              "value", geometric_mean(early), 0.8, "all but a crossover's worth of it"),
        equal("figS1a.2b", "B >= 4 B*: the final w1 is proportional to eta",
              exponent(batch[large], w1[large]), 1, 0.1,
              "regimes differ by 1 in it; a tenth allows for the width of the crossover"),
        equal("figS1a.2c", "B >= 4 B*: the final w1 is 1/(1-m) = 10 times that without momentum",
              geometric_mean(w1[large] / w1_plain[large]), SLOWER, 2.5,
              "a training may end before the velocity of its first step is spent"),
    ]  # fmt: skip


def _early(runs: Runs, batch: int) -> list[float]:
    """`w1` after the first steps over its final value, for each seed."""
    found = []
    for along in runs.trajectories(batch=batch, momentum=MOMENTUM):
        w1, steps = along["w1"], along["time"] / along["time"][0]
        found.append(float(np.interp(FIRST_STEPS, steps, w1) / w1[-1]))
    return found


FIGURE = Figure(
    "figS1a",
    "trajectories as fig2 with momentum 0.9",
    plan,
    draw,
    claims,
    trajectories=True,
)
