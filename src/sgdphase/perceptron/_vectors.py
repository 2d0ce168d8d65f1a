"""Vectors inside compiled loops."""

from __future__ import annotations

import math

from numba import njit

# Reassociating sums lets the compiler vectorise them; nan and inf keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}


@njit(fastmath=FASTMATH, inline="always")
def dot(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit(fastmath=FASTMATH, inline="always")
def add_scaled(a, scale, b):
    for i in range(a.shape[0]):
        a[i] += scale * b[i]


@njit(fastmath=FASTMATH)
def displacement(w, w_ref):
    """How far `w` is from `w_ref`, a growth of `w1` not counted."""
    back = min(w[0] - w_ref[0], 0.0)
    total = back * back
    for i in range(1, w.shape[0]):
        total += (w[i] - w_ref[i]) ** 2
    return math.sqrt(total)
