"""A problem: two rings around the origin, and coordinates without information.

A stored training has only the `kind` of its problem. `module:Class` is the address of this class:
nothing has to be registered, but the module must be importable where trainings run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sgdphase.errors import require
from sgdphase.problems import Dataset


@dataclass(frozen=True)
class Rings:
    """Points on a circle of radius 1 (label -1) or 1 + `gap` (label +1), in `dim` dimensions.

    The fields are part of the identity of a training: they must be plain numbers or texts.
    """

    kind: ClassVar[str] = "my_problem:Rings"

    dim: int = 4
    gap: float = 1.0

    def __post_init__(self) -> None:
        require("dim", self.dim, lambda d: d >= 2, "an integer of at least 2")
        require("gap", self.gap, lambda gap: gap > 0, "a number above 0")

    def train_set(self, size: int, seed: int) -> Dataset:
        """The training set of a seed."""
        return self._draw(size, np.random.default_rng([seed, 0]))

    def test_set(self, size: int, seed: int) -> Dataset:
        """The test set of a seed, independent of its training set."""
        return self._draw(size, np.random.default_rng([seed, 1]))

    def check_sizes(self, train_size: int, test_size: int) -> None:
        """There are as many points as one wants; data from a file would be counted here."""

    def prepare(self) -> None:
        """Called once before a sweep; data would be downloaded here."""

    def _draw(self, size: int, rng: np.random.Generator) -> Dataset:
        y = rng.choice([-1.0, 1.0], size)
        angle = rng.uniform(0, 2 * np.pi, size)
        radius = np.where(y > 0, 1 + self.gap, 1.0)
        x = 0.1 * rng.standard_normal((size, self.dim))
        x[:, 0] += radius * np.cos(angle)
        x[:, 1] += radius * np.sin(angle)
        return Dataset(x, y)
