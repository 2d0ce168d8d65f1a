"""Ten digits, an ordinary network."""

from image_data import digits
from torch import nn


def model():
    return nn.Sequential(
        nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)
    )


def data():
    return digits("train", 2048)


def test_data():
    return digits("t10k")
