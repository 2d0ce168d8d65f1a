"""How many marked items a draw without replacement holds: `drawn` of `total`, `marked` marked.

p(k + 1) / p(k) = (marked - k) (drawn - k) / ((k + 1) (total - marked - drawn + k + 1))
"""

from __future__ import annotations

import numpy as np

from sgdphase.perceptron._random import uniform
from sgdphase.perceptron._vectors import inner, zeros


@inner()
def _ratio(total, marked, drawn, k):
    up = np.float64(marked - k) * np.float64(drawn - k)
    return up / (np.float64(k + 1) * np.float64(total - marked - drawn + k + 1))


@inner()
def table(total, marked, drawn):
    """`(k0, cdf)` with `cdf[i]` the chance of at most `k0 + i`.

    Summed outwards from the mode, as far as terms are above 1e-18 of it.
    """
    low, high = max(0, drawn + marked - total), min(drawn, marked)
    mode = min(max((drawn + 1) * (marked + 1) // (total + 2), low), high)
    first, term = mode, 1.0
    while first > low and term > 1e-18:
        first -= 1
        term /= _ratio(total, marked, drawn, first)
    last, term = mode, 1.0
    while last < high and term > 1e-18:
        term *= _ratio(total, marked, drawn, last)
        last += 1
    cdf = zeros(last - first + 1)
    cdf[mode - first] = 1.0
    for k in range(mode - 1, first - 1, -1):
        cdf[k - first] = cdf[k + 1 - first] / _ratio(total, marked, drawn, k)
    for k in range(mode, last):
        cdf[k + 1 - first] = cdf[k - first] * _ratio(total, marked, drawn, k)
    for i in range(1, cdf.shape[0]):
        cdf[i] += cdf[i - 1]
    total_chance = cdf[-1]
    for i in range(cdf.shape[0]):
        cdf[i] /= total_chance
    return first, cdf


@inner()
def drawn_from(cdf, target):
    """The first index whose `cdf` is above `target`, or the last one."""
    low, high = np.int64(0), np.int64(cdf.shape[0] - 1)
    while low < high:
        middle = (low + high) // 2
        if cdf[middle] <= target:
            low = middle + 1
        else:
            high = middle
    return low


@inner()
def chances_of_none(total, drawn, most):
    """The chance that a draw holds none of `u` marked ones, for `u = 0..most-1`."""
    chances = zeros(most)
    chance = 1.0
    for u in range(most):
        chances[u] = chance
        chance *= max(total - drawn - u, 0) / np.float64(total - u)
    return chances


@inner()
def at_least_one(state, total, marked, drawn, none):
    """How many marked ones a draw holds, given that it holds one; `none` is the chance of none."""
    if none < 1e-280:  # the sum could not start there; the condition then means nothing either
        first, cdf = table(total, marked, drawn)
        return max(first + drawn_from(cdf, uniform(state)), 1)
    target = none + (1.0 - none) * uniform(state)
    k, term, cumulative = np.int64(0), none, none
    while cumulative <= target and k < min(marked, drawn):
        term *= _ratio(total, marked, drawn, k)
        cumulative += term
        k += 1
    return max(k, 1)
