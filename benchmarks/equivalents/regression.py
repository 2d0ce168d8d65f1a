"""A smooth function of eight numbers, seen with noise, learnt by the squared error."""

import numpy as np
from torch import nn


def model():
    return nn.Sequential(
        nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)
    )


def data():
    random = np.random.default_rng(8)
    x = random.uniform(-1, 1, size=(1500, 8))
    smooth = np.sin(2 * x[:, 0] + x[:, 1]) + x[:, 2] * x[:, 3] + np.cos(2 * x[:, 4]) * x[:, 5]
    y = smooth + 0.2 * random.normal(size=len(x))
    return x.astype(np.float32), y.astype(np.float32)
