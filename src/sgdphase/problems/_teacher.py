"""The teacher task (main text, section 1.A): labels are the sign of one coordinate.

The informative coordinate has density `rho(x1) = |x1|^chi exp(-x1^2/2) / Z`, the other `dim - 1`
are standard Gaussian, and `y = sign(x1)`. Small `chi` puts many points near the boundary.
Everything may be turned at random, so that no single coordinate is the informative one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sgdphase.errors import require
from sgdphase.problems._dataset import Dataset
from sgdphase.problems._drawn import Directed
from sgdphase.theory import CHI_MAX

# Points that are drawn together.
_ROWS = 1024


@dataclass(frozen=True)
class TeacherTask(Directed):
    """`y = sign(x1)` with `x1 ~ |x1|^chi exp(-x1^2/2)`, the other coordinates standard Gaussian.

    `x1^2 / 2` is a gamma variate of shape `(1 + chi) / 2`, so every `chi > -1` is sampled exactly.
    Training sets of a seed are nested: the first points do not depend on the size.

    Attributes
    ----------
    dim : int, default 128
        Number of coordinates, at least 2.
    chi : float, default 1
        Exponent of the density at the boundary, above -1, up to 100.
    direction : {"axis", "random"}, default "axis"
        The informative direction: the first axis, or uniform on the sphere, the same for the
        training and the test set of a seed.

    Examples
    --------
    >>> train = TeacherTask(dim=3, chi=1.0).train_set(4, seed=0)
    >>> train.x.shape, bool((train.y == np.sign(train.x[:, 0])).all())
    ((4, 3), True)
    """

    kind: ClassVar[str] = "teacher"

    dim: int = 128
    chi: float = 1.0
    direction: str = "axis"

    def __post_init__(self) -> None:
        super().__post_init__()
        require("chi", self.chi, lambda c: -1 < c <= CHI_MAX, f"a number above -1, up to {CHI_MAX}")

    def _sample(self, size: int, seed: int, use: int) -> Dataset:
        along, sign, across = (
            np.random.Generator(np.random.SFC64(s))
            for s in np.random.SeedSequence([seed, use]).spawn(3)
        )
        x = np.empty((size, self.dim))
        # In parts, which need no second array of this size; the numbers are the same.
        for start in range(0, size, _ROWS):
            rows = x[start : start + _ROWS, 1:]
            rows[:] = across.standard_normal(rows.shape)
        # The sign is drawn apart from the magnitude, which underflows to 0 when chi is near -1.
        y = np.where(sign.random(size) < 0.5, 1.0, -1.0)
        x[:, 0] = y * np.sqrt(2.0 * along.standard_gamma((1.0 + self.chi) / 2.0, size))
        return Dataset(x, y)
