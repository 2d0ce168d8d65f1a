"""Inputs and labels, as every problem returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from sgdphase._display import ShortArrays


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(ShortArrays):
    """Inputs and labels, one row per point.

    Attributes
    ----------
    x : ndarray [n, ...]
        float32 or float64. A point of the teacher task is a vector; an image is
        `[channels, height, width]`. Data of a user's code may be of any type of number.
    y : ndarray [n]
        Labels +1 or -1, of the type of `x`; with a user's code also numbers of classes.

    Examples
    --------
    >>> import numpy as np
    >>> Dataset(np.zeros((3, 2)), np.array([1.0, -1.0, 1.0]))
    Dataset(x=float64 [3, 2], y=float64 [3])
    """

    x: NDArray[Any]
    y: NDArray[Any]

    def __len__(self) -> int:
        return len(self.y)
