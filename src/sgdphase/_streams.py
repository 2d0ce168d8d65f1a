"""Which random stream of a seed serves what.

A stream is `SeedSequence([seed, use, ...])`. Streams of one seed are independent, so that the size
of one set never moves another. The numbers are part of what a seed means: a change would change
every training.

==  ====================================================================================
0   training set of the teacher, stripe or sphere task
1   test set of these tasks
2   direction of the teacher or stripe task; batches of the perceptron (which knows the
    axis only); initial weights of a network
3   split of a fixed collection into training and test set; batches of a network, and the
    number of their block, step or epoch
4   noise of Gaussian dynamics at a step; the global generators of a user's epoch
==  ====================================================================================

The direction of these tasks and a network's initial weights come from generators of different
kinds, and so do the split and a network's batches: equal numbers give unrelated draws.
"""

from __future__ import annotations

import numpy as np

TEACHER_TRAIN, TEACHER_TEST = 0, 1
TEACHER_DIRECTION = PERCEPTRON_BATCHES = INITIALISATION = 2
SPLIT = NETWORK_BATCHES = 3
NOISE = 4


def data_stream(seed: int, use: int) -> np.random.Generator:
    """For data: SFC64, the fastest generator of numpy."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence([seed, use])))


def training_stream(seed: int, *use: int) -> np.random.Generator:
    """For what happens in a training: PCG64."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *use])))
