"""Images for the files beside this one: the digits of MNIST and the photographs of CIFAR-10.

Files are looked for, checked and, if need be, downloaded by sgdphase (docs/data.md).
"""

import gzip
import io
import pickle

import numpy as np

from sgdphase.problems._files import CIFAR10, MNIST, read


def digits(part, points=None):
    """The first images of a part ("train" or "t10k") as rows of 784 pixels, and their digits."""
    images = gzip.decompress(read(MNIST, f"{part}-images-idx3-ubyte.gz"))
    labels = gzip.decompress(read(MNIST, f"{part}-labels-idx1-ubyte.gz"))
    x = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784)[:points]
    y = np.frombuffer(labels, np.uint8, offset=8)[:points]
    return (x.astype(np.float32) - 33.3) / 78.6, y.astype(np.int64)


def photographs(part, points=None):
    """The first images of a part ("data_batch_1", "test_batch") as [n, 3, 32, 32], and classes."""
    # The bytes are those of the published file: sgdphase checked their SHA-256.
    batch = pickle.load(io.BytesIO(read(CIFAR10, part)), encoding="bytes")
    x = np.array(batch[b"data"][:points], np.float32).reshape(-1, 3, 32, 32)
    return (x - 120.7) / 64.2, np.array(batch[b"labels"][:points])
