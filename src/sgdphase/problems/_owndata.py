"""From what a user's `data()` returns to arrays: inputs, and labels as numbers of classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgdphase.errors import InputError
from sgdphase.problems._dataset import Dataset
from sgdphase.problems._usercode import UserCode

# Points of a Dataset that are read twice, to see whether they are the same.
_AGAIN = 8
# Numbers with a fraction, or this many distinct ones, are no classes.
_MOST_CLASSES = 10_000


@dataclass(frozen=True, eq=False)
class Labelled:
    """All points: `y` counts in `classes`, the sorted labels. `changes` if reading is random."""

    x: NDArray[Any]
    y: NDArray[np.int64]
    classes: NDArray[Any]
    changes: bool = False

    def __len__(self) -> int:
        return len(self.y)

    def take(self, chosen: NDArray[np.intp]) -> Dataset:
        return Dataset(self.x[chosen], self.y[chosen])


def labelled(code: UserCode, function: str, classes: NDArray[Any] | None = None) -> Labelled:
    """What `data()` or `test_data()` gives; the test data have the classes of the data."""
    where = f"{code.name}, {function}()"
    with code.guest(function):
        x, y, changes = _arrays(code.call(function, 0), where)
    if x.dtype.kind not in "biuf":
        raise InputError(f"{where}: inputs are of type {x.dtype}: must be numbers")
    if x.ndim < 1 or len(x) == 0:
        raise InputError(f"{where}: inputs have shape {x.shape}: must be (points, ...)")
    if x.dtype.kind == "f" and not np.isfinite(x).all():
        raise InputError(f"{where}: inputs have entries that are not finite")
    y = _checked_labels(y, len(x), where)
    known = np.unique(y) if classes is None else classes
    if len(known) < 2:
        raise InputError(f"{where}: all labels are {known[0]}: must be of two classes or more")
    number = np.searchsorted(known, y)
    if (known[np.minimum(number, len(known) - 1)] != y).any():
        strange = sorted(set(y.tolist()) - set(known.tolist()))[:5]
        raise InputError(f"{where}: labels {strange} are not among those of data()")
    return Labelled(x, number.astype(np.int64), known, changes)


def _arrays(given: Any, where: str) -> tuple[NDArray[Any], NDArray[Any], bool]:
    """From `x, y`, or from a Dataset that is read point by point."""
    is_pair = isinstance(given, tuple | list) and len(given) == 2
    if is_pair and (isinstance(given, tuple) or hasattr(given[0], "shape")):
        return _array(given[0], where), _array(given[1], where), False
    if hasattr(given, "shape"):
        raise InputError(f"{where}: gives one array: must give two, x and y")
    if hasattr(given, "batch_sampler"):
        raise InputError(f"{where}: gives a DataLoader: must give its Dataset, or x, y")
    if not (hasattr(given, "__getitem__") and hasattr(given, "__len__")):
        raise InputError(
            f"{where}: gives {type(given).__name__}: must give x, y as arrays or tensors, or a "
            "map-style Dataset"
        )
    if isinstance(given, Mapping | str):
        raise InputError(f"{where}: gives {type(given).__name__}: must give x, y")
    points = [_pair(given[index], where) for index in range(len(given))]
    if not points:
        raise InputError(f"{where}: gives an empty Dataset")
    first = points[: min(_AGAIN, len(points))]
    again = [_pair(given[index], where) for index in range(len(first))]
    changes = any(not np.array_equal(a[0], b[0]) for a, b in zip(first, again, strict=True))
    shapes = {x.shape for x, _ in points}
    if len(shapes) > 1:
        raise InputError(f"{where}: points have shapes {sorted(shapes)[:3]}: must all be alike")
    return np.stack([x for x, _ in points]), np.array([y for _, y in points]), changes


def _pair(point: Any, where: str) -> tuple[NDArray[Any], Any]:
    if not (isinstance(point, tuple | list) and len(point) == 2):
        raise InputError(f"{where}: a point of the Dataset must be a pair of input and label")
    label = _array(point[1], where)
    if label.size != 1:
        raise InputError(f"{where}: a label of shape {label.shape}: must be one number")
    return _array(point[0], where), label.reshape(())[()]


def _array(given: Any, where: str) -> NDArray[Any]:
    """A copy, so that nothing of the user's is held or changed, in the order of bytes of here."""
    try:
        array = np.array(given.detach().cpu().numpy() if hasattr(given, "detach") else given)
    except (TypeError, ValueError, RuntimeError) as error:
        said = " ".join(str(error).split())
        raise InputError(f"{where}: gives what is no array of numbers ({said})") from None
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _checked_labels(y: NDArray[Any], points: int, where: str) -> NDArray[Any]:
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.shape != (points,):
        more = "; for one-hot labels give y.argmax(axis=1)" if y.ndim == 2 else ""
        raise InputError(f"{where}: labels have shape {y.shape}: must be ({points},){more}")
    if y.dtype.kind not in "biuf":
        raise InputError(f"{where}: labels are of type {y.dtype}: must be whole numbers")
    whole = y.dtype.kind != "f" or bool(np.isfinite(y).all() and (y == np.round(y)).all())
    if not whole or len(np.unique(y)) > min(_MOST_CLASSES, max(points // 2, 2)):
        raise InputError(
            f"{where}: labels look like those of a regression ({y[0]}, ...): only classification "
            "has margins, by which the regimes are told; labels must be the classes as whole "
            "numbers"
        )
    return y if y.dtype.kind in "bf" else y.astype(np.int64)
