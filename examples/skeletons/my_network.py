"""A network: a torch module, and a trainer that gives it to `fit`.

`fit` trains any module with one output per point that treats points independently of each other. It
skips what changes nothing, saves checkpoints, and observes what every network has.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from sgdphase import Outcome, Training
from sgdphase.networks import Points, fit


class Quadratic(nn.Module):
    """`f(x) = b + mean over h of (w_h . x)^2 a_h`: `width` neurons with the activation `z^2`."""

    def __init__(self, inputs: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(inputs, width, generator=generator))
        self.a = nn.Parameter(torch.randn(width, generator=generator))
        self.b = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """The outputs [n] for inputs [n, ...]."""
        return self.b + (x.flatten(1) @ self.w) ** 2 @ self.a / len(self.a)


def train(
    training: Training, *, trajectory: bool = False, checkpoint: Path | None = None
) -> Outcome:
    """Used by its address, `model="my_network:train"`; `depth`, `width`, `activation` are free."""
    cpu = torch.device("cpu")
    points = Points.of(training.problem.train_set(training.train_size, training.seed), cpu)
    test = Points.of(training.problem.test_set(training.test_size, training.seed), cpu)
    generator = torch.Generator().manual_seed(training.seed)
    module = Quadratic(points.x[0].numel(), training.width or 32, generator)
    return fit(module, points, test, training, trajectory=trajectory, checkpoint=checkpoint)
