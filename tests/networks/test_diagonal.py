"""The diagonal linear network, against loops in NumPy."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgdphase import Training, sweep, train
from sgdphase.errors import InputError
from sgdphase.networks import DiagonalLinear, Points, fit
from sgdphase.networks._batches import batches
from sgdphase.problems import Sphere, Stripe, TeacherTask


def slow(training: Training, x: Any, y: Any) -> tuple[Any, int]:
    """Plain SGD of `sum_i (u_i^L - v_i^L) x_i / sqrt(d)`; the weights and the last change."""
    d = x.shape[1]
    L, u, v, changed = training.depth or 1, np.ones(d), np.ones(d), 0
    for step, batch in enumerate(islice(batches(training), training.step_limit), start=1):
        F = x @ (u**L - v**L) / np.sqrt(d)
        if (y * F >= training.margin).all():
            break
        chosen = batch[(y * F)[batch] < training.margin]
        if len(chosen):
            pull = training.lr / len(batch) * (y[chosen] @ x[chosen]) / np.sqrt(d)
            u, v = u + L * u ** (L - 1) * pull, v - L * v ** (L - 1) * pull
            changed = step
    return np.concatenate([u, v]), changed


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(("lr", "batch"), [(0.05, 4), (0.5, 1), (0.2, 64)])
def test_training_is_that_of_a_plain_loop(
    record: Any, points: Any, depth: int, lr: float, batch: int
) -> None:
    training = record(model="diagonal", depth=depth, width=None, lr=lr, batch=batch)
    data, module = points(training), DiagonalLinear(8, depth=depth).double()
    outcome = fit(module, data, points(training, "test"), training)
    weights, steps = slow(training, data.x.numpy(), data.y.numpy())
    assert (outcome.status, outcome.steps) == ("fitted", steps)
    ours = np.concatenate([module.u.detach().numpy(), module.v.detach().numpy()])
    assert ours == pytest.approx(weights, rel=1e-9, abs=1e-12)


def test_one_layer_is_a_perceptron_at_twice_the_learning_rate() -> None:
    """Gradient descent has no random batches: the two models end with the same function."""
    common: Any = {"problem": TeacherTask(dim=8), "train_size": 32, "batch": 32, "margin": 0.1}
    two = train(Training(**common, lr=0.25, model="diagonal", depth=1))
    one = train(Training(**common, lr=0.5))
    assert two.status == one.status == "fitted" and two.steps == one.steps
    assert two["alignment"] == pytest.approx(one["alignment"], rel=1e-5)


def test_near_the_start_it_moves_as_a_perceptron_at_a_multiple_of_the_learning_rate() -> None:
    """By 2 L^2, while `u^L - v^L` is small compared with 1: here up to 0.01."""
    x, y = np.array([[1.0, -2.0, 0.5]]), np.array([1.0])
    for depth in (1, 2, 5):
        training = Training(TeacherTask(dim=3), 1, 1e-3 / depth**2, 1, margin=9.0, model="diagonal",
                            depth=depth, max_steps=1)  # fmt: skip
        module, data = DiagonalLinear(3, depth=depth).double(), _points(x, y)
        fit(module, data, data, training)
        weights = (module.u**depth - module.v**depth).detach().numpy()
        assert weights == pytest.approx(2e-3 * x[0] / np.sqrt(3), rel=0.02)


def test_inputs_and_depth_are_checked() -> None:
    with pytest.raises(InputError, match="inputs = 0: must be an integer of at least 1"):
        DiagonalLinear(0)
    with pytest.raises(InputError, match="depth = 0: must be an integer of at least 1"):
        DiagonalLinear(2, depth=0)


def _points(x: Any, y: Any) -> Points:
    import torch

    return Points(torch.from_numpy(x), torch.from_numpy(y))


@pytest.mark.parametrize("problem", [Stripe(dim=8), Sphere(dim=8)])
def test_labels_that_are_not_linear_need_a_budget(problem: Any, tmp_path: Path) -> None:
    """It would never end; up to `dim` points always have a linear function."""
    endless = Training(problem, train_size=64, lr=0.5, batch=8, model="diagonal", test_size=16)
    said = f"problem = {problem.kind}: diagonal is linear in the point and may never fit 64 points"
    with pytest.raises(InputError, match=said):
        train(endless)
    with pytest.raises(InputError, match=said):
        sweep([endless], tmp_path / "runs.sqlite", workers=0)
    assert not (tmp_path / "runs.sqlite").exists()
    assert train(replace(endless, max_steps=10)).status == "budget"
    assert train(replace(endless, train_size=8, lr=0.1)).status == "fitted"
