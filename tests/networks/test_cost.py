"""What a training of a network is expected to cost."""

from __future__ import annotations

from typing import Any

import pytest

import sgdphase as sp
from sgdphase.networks import expected_bytes, expected_seconds


def cell(**more: Any) -> sp.Training:
    given = {
        "lr": 8.0,
        "batch": 1,
        "model": "fc",
        "depth": 3,
        "width": 64,
        "max_steps": 10**4,
    } | more
    return sp.Training(sp.TeacherTask(dim=784), 512, **given)


@pytest.mark.parametrize(
    ("more", "per_step"),  # seconds that were measured on parity MNIST
    [
        ({"momentum": 0.5}, 5.1e-4),
        ({"weight_decay": 1e-4}, 4.9e-4),
        ({"dynamics": "gaussian"}, 2.5e-3),
        ({"momentum": 0.5, "depth": 8}, 7e-4),
        ({"momentum": 0.5, "batch": 128, "max_steps": 100}, 9.6e-4),
    ],
)
def test_a_step_that_is_computed_by_itself(more: dict[str, Any], per_step: float) -> None:
    training = cell(**more)
    seconds = expected_seconds(training) - expected_seconds(cell(**more | {"max_steps": 1}))
    assert per_step / 1.6 < seconds / training.step_limit < 1.6 * per_step


def teacher(size: int, **more: Any) -> sp.Training:
    given = {"model": "fc", "depth": 3, "width": 64, "margin": 2.0**-10, "test_size": 512} | more
    return sp.Training(sp.TeacherTask(dim=64), size, **given)


@pytest.mark.parametrize(
    ("training", "seconds"),  # measured
    [
        (teacher(128, lr=2.0, batch=4), 0.013),
        (teacher(128, lr=8.0, batch=32), 0.008),
        (teacher(128, lr=0.5, batch=64, margin=2.0**-6), 0.023),
        (teacher(128, lr=0.03, batch=2), 0.013),
        (teacher(128, lr=32.0, batch=2), 0.011),
        (teacher(128, lr=64.0, batch=2, max_steps=10_000), 0.113),  # does not end
        (teacher(512, lr=2.0, batch=4), 0.018),
        (teacher(512, lr=8.0, batch=32), 0.014),
        (teacher(512, lr=0.25, batch=8), 0.019),
        (teacher(512, lr=0.5, batch=64), 0.022),
    ],
)
def test_small_networks_hot_and_cold(training: sp.Training, seconds: float) -> None:
    """All by the same factor, as a machine is: within a factor of 2 of each other."""
    assert 0.5 < expected_seconds(training) / seconds < 2


@pytest.mark.parametrize(
    ("model", "seconds"), [("mobilenet", 5.7), ("cnn", 3.3), ("vgg11", 7.6)]
)  # measured
def test_convolutional_networks_within_a_factor_of_a_few(model: str, seconds: float) -> None:
    """One fully connected layer of this width would take a hundredth of it."""
    training = sp.Training(
        sp.problems.CifarAnimals(), 512, lr=8.0, batch=16, model=model, width=8, test_size=512
    )
    assert 1 / 4 < expected_seconds(training) / seconds < 4


def test_the_least_memory_is_that_of_points_and_weights() -> None:
    from sgdphase.networks import FullyConnected

    training = cell(test_size=64)
    network = FullyConnected(784, depth=3, width=64)
    weights = sum(each.numel() for each in network.parameters())
    points = 4 * 784 * (512 + 64)
    assert points + 4 * weights <= expected_bytes(training) * 1.001
    assert expected_bytes(training) < 1.1 * (points + 4 * weights)
