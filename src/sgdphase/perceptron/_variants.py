"""SGD with momentum and weight decay (SI 2), one dot product for every drawn point.

    v <- m v + (lr / B) sum_{mu in batch, unfitted} z_mu / sqrt(d) - lr Lambda w
    w <- w + v

`Lambda = 0` is SI 2.A, `m = 0` is SI 2.B. With momentum the weights move at every step, so the
training ends at the first step after which no point is unfitted. The check uses a *witness*, a
point known to be unfitted; only when it becomes fitted, another one is searched. With weight decay
the training does not end by itself.
"""

from __future__ import annotations

import math

import numpy as np

from sgdphase._compiled import kept
from sgdphase.perceptron._random import below
from sgdphase.perceptron._sgd import DIVERGED, FITTED, OUT_OF_STEPS, STOPPED
from sgdphase.perceptron._vectors import FASTMATH, add_scaled, copy_into, dot, numbers

# Steps between two checks whether to stop early.
_LOOK = 4096


@kept(fastmath=FASTMATH, nogil=True)
def run_variant(
    z, threshold, rate, shrink, momentum, batch, max_steps, due, snapshots, state, stop
):
    """As `run_sgd`, with `momentum` and `shrink = lr Lambda`."""
    size, dim = z.shape
    w = np.zeros(dim)
    velocity = np.zeros(dim)
    items = numbers(size)
    witness = 0
    stored = 0
    step = 0
    end = OUT_OF_STEPS
    while step < max_steps:
        step += 1
        for a in range(dim):
            velocity[a] = momentum * velocity[a] - shrink * w[a]
        for i in range(batch):
            j = i + below(state, size - i)
            items[i], items[j] = items[j], items[i]
            row = z[items[i]]
            if dot(row, w) < threshold:
                add_scaled(velocity, rate, row)
                witness = items[i]
        add_scaled(w, 1.0, velocity)
        if stored < due.shape[0] and due[stored] == step:
            copy_into(snapshots[stored], w)
            stored += 1
        if not math.isfinite(dot(w, w)):
            end = DIVERGED
            break
        if step % _LOOK == 0 and stop[0] != 0:
            end = STOPPED
            break
        if shrink == 0.0 and not dot(z[witness], w) < threshold:
            tried = 0
            while tried < size and not dot(z[witness], w) < threshold:
                witness = witness + 1 if witness + 1 < size else 0
                tried += 1
            if tried == size:
                end = FITTED
                break
    return end, w, step, stored
