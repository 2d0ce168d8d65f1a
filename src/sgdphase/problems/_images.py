"""Two classes of images: the digits of MNIST by parity, animals or not among those of CIFAR-10.

The published training and test files are merged and split anew by every seed. Pixels are centred
and scaled by one mean and one deviation, those of all pixels of all images.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from sgdphase._typing import Mask
from sgdphase.errors import InputError
from sgdphase.problems._dataset import Dataset
from sgdphase.problems._files import CIFAR10, MNIST, FileSet, fetch, read
from sgdphase.problems._formats import Bytes, read_cifar_batch, read_idx
from sgdphase.problems._split import Split

T = TypeVar("T")


class _ImageProblem(Split):
    """Common part of the two problems. The number of images is known without the files."""

    kind: ClassVar[str]
    points: ClassVar[int]
    files: ClassVar[FileSet]

    def __len__(self) -> int:
        return self.points

    def prepare(self) -> None:
        """Download the files if needed; raise `InputError` if that fails."""
        fetch(self.files)

    def _holds(self) -> str:
        return f"{self.kind} has {self.points} images"


@dataclass(frozen=True)
class MnistParity(_ImageProblem):
    """Handwritten digits: even ones +1, odd ones -1. Inputs are `[n, 1, 28, 28]`, float32.

    Examples
    --------
    >>> len(MnistParity())
    70000
    """

    kind: ClassVar[str] = "mnist-parity"
    points: ClassVar[int] = 70_000
    files: ClassVar[FileSet] = MNIST

    def _take(self, chosen: NDArray[np.intp]) -> Dataset:
        return _mnist().take(chosen)


@dataclass(frozen=True)
class CifarAnimals(_ImageProblem):
    """Small photographs: animals +1, vehicles -1. Inputs are `[n, 3, 32, 32]`, float32.

    The vehicles are airplane, automobile, ship and truck, four of the ten classes.

    Examples
    --------
    >>> len(CifarAnimals())
    60000
    """

    kind: ClassVar[str] = "cifar-animals"
    points: ClassVar[int] = 60_000
    files: ClassVar[FileSet] = CIFAR10

    def _take(self, chosen: NDArray[np.intp]) -> Dataset:
        return _cifar().take(chosen)


_VEHICLES = (0, 1, 8, 9)


@dataclass(frozen=True, eq=False)
class _Images:
    """All images of a problem as bytes; `take` converts the chosen ones only."""

    pixels: Bytes
    y: NDArray[np.float32]
    mean: float
    deviation: float

    def take(self, chosen: NDArray[np.intp]) -> Dataset:
        x = self.pixels[chosen].astype(np.float32)
        x -= np.float32(self.mean)
        x /= np.float32(self.deviation)
        return Dataset(x, self.y[chosen])


@lru_cache(maxsize=1)
def _mnist() -> _Images:
    images, digits = (
        np.concatenate(
            [_parsed(MNIST, f"{part}-{what}-ubyte.gz", read_idx) for part in ("train", "t10k")]
        )
        for what in ("images-idx3", "labels-idx1")
    )
    return _images(images[:, None], positive=digits % 2 == 0)


@lru_cache(maxsize=1)
def _cifar() -> _Images:
    batches = [_parsed(CIFAR10, name, read_cifar_batch) for name in CIFAR10.digests]
    pixels, classes = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    return _images(pixels, positive=~np.isin(classes, _VEHICLES))


def _parsed(owner: FileSet, name: str, parse: Callable[[bytes], T]) -> T:
    content = read(owner, name)
    try:
        return parse(content)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _images(pixels: Bytes, positive: Mask) -> _Images:
    y = np.where(positive, np.float32(1), np.float32(-1))
    # Mean and deviation come from how often each of the 256 levels occurs.
    counts = np.zeros(256, np.int64)
    # In parts, as counting makes a copy of 8 bytes per pixel.
    for part in np.array_split(pixels, max(len(pixels) // 1000, 1)):
        counts += np.bincount(part.ravel(), minlength=256)
    levels = np.arange(256)
    mean = float(counts @ levels / counts.sum())
    return _Images(pixels, y, mean, math.sqrt(counts @ (levels - mean) ** 2 / counts.sum()))
