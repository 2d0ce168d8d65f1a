"""The plain loop: one dot product per drawn point, no skip-ahead.

This is what the fast simulator is measured against and compared with in distribution. It shares
with it only the random numbers and the data.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sgdphase.perceptron._random import below, random_state


@njit(fastmath={"reassoc", "contract", "nsz"}, cache=True)
def _loop(z, threshold, rate, batch, max_steps, state):
    size, dim = z.shape
    w = np.zeros(dim)
    gradient = np.zeros(dim)
    items = np.arange(size)
    step = 0
    last_change = 0
    quiet = 0
    while step < max_steps:
        step += 1
        hits = 0
        for i in range(batch):
            j = i + below(state, size - i)
            items[i], items[j] = items[j], items[i]
            row = z[items[i]]
            total = 0.0
            for a in range(dim):
                total += row[a] * w[a]
            if total < threshold:
                for a in range(dim):
                    gradient[a] += row[a]
                hits += 1
        if hits > 0:
            for a in range(dim):
                w[a] += rate * gradient[a]
                gradient[a] = 0.0
            last_change = step
            quiet = 0
        else:
            # A batch of fitted points: look at all of them once as many have been drawn.
            quiet += batch
            if quiet >= size:
                quiet = 0
                unfitted = 0
                for i in range(size):
                    row = z[i]
                    total = 0.0
                    for a in range(dim):
                        total += row[a] * w[a]
                    if total < threshold:
                        unfitted += 1
                if unfitted == 0:
                    break
    return w, last_change


def reference_sgd(
    z: NDArray[np.float64], *, margin: float, lr: float, batch: int, seed: int, max_steps: int
) -> tuple[NDArray[np.float64], int]:
    """Final weights and the last step that changed them; `z` holds the points times their label."""
    root = math.sqrt(z.shape[1])
    w, steps = _loop(z, margin * root, lr / batch / root, batch, max_steps, random_state(seed, 77))
    return w, int(steps)
