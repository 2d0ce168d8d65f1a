"""The ten digits of MNIST and a simple network, for `sgdphase diagnose`.

sgdphase diagnose examples/mnist_digits.py --lr 0.1 --batch 64 --epochs 3
"""

import gzip

import numpy as np
from torch import nn

from sgdphase.problems._files import MNIST, read


def model():
    return nn.Sequential(
        nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)
    )


def data():
    return _digits("train")


def test_data():
    return _digits("t10k")


def _digits(part):
    """Pixels, centred and scaled, and digits; missing files are downloaded."""
    images = gzip.decompress(read(MNIST, f"{part}-images-idx3-ubyte.gz"))
    labels = gzip.decompress(read(MNIST, f"{part}-labels-idx1-ubyte.gz"))
    x = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784).astype(np.float32)
    return (x - 33.3) / 78.6, np.frombuffer(labels, np.uint8, offset=8)
