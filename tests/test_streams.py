"""What a seed means: numbers that the first version drew, stream by stream.

A stream that moves, or a generator that changes, would give other outcomes under the same identity.
"""

from __future__ import annotations

from typing import Any

import pytest

from sgdphase import TeacherTask, Training, train
from sgdphase.problems._split import permutation

TASK = TeacherTask(dim=3)


def test_training_set_of_the_teacher_task() -> None:
    first, second = TASK.train_set(2, seed=1).x
    assert first == pytest.approx([-0.6767950977, 1.7827266299, -0.3993217645])
    assert second == pytest.approx([1.2989337098, 1.864212595, 1.1832470471])


def test_test_set_of_the_teacher_task() -> None:
    assert TASK.test_set(1, seed=1).x[0] == pytest.approx(
        [-2.3870746719, 0.5517919542, -0.2410501069]
    )


def test_direction_of_the_teacher_task() -> None:
    direction = TeacherTask(dim=3, direction="random").informative(1)
    assert direction == pytest.approx([-0.1637616403, -0.0683148095, 0.9841317046])


def test_split_of_a_collection() -> None:
    assert permutation(6, 1).tolist() == [0, 5, 4, 3, 1, 2]


FC = {"model": "fc", "width": 8, "depth": 2, "margin": 0.1}


@pytest.mark.parametrize(
    ("options", "steps", "observables"),
    [
        ({}, 16, {"w1": 0.79759108, "w_perp": 0.41599093}),
        (FC, 223, {"alignment": 0.35535014, "weight_change": 0.18821749}),
        (
            FC | {"dynamics": "gaussian", "max_steps": 20},
            20,
            {"alignment": 0.12482159, "weight_change": 0.11775083},
        ),
    ],
    ids=["batches of the perceptron", "weights and batches of a network", "Gaussian noise"],
)
def test_outcomes(options: dict[str, Any], steps: int, observables: dict[str, float]) -> None:
    """Within what single precision may change from one machine to another over so few steps."""
    setting = {"train_size": 32, "lr": 1.0, "batch": 2, "seed": 1, "test_size": 16}
    outcome = train(Training(TeacherTask(dim=8), **setting, **options))  # type: ignore[arg-type]
    assert outcome.steps == steps
    assert {name: outcome[name] for name in observables} == pytest.approx(observables, rel=1e-3)
