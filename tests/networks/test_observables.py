"""The alignment with several classes: positive and linear in the outputs, as margins are not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from sgdphase.networks._fitting import Fitting, outputs
from sgdphase.networks._train import observed

CLASSES, DIM = 10, 16


def blobs(size: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A Gaussian around a centre per class, with some overlap."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((CLASSES, DIM))
    y = rng.integers(0, CLASSES, size)
    return torch.from_numpy(centres[y] + 0.5 * rng.standard_normal((size, DIM))), torch.from_numpy(
        y
    )


def trained(record, **fields):
    """An outcome, and the predictor on the test points at its end."""
    training = record(train_size=256, batch=4, test_size=512, **fields)
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(DIM, 64), nn.ReLU(), nn.Linear(64, CLASSES)).double()
    fitting, test = (Fitting.of(module, *blobs(size, seed)) for size, seed in ((256, 1), (512, 2)))
    outcome = observed(fitting, test, training, dict)
    return outcome, outputs(module, test.x) - test.at_start, test.y


def margin_alignment(F: torch.Tensor, y: torch.Tensor) -> float:
    """The mean over points of the true class's output minus the largest of the others."""
    others = F.masked_fill(nn.functional.one_hot(y, CLASSES).bool(), -torch.inf)
    return float((F.gather(1, y[:, None])[:, 0] - others.amax(dim=1)).mean())


def test_after_one_step_it_is_positive_and_proportional_to_lr(record) -> None:
    """A batch of 4 knows 4 classes of 10 at most: the margins of the others are negative."""
    lrs = [2.0**-k for k in (14, 10, 6)]
    values = []
    for lr in lrs:
        outcome, F, y = trained(record, lr=lr, max_steps=1)
        assert margin_alignment(F, y) < 0 and outcome["test_error"] > 0.5
        values.append(outcome["alignment"] / lr)
    # Hidden units change by lr times a gradient of order 1: the rest is of second order.
    assert min(values) > 0
    assert values == pytest.approx([values[0]] * 3, rel=0.05)


def test_it_is_the_mean_score_and_errors_are_those_of_the_largest_output(record) -> None:
    outcome, F, y = trained(record, lr=0.1)
    assert outcome.status == "fitted"
    true = F.gather(1, y[:, None])[:, 0]
    others = (F.sum(dim=1) - true) / (CLASSES - 1)
    assert outcome["alignment"] == pytest.approx(float((true - others).mean()), rel=1e-12)
    assert outcome["test_error"] == pytest.approx(float((F.argmax(dim=1) != y).double().mean()))
    assert 0 < outcome["test_error"] < 0.5
