"""The stripe task: the label depends on one coordinate through two parallel planes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sgdphase.problems._dataset import Dataset
from sgdphase.problems._drawn import Directed, gaussian

# Half of the points of a Gaussian lie between them: Phi(HIGH) - Phi(LOW) = 1/2.
LOW, HIGH = -0.3, 1.18549


@dataclass(frozen=True)
class Stripe(Directed):
    """`y = +1` where `-0.3 < x1 < 1.18549`, else -1, all coordinates standard Gaussian.

    No linear function has these labels. The density of points is finite at both planes, as that of
    the teacher task at `chi = 0`; there is no other exponent.

    Attributes
    ----------
    dim : int, default 128
        Number of coordinates, at least 2.
    direction : {"axis", "random"}, default "axis"
        The direction across the stripe: the first axis, or uniform on the sphere, the same for the
        training and the test set of a seed.

    Examples
    --------
    >>> train = Stripe(dim=3).train_set(1000, seed=0)
    >>> inside = (-0.3 < train.x[:, 0]) & (train.x[:, 0] < 1.18549)
    >>> bool((train.y == np.where(inside, 1, -1)).all())
    True
    """

    kind: ClassVar[str] = "stripe"
    linear: ClassVar[bool] = False

    dim: int = 128
    direction: str = "axis"

    def _sample(self, size: int, seed: int, use: int) -> Dataset:
        x = gaussian(size, self.dim, seed, use)
        return Dataset(x, np.where((x[:, 0] > LOW) & (x[:, 0] < HIGH), 1.0, -1.0))
