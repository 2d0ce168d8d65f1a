"""The stochastic differential equation that models SGD on a finite training set (Eq. 2).

    dw = -grad L(w) dt + sqrt(T) sqrt(Sigma(w)) dW,

with the empirical gradient and the empirical covariance of SI 1.A,

    -grad L = (1/P) sum_mu g_mu,   g_mu = z_mu / sqrt(d) where unfitted, 0 where fitted,
    Sigma   = (1/P) sum_mu g_mu g_mu^T - grad L grad L^T.

No matrix root is needed: with independent normals `xi_mu`, `P^(-1/2) sum_mu xi_mu (g_mu + grad L)`
has covariance `Sigma`. Fitted points enter only through the sum of their `xi`, one normal in all.
Euler and Maruyama's scheme with step `dt`; at `dt = lr` it is gradient descent with Gaussian noise
of the mini-batch covariance.
"""

from __future__ import annotations

import math

import numpy as np

from sgdphase._compiled import kept
from sgdphase.perceptron._random import normal_pair
from sgdphase.perceptron._sgd import DIVERGED, FITTED, OUT_OF_STEPS, STOPPED
from sgdphase.perceptron._vectors import FASTMATH, add_scaled, copy_into, dot


@kept(fastmath=FASTMATH, nogil=True)
def run_sde(z, threshold, temperature, dt, max_steps, due, snapshots, state, stop):
    """As `run_sgd`; a step is one of length `dt`."""
    size, dim = z.shape
    root = math.sqrt(dim)
    w = np.zeros(dim)
    mean = np.zeros(dim)
    noise = np.zeros(dim)
    stored = 0
    step = 0
    while True:
        unfitted = 0
        xi_sum = 0.0
        xi_next = 0.0
        mean[:] = 0.0
        noise[:] = 0.0
        for mu in range(size):
            row = z[mu]
            if dot(row, w) < threshold:
                if unfitted % 2 == 0:
                    xi, xi_next = normal_pair(state)
                else:
                    xi = xi_next
                xi_sum += xi
                add_scaled(mean, 1.0, row)
                add_scaled(noise, xi, row)
                unfitted += 1
        if unfitted == 0:
            return FITTED, w, step, stored
        if not math.isfinite(dot(w, w)):
            return DIVERGED, w, step, stored
        if step >= max_steps:
            return OUT_OF_STEPS, w, step, stored
        if stop[0] != 0:
            return STOPPED, w, step, stored
        xi_sum += math.sqrt(size - unfitted) * normal_pair(state)[0]
        amplitude = math.sqrt(temperature * dt / size) / root
        add_scaled(w, dt / (size * root) - amplitude * xi_sum / size, mean)
        add_scaled(w, amplitude, noise)
        step += 1
        if stored < due.shape[0] and due[stored] == step:
            copy_into(snapshots[stored], w)
            stored += 1
