"""The losses against closed forms, and the margins against a slow version."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from sgdphase._models import LOSSES as NAMES
from sgdphase._records import Training
from sgdphase.networks._losses import LOSSES, margins
from sgdphase.problems import TeacherTask

# Value and slope at u, by hand.
BY_HAND = {
    "hinge": lambda u: (max(1 - u, 0.0), -1.0 if u < 1 else 0.0),
    "quadratic-hinge": lambda u: (max(1 - u, 0.0) ** 2 / 2, -max(1 - u, 0.0)),
    "smooth-hinge": lambda u: (
        (0.5 - u, -1.0) if u <= 0 else (max(1 - u, 0.0) ** 2 / 2, -max(1 - u, 0.0))
    ),
    "square": lambda u: ((1 - u) ** 2 / 2, u - 1),
    "logistic": lambda u: (
        math.log1p(math.exp(-u)) if u > -30 else -u,
        -1 / (1 + math.exp(min(u, 700))),
    ),
}


def test_every_loss_is_checked() -> None:
    assert set(BY_HAND) == set(LOSSES) == set(NAMES)


@pytest.mark.parametrize("name", BY_HAND)
def test_values_and_slopes(name: str) -> None:
    u = torch.tensor(
        [-1e3, -40.0, -2.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 30.0],
        dtype=torch.float64,
        requires_grad=True,
    )
    values = LOSSES[name].value(u)
    (slopes,) = torch.autograd.grad(values.sum(), u)
    expected = np.array([BY_HAND[name](float(each)) for each in u.detach()])
    assert np.allclose(values.detach().numpy(), expected[:, 0], rtol=1e-12, atol=1e-12)
    assert np.allclose(slopes.numpy(), expected[:, 1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["hinge", "smooth-hinge", "logistic"])
def test_slope_far_below_is_minus_one(name: str) -> None:
    u = torch.tensor([-50.0, -1e4, -1e20], requires_grad=True)
    (slope,) = torch.autograd.grad(LOSSES[name].value(u).sum(), u)
    assert slope.tolist() == [-1.0, -1.0, -1.0]


def test_fitted_points_have_no_gradient_at_all_under_the_hinge() -> None:
    u = torch.tensor([1.0, 1.0 + 2**-23, 1.5, 1e30], requires_grad=True)
    values = LOSSES["hinge"].value(u)
    (slope,) = torch.autograd.grad(values.sum(), u)
    assert values.tolist() == [0.0] * 4 and slope.tolist() == [0.0] * 4


def test_goals() -> None:
    # Only the hinge can be brought to zero; the rest is stopped half way to the margin.
    def goal(name: str) -> float:
        return Training(TeacherTask(dim=4), 8, 1.0, 2, margin=0.25, loss=name, model="fc").goal

    assert {name: (goal(name), loss.vanishes) for name, loss in LOSSES.items()} == {
        "hinge": (0.25, True),
        **dict.fromkeys(("quadratic-hinge", "smooth-hinge", "square", "logistic"), (0.125, False)),
    }


def test_margins_of_one_output() -> None:
    F, y = torch.tensor([0.5, -2.0, 0.0]), torch.tensor([1.0, 1.0, -1.0])
    assert margins(F, y).tolist() == [0.5, -2.0, 0.0]


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_margins_of_several_outputs_equal_the_slow_version(classes: int) -> None:
    rng = np.random.default_rng(classes)
    F = torch.from_numpy(rng.normal(size=(40, classes))).requires_grad_()
    y = torch.from_numpy(rng.integers(classes, size=40))
    z = margins(F, y)
    (gradient,) = torch.autograd.grad(z.sum(), F)
    for row, label, found, slope in zip(F.tolist(), y.tolist(), z.tolist(), gradient, strict=True):
        others = [value for number, value in enumerate(row) if number != label]
        assert found == row[label] - max(others)
        expected = [0.0] * classes
        expected[label] += 1
        expected[row.index(max(others))] -= 1
        assert slope.tolist() == expected
    # Right where and only where the largest output is the true one.
    assert torch.equal(z.detach() > 0, F.argmax(dim=1) == y)


def test_two_classes_are_one_output() -> None:
    f = torch.randn(20, generator=torch.Generator().manual_seed(0))
    y = torch.where(torch.arange(20) % 3 > 0, 1.0, -1.0)
    both = torch.stack([-f / 2, f / 2], dim=1)
    assert torch.equal(margins(both, (y > 0).long()), margins(f, y))
