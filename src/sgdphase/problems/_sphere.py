"""The sphere task: the label says whether a point is outside of a sphere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sgdphase.problems._dataset import Dataset
from sgdphase.problems._drawn import Drawn, gaussian


@dataclass(frozen=True)
class Sphere(Drawn):
    """`y = sign(|x|^2 - R^2)` with `R^2 = dim - 2 + sqrt(2)`, all coordinates standard Gaussian.

    `|x|^2` has mean `dim` and a median near `dim - 2/3`, so that about half of the points are
    outside. No linear function has these labels. The density of points is finite at the sphere, as
    that of the teacher task at `chi = 0`; there is no other exponent.

    Attributes
    ----------
    dim : int, default 128
        Number of coordinates, at least 2.

    Examples
    --------
    >>> train = Sphere(dim=8).train_set(1000, seed=0)
    >>> outside = np.linalg.norm(train.x, axis=1) > Sphere(dim=8).radius
    >>> bool((train.y == np.where(outside, 1, -1)).all())
    True
    """

    kind: ClassVar[str] = "sphere"
    linear: ClassVar[bool] = False

    dim: int = 128

    @property
    def radius(self) -> float:
        """`R`, of the sphere."""
        return math.sqrt(self.dim - 2 + math.sqrt(2))

    def _sample(self, size: int, seed: int, use: int) -> Dataset:
        x = gaussian(size, self.dim, seed, use)
        squares = np.einsum("ij,ij->i", x, x)
        return Dataset(x, np.where(squares > self.dim - 2 + math.sqrt(2), 1.0, -1.0))
