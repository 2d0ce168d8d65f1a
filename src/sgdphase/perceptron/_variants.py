"""SGD with momentum, regularisation and other losses, one dot product for every drawn point.

    v <- m v + (lr / B) sum_{mu in batch} s(u_mu) z_mu / sqrt(d) - lr (Lambda w + Lambda_1 sign(w))
    w <- w + v,        u_mu = z_mu . w / (sqrt(d) kappa),

where `s = -l'` is minus the slope of the loss `kappa l(u)` (`_losses`): for the hinge loss 1 if the
point is unfitted, else 0. With it, `Lambda = 0` is SI 2.A, `m = 0` is SI 2.B. Weights may move at
every step, so the training ends at the first step after which no point is unfitted, i.e. below its
goal. The check uses a *witness*, a point known to be unfitted; only when it becomes fitted, another
one is searched. With regularisation the training does not end by itself.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from sgdphase._compiled import kept
from sgdphase.perceptron._losses import HINGE, LOGISTIC, SMOOTH_HINGE, SQUARE
from sgdphase.perceptron._random import below
from sgdphase.perceptron._sgd import DIVERGED, FITTED, OUT_OF_STEPS, STOPPED
from sgdphase.perceptron._vectors import FASTMATH, add_scaled, copy_into, dot, numbers

# Steps between two checks whether to stop early.
_LOOK = 4096


@njit(fastmath=FASTMATH)
def _pull(loss, u):
    """`-l'(u)` of a loss other than hinge: how much of a point a step adds to the weights."""
    if loss == LOGISTIC:
        return 1.0 / (1.0 + math.exp(u))
    slack = 1.0 - u
    if loss == SQUARE:
        return slack
    if loss == SMOOTH_HINGE and slack > 1.0:
        return 1.0
    return max(slack, 0.0)


@kept(fastmath=FASTMATH, nogil=True)
def run_variant(
    z, threshold, goal, loss, rate, shrink, l1, momentum, batch, max_steps, due, snapshots, state,
    stop,
):  # fmt: skip
    """As `run_sgd`, with `momentum`, `shrink = lr Lambda`, `l1 = lr Lambda_1`, and a loss.

    `goal` is the `z . w` of a fitted point; `threshold` that where `u = 1`.
    """
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
        if l1 > 0.0:
            for a in range(dim):
                if w[a] != 0.0:
                    velocity[a] -= l1 if w[a] > 0.0 else -l1
        for i in range(batch):
            j = i + below(state, size - i)
            items[i], items[j] = items[j], items[i]
            row = z[items[i]]
            product = dot(row, w)
            if loss != HINGE:
                add_scaled(velocity, rate * _pull(loss, product / threshold), row)
            elif product < threshold:
                add_scaled(velocity, rate, row)
            if product < goal:
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
        if shrink == 0.0 and l1 == 0.0 and not dot(z[witness], w) < goal:
            tried = 0
            while tried < size and not dot(z[witness], w) < goal:
                witness = witness + 1 if witness + 1 < size else 0
                tried += 1
            if tried == size:
                end = FITTED
                break
    return end, w, step, stored
