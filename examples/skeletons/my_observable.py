"""An observable: a number of the trained network, stored with every run.

`fit` leaves the module trained, so that a trainer can measure it and add the number to the outcome.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from sgdphase import Outcome, Training
from sgdphase.networks import FullyConnected, Points, fit


def effective_rank(weight: torch.Tensor) -> float:
    """`(sum s)^2 / sum s^2` of the singular values `s`: from 1 to the smaller dimension."""
    s = torch.linalg.svdvals(weight.double())
    return float(s.sum() ** 2 / (s**2).sum())


def train(
    training: Training, *, trajectory: bool = False, checkpoint: Path | None = None
) -> Outcome:
    """The network `fc` with one more observable; `model="my_observable:train"`."""
    cpu = torch.device("cpu")
    points = Points.of(training.problem.train_set(training.train_size, training.seed), cpu)
    test = Points.of(training.problem.test_set(training.test_size, training.seed), cpu)
    module = FullyConnected(
        points.x[0].numel(),
        depth=training.depth or 2,
        width=training.width or 32,
        generator=torch.Generator().manual_seed(training.seed),
    )
    outcome = fit(module, points, test, training, trajectory=trajectory, checkpoint=checkpoint)
    rank = effective_rank(module.first_weight.detach())
    return replace(outcome, observables={**outcome.observables, "effective_rank": rank})
