"""Each way of making a stretch of steps is the process of the plain loop."""

import math

import numpy as np
from scipy import stats

from sgdphase import Points, simulate_sgd
from sgdphase._compiled import kept
from sgdphase.perceptron._hypergeometric import chances_of_none
from sgdphase.perceptron._random import random_state
from sgdphase.perceptron._stretches import listed_only, plain
from sgdphase.perceptron._tracked import tracked
from sgdphase.perceptron._vectors import FASTMATH

LEVEL = 1e-4


# Within a simulation these are compiled into its loop. Here they are called one by one.
plain, listed_only, tracked = (
    kept(fastmath=FASTMATH, error_model="numpy")(function.py_func)
    for function in (plain, listed_only, tracked)
)
chances_of_none = kept(error_model="numpy")(chances_of_none.py_func)

# Each with its first seed.
STRETCHES = {"plain": 0, "listed": 10_000, "tracked": 20_000}


def after_stretch(kind: str, data: Points, start: np.ndarray, seed: int, steps: int) -> np.ndarray:
    """`w` after `steps` steps of one kind from `start`, all points listed."""
    size, dim = data.z.shape
    batch, root = 5, math.sqrt(dim)
    threshold, rate = 2**-7 * root, 10.0 / (batch * root)
    w, clock = start.copy(), np.zeros(5, np.int64)
    everything, seen = np.arange(size), np.zeros(size, np.bool_)
    due, snapshots, state = np.empty(0, np.int64), np.empty((0, dim)), random_state(seed, 9)
    tail = (seen, w, clock, due, snapshots, state)
    none = chances_of_none(size, batch, size)
    spent, kept_at = np.zeros(size + 1, np.int64), np.full(size, -1)
    kept = np.empty((3, size))
    # A stretch may end early, to be planned anew; here it goes on until all is fitted.
    while clock[0] < steps and (data.z @ w < threshold).any():
        if kind == "plain":
            plain(data.z, threshold, rate, batch, steps - clock[0], everything, *tail)
            continue
        if kind == "listed":
            listed_only(data.z, everything, threshold, rate, batch, math.inf, steps, *tail)
            continue
        tracked(
            data.z, everything, threshold, rate, batch, math.inf, steps, none,
            spent, kept, kept_at, *tail,
        )  # fmt: skip
    return w


def test_each_kind_of_stretch_is_the_same_process(points) -> None:
    # From a point in mid-training, 300 steps: the spread over 600 seeds must agree as well.
    data = points(300, 8, 0.0)
    start = simulate_sgd(data, margin=2**-7, lr=10.0, batch=5, max_steps=200).w
    one, *others = (
        np.array([after_stretch(kind, data, start, first + seed, 300) for seed in range(600)])
        for kind, first in STRETCHES.items()
    )
    assert one[:, 0].std() > 0.1
    for other in others:
        for a, b in zip(one.T, other.T, strict=True):
            assert stats.ks_2samp(a, b).pvalue > LEVEL
