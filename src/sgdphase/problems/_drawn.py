"""Problems whose points are vectors that are drawn, as many as one wants."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sgdphase._streams import TEACHER_DIRECTION, TEACHER_TEST, TEACHER_TRAIN, data_stream
from sgdphase._typing import FloatArray
from sgdphase.errors import InputError, require_whole
from sgdphase.problems._dataset import Dataset

DIRECTIONS = ("axis", "random")


class Drawn:
    """A problem with points of `dim` coordinates. Training and test set of a seed are independent.

    Training sets of a seed are nested: the first points do not depend on the size.
    """

    # Whether a linear function may have these labels, however many points there are.
    linear: ClassVar[bool] = True

    dim: int

    def _sample(self, size: int, seed: int, use: int) -> Dataset:
        """Points from the stream of this `use`."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        require_whole("dim", self.dim, least=2)

    def train_set(self, size: int, seed: int) -> Dataset:
        """The training set of `seed`: its first `size` points."""
        return self._checked(size, seed, TEACHER_TRAIN)

    def test_set(self, size: int, seed: int) -> Dataset:
        """`size` fresh points of `seed`, independent of every training set."""
        return self._checked(size, seed, TEACHER_TEST)

    def check_sizes(self, train_size: int, test_size: int) -> None:
        """Does nothing: any `train_size` and `test_size` can be drawn."""

    def prepare(self) -> None:
        """Does nothing: there are no files."""

    def _checked(self, size: int, seed: int, use: int) -> Dataset:
        require_whole("size", size)
        require_whole("seed", seed, least=0)
        return self._sample(size, seed, use)


class Directed(Drawn):
    """One whose label depends on the coordinate in one direction, an axis or a random one."""

    direction: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.direction not in DIRECTIONS:
            valid = " or ".join(DIRECTIONS)
            raise InputError(f"direction = {self.direction!r}: must be {valid}")

    def informative(self, seed: int) -> FloatArray:
        """The unit vector `u` of `seed`: the label depends on `x . u`."""
        u = np.zeros(self.dim)
        u[0] = 1.0
        if self.direction == "random":
            data_stream(seed, TEACHER_DIRECTION).standard_normal(out=u)
            u /= np.linalg.norm(u)
        return u

    def _checked(self, size: int, seed: int, use: int) -> Dataset:
        data = super()._checked(size, seed, use)
        if self.direction == "random":
            _turn(data.x, self.informative(seed))
        return data


def gaussian(size: int, dim: int, seed: int, use: int) -> FloatArray:
    """Independent standard Gaussian coordinates, `[size, dim]`."""
    return data_stream(seed, use).standard_normal((size, dim))


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
