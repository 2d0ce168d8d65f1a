"""What every problem hands out: inputs and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """Inputs `x` of shape `[n, ...]` and labels `y` of +1 or -1, both float32 or both float64.

    A point of the teacher task is a vector; an image is `[channels, height, width]`. Data of a
    user's own code are of any type of number, with numbers of classes as labels.
    """

    x: NDArray[Any]
    y: NDArray[Any]

    def __len__(self) -> int:
        return len(self.y)
