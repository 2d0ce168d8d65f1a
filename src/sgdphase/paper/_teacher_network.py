"""A fully connected net on the perceptron's task, at one batch and many temperatures (SI 3.B).

Its amplification `Lambda` tells how much more its first layer sees of `x1`, which decides the
label, than of any other direction. For random weights of `n` neurons it is 1, up to a deviation of
`1/sqrt(2 n)`: 0.06 at width 128.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase._typing import FloatArray
from sgdphase.paper._fitted import fitted
from sgdphase.paper._scaling import powers
from sgdphase.paper.figure import Scale
from sgdphase.paper.runs import Runs
from sgdphase.paper.settings import SMALL_MARGIN
from sgdphase.problems import TeacherTask

# The batch is named in the paper's file of the figure.
BATCH, CHI = 1, 1.0
TITLE = r"fully connected, teacher task, $\chi=1$, $\kappa=2^{-15}$, $B=1$"

# Above it a net counts as adapted: four deviations of a random one.
ADAPTED = 1.25


def plan(scale: Scale) -> Sequence[Training]:
    quick, paper = scale == "quick", scale == "paper"
    return grid(
        TeacherTask(dim=16 if quick else 128, chi=CHI),
        model="fc",
        width=32 if quick else 128,
        train_size=256 if quick else 8192 if paper else 4096,
        margin=SMALL_MARGIN,
        batch=BATCH,
        temperature=powers(-7, 1, 2) if quick else powers(-7, 5),
        seeds=2 if quick else 5 if paper else 3,
        test_size=1024 if quick else 32768 if paper else 8192,
        max_samples=2**18 if quick else None if paper else 2**24,
    )


def by_temperature(runs: Runs, observable: str) -> tuple[FloatArray, FloatArray]:
    """An observable `[n, seeds]` at the temperatures `[n]`, NaN where a training did not end."""
    lr, y = fitted(runs).curve("lr", observable)
    return lr / BATCH, y


def first_crossing(x: FloatArray, y: FloatArray, level: float) -> float:
    """Where `y` first rises above a level, between points by straight lines in `log x`.

    NaN where it does not, or starts above.

    >>> first_crossing(np.array([1.0, 4.0]), np.array([0.0, 2.0]), 1.0)
    2.0
    """
    after = int(np.argmax(y > level))
    if after == 0:
        return float("nan")
    before = after - 1
    share = (level - y[before]) / (y[after] - y[before])
    return float(x[before] * (x[after] / x[before]) ** share)
