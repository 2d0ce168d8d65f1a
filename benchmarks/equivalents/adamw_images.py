"""Ten classes of images made by numpy, an ordinary network; to be trained by AdamW.

A class is a smooth pattern of 16 x 16 pixels; an image is its pattern, moved by up to three pixels
either way, in strong noise.
"""

import numpy as np
from torch import nn

SIDE = 16


def model():
    return nn.Sequential(
        nn.Linear(SIDE * SIDE, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)
    )


def data():
    return _images(2048, seed=1)


def test_data():
    return _images(4096, seed=2)


def _images(count, seed):
    frequency = np.fft.fftfreq(SIDE)[:, None] ** 2 + np.fft.fftfreq(SIDE) ** 2
    white = np.random.default_rng(0).normal(size=(10, SIDE, SIDE))
    patterns = np.fft.ifft2(np.fft.fft2(white) * np.exp(-40 * frequency)).real
    patterns /= patterns.std(axis=(1, 2), keepdims=True)
    random = np.random.default_rng(seed)
    y = random.integers(10, size=count)
    moves = random.integers(-3, 4, size=(count, 2))
    x = np.stack([np.roll(patterns[c], m, axis=(0, 1)) for c, m in zip(y, moves, strict=True)])
    x += 2.5 * random.normal(size=x.shape)
    return x.reshape(count, -1).astype(np.float32), y
