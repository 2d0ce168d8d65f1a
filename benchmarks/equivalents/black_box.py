"""A network by hand, in numpy alone: softmax of two layers, digits of MNIST, constant lr.

sgdphase sees nothing of it but the metrics that `train` returns.
"""

from functools import cache

import numpy as np
from image_data import digits

HIDDEN = 128


@cache
def points():
    return *digits("train", 2048), *digits("t10k", 4000)


def train(lr, batch, epochs, seed):
    x, y, test_x, test_y = points()
    random = np.random.default_rng(seed)
    first = random.normal(size=(784, HIDDEN)).astype(np.float32) / 28
    second = random.normal(size=(HIDDEN, 10)).astype(np.float32) / 11
    targets = np.eye(10, dtype=np.float32)[y]
    for _ in range(epochs):
        order = random.permutation(len(x))
        for start in range(0, len(x), batch):
            chosen = order[start : start + batch]
            hidden = np.tanh(x[chosen] @ first)
            wrong = (softmax(hidden @ second) - targets[chosen]) / len(chosen)
            back = (wrong @ second.T) * (1 - hidden**2)
            second -= lr * hidden.T @ wrong
            first -= lr * x[chosen].T @ back
    found, test = np.tanh(x @ first) @ second, np.tanh(test_x @ first) @ second
    return {
        "test_error": np.mean(test.argmax(axis=1) != test_y),
        "test_loss": cross_entropy(test, test_y),
        "train_loss": cross_entropy(found, y),
    }


def softmax(scores):
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def cross_entropy(scores, y):
    return -np.mean(np.log(softmax(scores.astype(np.float64))[np.arange(len(y)), y] + 1e-300))
