"""A user's problem: arrays in an `.npz` file."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sgdphase._typing import FloatArray, Mask
from sgdphase.errors import InputError
from sgdphase.problems._dataset import Dataset
from sgdphase.problems._split import Split


@dataclass(frozen=True)
class Arrays(Split):
    """Two classes of points, from an `.npz` file with inputs `x [n, ...]` and labels `y [n]`.

    The larger label becomes +1, the smaller -1. Inputs are centred and scaled by one mean and one
    deviation, those of all entries of `x`, as the pixels of images are; float64 stays float64,
    everything else becomes float32. Each seed splits the points anew. Two problems are equal if
    their files have the same content.

    Attributes
    ----------
    path : str or Path
        The file, as `numpy.savez` writes it.
    digest : str, default ""
        SHA-256 of the file; computed if empty. A file with another content is refused.
    points : int, default 0
        Number of points; read from the file if 0. With both, the file is read only when its data
        are needed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/data.npz", x=np.arange(8.0).reshape(4, 2), y=[3, 3, 5, 5])
    ...     problem = Arrays(f"{folder}/data.npz")
    ...     len(problem), sorted(problem.train_set(4, seed=0).y.tolist())
    (4, [-1.0, -1.0, 1.0, 1.0])
    """

    kind: ClassVar[str] = "arrays"

    path: str = field(compare=False)
    digest: str = ""
    points: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", str(self.path))
        if not self.digest or not self.points:
            content = _content(self.path, self.digest)
            object.__setattr__(self, "digest", hashlib.sha256(content).hexdigest())
            object.__setattr__(self, "points", len(_parsed(content, self.path).y))

    def __len__(self) -> int:
        return self.points

    def prepare(self) -> None:
        """Raise `InputError` if the file is missing or has changed."""
        _content(self.path, self.digest)

    def _take(self, chosen: NDArray[np.intp]) -> Dataset:
        return _loaded(self.path, self.digest).take(chosen)

    def _holds(self) -> str:
        return f"{self.path} has {self.points} points"


@dataclass(frozen=True, eq=False)
class _Points:
    """All points as they are in the file; `take` converts the chosen ones only."""

    x: FloatArray
    y: Mask
    mean: float
    deviation: float

    def take(self, chosen: NDArray[np.intp]) -> Dataset:
        kind = np.float64 if self.x.dtype.name == "float64" else np.float32
        x = (self.x[chosen].astype(np.float64) - self.mean) / self.deviation
        return Dataset(x.astype(kind, copy=False), np.where(self.y[chosen], kind(1), kind(-1)))


@lru_cache(maxsize=2)
def _loaded(path: str, digest: str) -> _Points:
    return _parsed(_content(path, digest), path)


def _content(path: str, digest: str) -> bytes:
    if not Path(path).is_file():
        raise InputError(f"{path}: must be a file, an .npz with arrays x and y")
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if digest and hashlib.sha256(content).hexdigest() != digest:
        raise InputError(f"{path}: its content has changed since the problem was made from it")
    return content


def _parsed(content: bytes, path: str) -> _Points:
    try:
        x, y = _unpacked(content)
        for name, array in (("x", x), ("y", y)):
            if array.dtype.kind not in "biuf":
                raise InputError(f"{name} is of type {array.dtype}: must be of numbers")
            if not np.isfinite(array).all():
                raise InputError(f"{name} has entries that are not finite")
        return _Points(_checked_inputs(x), _checked_labels(y, len(x)), *_moments(x))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _unpacked(content: bytes) -> tuple[FloatArray, FloatArray]:
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise InputError("must be an .npz file, as numpy.savez makes it, with arrays x and y")
    try:
        # Pickled objects can run code when they are read.
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            if missing := [name for name in ("x", "y") if name not in arrays]:
                held = ", ".join(arrays) or "nothing"
                raise InputError(f"has no {' and no '.join(missing)}; it holds {held}")
            return np.asarray(arrays["x"]), np.asarray(arrays["y"])
    except InputError:
        raise
    except Exception as e:  # of the file, its archive, its compression or its arrays
        if "bject array" in str(e):
            raise InputError("x and y must be arrays of numbers, not of objects") from None
        raise InputError(f"is a damaged .npz file ({e})") from None


def _checked_inputs(x: FloatArray) -> FloatArray:
    if x.ndim < 2 or x.size == 0:
        raise InputError(f"x has shape {x.shape}: must be (points, ...) with at least two axes")
    if x.min() == x.max():
        raise InputError(f"x is {x.min()} everywhere: must vary")
    return x


def _checked_labels(y: FloatArray, points: int) -> Mask:
    if y.shape != (points,):
        raise InputError(f"y has shape {y.shape}: must be ({points},), one label per point of x")
    values = np.unique(y)
    if len(values) != 2:
        raise InputError(f"y has {len(values)} distinct values: must have two")
    return np.asarray(y == values[1])


def _moments(x: FloatArray) -> tuple[float, float]:
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = float(x.mean(dtype=np.float64)), float(x.std(dtype=np.float64))
    if not 0 < deviation < np.inf:
        raise InputError(f"x has deviation {deviation}: too large or too small for floats")
    return mean, deviation
