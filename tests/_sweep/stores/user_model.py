"""A model and data of a user, for the stores. Its text is part of identities: never edit it."""

import numpy as np


def model():
    import torch

    return torch.nn.Linear(2, 1)


def data():
    x = np.array([[(k % 8) - 3.5, (k // 8) - 3.5] for k in range(64)])
    return x, (x[:, 0] + x[:, 1] / 2 > 0).astype(int)
