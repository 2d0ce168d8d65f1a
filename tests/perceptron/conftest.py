"""Training sets of the teacher task, as the simulator takes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sgdphase import Points, TeacherTask


def _points(size: int, dim: int, chi: float = 1.0, seed: int = 0) -> Points:
    return Points.of(TeacherTask(dim=dim, chi=chi).train_set(size, seed))


@pytest.fixture
def points() -> Callable[..., Points]:
    return _points
