"""A problem and a trainer from outside of the package, for the stores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sgdphase import Dataset, Outcome, Training


@dataclass(frozen=True)
class Axis:
    kind: ClassVar[str] = "user_problem:Axis"

    dim: int = 2
    direction: str = "axis"

    def train_set(self, size: int, seed: int) -> Dataset:
        x = np.random.default_rng([seed, size]).standard_normal((size, self.dim))
        return Dataset(x, np.sign(x[:, 0]))

    test_set = train_set

    def check_sizes(self, train_size: int, test_size: int) -> None:
        pass

    def prepare(self) -> None:
        pass


def train(training: Training, *, trajectory: bool = False) -> Outcome:
    along = {"w1": np.array([0.0, training.lr])} if trajectory else {}
    return Outcome("fitted", 1, training.lr, {"w1": training.lr}, along)
