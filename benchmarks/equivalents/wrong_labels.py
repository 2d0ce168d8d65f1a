"""Ten digits, of which 20 % are labelled wrong in training; the test labels are right."""

import numpy as np
from image_data import digits
from torch import nn


def model():
    return nn.Sequential(
        nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)
    )


def data():
    x, y = digits("train", 2048)
    random = np.random.default_rng(5)
    wrong = random.random(len(y)) < 0.2
    return x, np.where(wrong, (y + random.integers(1, 10, len(y))) % 10, y)


def test_data():
    return digits("t10k")
