"""A small transformer that tells from twelve tokens which of four chains they came from.

A chain says how often each token follows each other one; the four have the same tokens, equally
often, so that pairs of neighbours must be looked at.
"""

import numpy as np
import torch
from torch import nn

TOKENS, LENGTH, CHAINS, WIDTH = 8, 12, 4, 64


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, WIDTH)
        self.places = nn.Parameter(0.2 * torch.randn(LENGTH, WIDTH))
        layer = nn.TransformerEncoderLayer(
            WIDTH, 2, WIDTH, dropout=0.1, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, CHAINS)

    def forward(self, x):
        return self.head(self.layers(self.tokens(x) + self.places).mean(dim=1))


def model():
    return Transformer()


def data():
    return _sequences(1024, seed=1)


def test_data():
    return _sequences(4096, seed=2)


def _sequences(count, seed):
    """A step of chain `c` is its permutation of the tokens, three times in four, or any token."""
    permutations = np.random.default_rng(0).permuted(
        np.tile(np.arange(TOKENS), (CHAINS, 1)), axis=1
    )
    random = np.random.default_rng(seed)
    y = random.integers(CHAINS, size=count)
    x = random.integers(TOKENS, size=(count, LENGTH))
    follows = random.random((count, LENGTH)) < 0.75
    for place in range(1, LENGTH):
        after = permutations[y, x[:, place - 1]]
        x[:, place] = np.where(follows[:, place], after, x[:, place])
    return x, y
