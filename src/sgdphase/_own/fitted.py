"""A training of the user's module until every point is fitted, as in the paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from sgdphase._own.module import TRIED, Traits, loaded, traits, user_problem
from sgdphase._records import Outcome, Training
from sgdphase.networks._coupled import CoupledFitting
from sgdphase.networks._descent import descend
from sgdphase.networks._fitting import Fitting
from sgdphase.networks._losses import LOSSES
from sgdphase.networks._noise_scale import noise_scale
from sgdphase.networks._state import State, Watch
from sgdphase.networks._train import observed

# The noise scale is an extra: it must not take long.
_EPOCH_SECONDS = 30.0


def train(
    training: Training, *, trajectory: bool = False, checkpoint: Path | None = None
) -> Outcome:
    """Train the module that the user's `model()` gives on the user's data.

    It is trained in evaluation mode, except for BatchNorm (`traits`).
    """
    with user_problem(training).code.guest("model", training.seed):
        fitting, test = _fittings(training)
        return observed(fitting, test, training, dict, trajectory=trajectory, checkpoint=checkpoint)


def noise_scales(training: Training) -> dict[str, float]:
    """The gradient noise scale at the `start`, and after one `epoch` of the training."""
    with user_problem(training).code.guest("model", training.seed):
        fitting, _ = _fittings(training)
        start = noise_scale(fitting, training)
        epoch = replace(training, max_samples=training.train_size, max_seconds=_EPOCH_SECONDS)
        descend(fitting, epoch, State(), Watch())
        return {"start": start, "epoch": noise_scale(fitting, training)}


def look_at(training: Training) -> Traits:
    """Build the module of a training, try it, and take one step, so that errors show early."""
    with user_problem(training).code.guest("model", training.seed):
        fitting, _ = _fittings(training)
        some = torch.arange(min(2, training.train_size))
        torch.autograd.grad(
            fitting.margins_with_gradient(some).sum(), fitting.parameters, materialize_grads=True
        )
        return traits(fitting.module, fitting.x[:TRIED])


def _fittings(training: Training) -> tuple[Fitting, Fitting]:
    """The training points and the test points with a fresh module."""
    user = loaded(training)
    softness = training.margin if LOSSES[training.loss].soft else 0.0
    if traits(user.module, user.x[:TRIED]).coupled:
        fitting = CoupledFitting.of(user.module, user.x, user.y, softness)
        return fitting, fitting.looking_at(
            user.module, user.test_x, user.test_y, fitting.statistics
        )
    return (
        Fitting.of(user.module, user.x, user.y, softness),
        Fitting.of(user.module, user.test_x, user.test_y),
    )
