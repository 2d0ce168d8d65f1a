"""Which points each step sees: a function of the seed and the number of the step alone.

Batches are drawn in blocks, each from its own random stream. A training that is resumed needs only
the number of its step, and the plain loop sees the same batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from sgdphase._records import Training
from sgdphase._streams import NETWORK_BATCHES, training_stream
from sgdphase._typing import IntArray

# Indices in a block, so that drawing costs little per step.
_BLOCK = 16384


def block_steps(training: Training) -> int:
    """Steps per block; of an epoch, points that do not fill a batch are dropped."""
    if training.sampler == "epoch":
        return training.train_size // training.batch
    return max(_BLOCK // training.batch, 1)


def ahead(training: Training, step: int) -> IntArray:
    """The batches `[n, B]` of the steps after `step`, up to the end of their block."""
    size = block_steps(training)
    number, taken = divmod(step, size)
    return _block(
        training.seed, training.train_size, training.batch, training.sampler, size, number
    )[taken:]


def batches(training: Training) -> Iterator[IntArray]:
    """The batches one by one, from the first step on."""
    step = 0
    while True:
        block = ahead(training, step)
        yield from block
        step += len(block)


@lru_cache(maxsize=2)
def _block(seed: int, points: int, batch: int, sampler: str, size: int, number: int) -> IntArray:
    rng = training_stream(seed, NETWORK_BATCHES, number)
    if sampler == "epoch":
        return rng.permutation(points)[: size * batch].reshape(size, batch)
    if batch == points:
        return np.tile(np.arange(points), (size, 1))
    if batch * batch > points:
        draws = [rng.choice(points, batch, replace=False, shuffle=False) for _ in range(size)]
        return np.stack(draws)
    # Rows with a point twice are drawn anew; what is left is uniform over distinct points.
    drawn = rng.integers(points, size=(size, batch))
    while batch > 1:
        in_order = np.sort(drawn, axis=1)
        twice = (in_order[:, 1:] == in_order[:, :-1]).any(axis=1)
        if not twice.any():
            break
        drawn[twice] = rng.integers(points, size=(int(twice.sum()), batch))
    return drawn
