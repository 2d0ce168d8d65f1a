"""What the tests of the trainer share: small records, points and networks, and a silent watch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from sgdphase._records import Training
from sgdphase.networks import FullyConnected, Points
from sgdphase.networks._state import Watch
from sgdphase.problems import TeacherTask


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def record():
    """A training of a small network on the teacher task, with some fields changed."""

    def make(**fields: Any) -> Training:
        plain: dict[str, Any] = {
            "problem": TeacherTask(dim=8), "train_size": 64, "lr": 1.0, "batch": 4,
            "margin": 2.0**-6, "model": "fc", "depth": 2, "width": 16, "test_size": 128,
            "max_steps": 20_000,
        }  # fmt: skip
        return Training(**(plain | fields))

    return make


@pytest.fixture
def points():
    """Points of the problem of a training, in double precision."""

    def make(training: Training, use: str = "train") -> Points:
        data = (
            training.problem.train_set(training.train_size, training.seed)
            if use == "train"
            else training.problem.test_set(training.test_size, training.seed)
        )
        return Points(*(torch.from_numpy(np.asarray(a, np.float64)) for a in (data.x, data.y)))

    return make


@pytest.fixture
def network():
    """The same fully connected network in double precision at every call."""

    def make(inputs: int = 8, depth: int = 2, width: int = 16) -> FullyConnected:
        generator = torch.Generator().manual_seed(5)
        return FullyConnected(inputs, depth=depth, width=width, generator=generator).double()

    return make


@pytest.fixture
def silent():
    """A watch that wants to see nothing."""

    class Silent(Watch):
        def look(self, step: int) -> None:
            raise AssertionError("never due")

    return Silent()
