"""A training's identity, and what it refuses."""

import math

import numpy as np
import pytest

from sgdphase import InputError, TeacherTask, Training
from sgdphase.perceptron._simulate import Points, simulate_sde, simulate_sgd

TASK = TeacherTask(dim=4)


def test_whole_numbers_of_any_type_are_one_training() -> None:
    plain = Training(TASK, train_size=8, lr=1.0, batch=2)
    other = Training(TASK, train_size=np.int64(8), lr=1, batch=2.0, seed=0.0)  # type: ignore[arg-type]
    assert plain == other
    assert plain.key == other.key
    assert type(other.batch) is int


def test_every_field_is_part_of_the_identity() -> None:
    keys = {
        Training(TASK, 8, 1.0, 2).key,
        Training(TeacherTask(dim=5), 8, 1.0, 2).key,
        Training(TASK, 9, 1.0, 2).key,
        Training(TASK, 8, 1.5, 2).key,
        Training(TASK, 8, 1.0, 3).key,
        Training(TASK, 8, 1.0, 2, margin=0.5).key,
        Training(TASK, 8, 1.0, 2, seed=1).key,
        Training(TASK, 8, 1.0, 2, max_steps=7).key,
    }
    assert len(keys) == 8


@pytest.mark.parametrize(
    "bad",
    [
        {"batch": 2.5},
        {"train_size": math.inf},
        {"seed": -1},
        {"margin": math.nan},
        {"lr": -1.0},
        {"momentum": 1.0},
        {"max_steps": math.inf},
    ],
)
def test_bad_fields(bad: dict[str, float]) -> None:
    with pytest.raises(InputError, match="must be"):
        Training(**({"problem": TASK, "train_size": 8, "lr": 1.0, "batch": 2} | bad))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "bad", [{"margin": math.nan}, {"lr": 0.0}, {"momentum": 1.5}, {"seed": -1}]
)
def test_the_simulator_checks_what_it_is_given(bad: dict[str, float]) -> None:
    points = Points.of(TASK.train_set(8, 0))
    with pytest.raises(InputError, match="must be"):
        simulate_sgd(points, **({"margin": 0.1, "lr": 1.0, "batch": 1} | bad))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must be"):
        simulate_sde(points, margin=0.1, temperature=1.0, dt=1.0, max_time=math.nan)
