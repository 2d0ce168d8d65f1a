"""A fixed collection of points, split anew by every seed."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from sgdphase._streams import SPLIT, data_stream
from sgdphase.errors import InputError, require, require_whole
from sgdphase.problems._dataset import Dataset


class Split(ABC):
    """A problem with a fixed number of points, `len(problem)`.

    A seed permutes all points at random. Its training set of size `n` is the first `n` of them and
    its test set the last `n`: training sets of one seed are nested, and the two are disjoint
    whenever the sizes pass `check_sizes`.
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def _take(self, chosen: NDArray[np.intp]) -> Dataset:
        """The points with these indices."""

    @abstractmethod
    def _holds(self) -> str:
        """How many points of what there are, for messages."""

    def train_set(self, size: int, seed: int) -> Dataset:
        """The training set of `seed`: the first `size` points of its permutation."""
        self._check_size(size)
        return self._take(permutation(len(self), seed)[:size])

    def test_set(self, size: int, seed: int) -> Dataset:
        """The test set of `seed`: the last `size` points of its permutation."""
        self._check_size(size)
        return self._take(permutation(len(self), seed)[len(self) - size :])

    def check_sizes(self, train_size: int, test_size: int) -> None:
        """Raise `InputError` if sets of `train_size` and `test_size` points would overlap."""
        if train_size + test_size > len(self):
            raise InputError(
                f"{self._holds()}: train size {train_size} and test size {test_size} "
                f"must add up to at most {len(self)}"
            )

    def _check_size(self, size: int) -> None:
        valid = f"an integer from 1 to {len(self)} ({self._holds()})"
        require("size", size, lambda n: 1 <= n <= len(self) and n == n // 1, valid)


def permutation(points: int, seed: int) -> NDArray[np.intp]:
    """The order in which a seed puts the points."""
    require_whole("seed", seed, least=0)
    return data_stream(seed, SPLIT).permutation(points)
