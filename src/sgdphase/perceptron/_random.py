"""Random numbers inside compiled loops.

xoshiro256++ (Blackman and Vigna) on a four-word state. numba's generator has one hidden
state per thread; this state is an argument, so that a run is a function of its seed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sgdphase.perceptron._vectors import inner


def random_state(*words: int) -> NDArray[np.uint64]:
    """A state that is a function of `words` (a seed, and the stream of what it serves)."""
    return np.random.SeedSequence(list(words)).generate_state(4, np.uint64).astype(np.uint64)


@inner()
def uniform(state):
    """A number in [0, 1) with 53 random bits."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    total = s0 + s3
    word = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    s2 ^= s0
    s3 ^= s1
    state[1] = s1 ^ s2
    state[0] = s0 ^ s3
    state[2] = s2 ^ (s1 << np.uint64(17))
    state[3] = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return np.float64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inner()
def below(state, n):
    """An integer in [0, n); its bias, below n / 2^53, cannot be measured."""
    return np.int64(uniform(state) * n)


@inner()
def normal_pair(state):
    """Two independent standard normals (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(state)))
    angle = 2.0 * math.pi * uniform(state)
    return radius * math.cos(angle), radius * math.sin(angle)


@inner()
def draw_distinct(state, items, n, k):
    """Bring `k` distinct random ones of `items[:n]` to its front.

    A partial Fisher-Yates shuffle: the first `k` are uniform for any order before.
    """
    for i in range(k):
        j = i + below(state, n - i)
        items[i], items[j] = items[j], items[i]
