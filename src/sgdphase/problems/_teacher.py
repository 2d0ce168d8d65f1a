"""The teacher task (main text, section 1.A): labels are the sign of one coordinate.

The informative coordinate has density `rho(x1) = |x1|^chi exp(-x1^2/2) / Z`, the other `dim - 1`
are standard Gaussian, and `y = sign(x1)`. Small `chi` puts many points near the boundary.
Everything may be turned at random, so that no single coordinate is the informative one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sgdphase._streams import TEACHER_DIRECTION, TEACHER_TEST, TEACHER_TRAIN, data_stream
from sgdphase._typing import FloatArray
from sgdphase.errors import InputError, require
from sgdphase.problems._dataset import Dataset
from sgdphase.theory import CHI_MAX

DIRECTIONS = ("axis", "random")


@dataclass(frozen=True)
class TeacherTask:
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
        require("dim", self.dim, lambda d: d >= 2 and d == int(d), "an integer of at least 2")
        require("chi", self.chi, lambda c: -1 < c <= CHI_MAX, f"a number above -1, up to {CHI_MAX}")
        if self.direction not in DIRECTIONS:
            valid = " or ".join(DIRECTIONS)
            raise InputError(f"direction = {self.direction!r}: must be {valid}")

    def train_set(self, size: int, seed: int) -> Dataset:
        """The training set of `seed`: its first `size` points."""
        return self._sample(size, seed, TEACHER_TRAIN)

    def test_set(self, size: int, seed: int) -> Dataset:
        """`size` fresh points of `seed`, independent of every training set."""
        return self._sample(size, seed, TEACHER_TEST)

    def informative(self, seed: int) -> FloatArray:
        """The unit vector `u` of `seed` with `y = sign(x . u)`."""
        u = np.zeros(self.dim)
        u[0] = 1.0
        if self.direction == "random":
            data_stream(seed, TEACHER_DIRECTION).standard_normal(out=u)
            u /= np.linalg.norm(u)
        return u

    def check_sizes(self, train_size: int, test_size: int) -> None:
        """Does nothing: any `train_size` and `test_size` can be drawn."""

    def prepare(self) -> None:
        """Does nothing: there are no files."""

    def _sample(self, size: int, seed: int, use: int) -> Dataset:
        require("size", size, lambda n: n >= 1 and n == int(n), "an integer of at least 1")
        require("seed", seed, lambda s: s >= 0 and s == int(s), "an integer of at least 0")
        along, sign, across = (
            np.random.Generator(np.random.SFC64(s))
            for s in np.random.SeedSequence([seed, use]).spawn(3)
        )
        x = np.empty((size, self.dim))
        x[:, 1:] = across.standard_normal((size, self.dim - 1))
        # The sign is drawn apart from the magnitude, which underflows to 0 when chi is near -1.
        y = np.where(sign.random(size) < 0.5, 1.0, -1.0)
        x[:, 0] = y * np.sqrt(2.0 * along.standard_gamma((1.0 + self.chi) / 2.0, size))
        if self.direction == "random":
            _turn(x, self.informative(seed))
        return Dataset(x, y)


def _turn(x: FloatArray, u: FloatArray) -> None:
    """Take the first axis to `u`, in place and without changing a length or an angle.

    The reflection at the plane normal to `v = e1 + s u` takes `e1` to `-s u`. With `s` the sign of
    `u1`, nothing cancels in `v`; flipping the first coordinate beforehand makes it `u`.
    """
    s = 1.0 if u[0] >= 0 else -1.0
    v = s * u
    v[0] += 1.0
    x[:, 0] *= -s
    x -= np.outer(x @ v, 2.0 / (v @ v) * v)
