"""The result of a user's `data()` as arrays: inputs, and labels or targets.

It may be `x, y` as arrays, tensors, lists or tables (pandas and the like), a map-style `Dataset`,
or a `DataLoader`, whose dataset is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgdphase._own.code import UserCode
from sgdphase._typing import IntArray
from sgdphase.errors import InputError
from sgdphase.problems import Dataset

# Points of a Dataset that are read twice, to see whether they are the same.
_AGAIN = 8
# Numbers with a fraction, or this many distinct ones, are not classes.
_MOST_CLASSES = 10_000


@dataclass(frozen=True, eq=False)
class Labelled:
    """All points with their labels `y` as the user wrote them.

    `classes` are the sorted labels (the columns, where labels are one-hot), None where they are the
    numbers of a regression. `changes` if a point differs when it is read twice; `notes` are for the
    user.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    classes: NDArray[Any] | None
    changes: bool = False
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.y)

    def take(self, chosen: NDArray[np.intp], *, targets: bool = False) -> Dataset:
        """Some points with their class numbers or, for a regression, their `targets`."""
        y = self.y[chosen]
        return Dataset(self.x[chosen], y.astype(np.float64) if targets else self._numbers(y))

    def _numbers(self, y: NDArray[Any]) -> IntArray:
        if self.classes is None:
            raise InputError("labels look like those of a regression: there are no classes")
        number = y.argmax(axis=1) if y.ndim > 1 else np.searchsorted(self.classes, y)
        return number.astype(np.int64)

    @property
    def content(self) -> tuple[NDArray[Any], ...]:
        """All that is part of the identity."""
        if self.classes is None:
            return self.x, self.y
        return self.x, self._numbers(self.y), self.classes


def labelled(code: UserCode, function: str, like: Labelled | None = None) -> Labelled:
    """What `data()` or `test_data()` gives; the test data have the classes of the data."""
    where = f"{code.name}, {function}()"
    given = code.call(function, 0)
    notes: tuple[str, ...] = ()
    if hasattr(given, "batch_sampler") and hasattr(given, "dataset"):
        given = given.dataset
        notes = (f"{function}() gives a DataLoader: its dataset is used; batches are drawn here",)
    # Seeded again: a Dataset may draw random numbers, the same in every process.
    with code.guest(function):
        x, y, changes = _arrays(given, where)
    x = _inputs(x, where)
    y = _labels(y, len(x), where)
    if like is None:
        return Labelled(x, y, _classes(y, where), changes, notes)
    if y.shape[1:] != like.y.shape[1:] or (y.dtype.kind == "U") != (like.y.dtype.kind == "U"):
        raise InputError(
            f"{where}: labels are of type {y.dtype} and shape {y.shape}: must be like those of "
            f"data(), {like.y.dtype} and {like.y.shape}"
        )
    if like.classes is not None and y.ndim == 1 and not np.isin(y, like.classes).all():
        strange = sorted(set(y.tolist()) - set(like.classes.tolist()))[:5]
        raise InputError(f"{where}: labels {strange} are not among those of data()")
    return Labelled(x, y, like.classes, changes, notes)


def _arrays(given: Any, where: str) -> tuple[NDArray[Any], NDArray[Any], bool]:
    """From `x, y`, or from a Dataset that is read point by point."""
    is_pair = isinstance(given, tuple | list) and len(given) == 2
    if is_pair and (isinstance(given, tuple) or hasattr(given[0], "shape")):
        _check_columns(given[0], where)
        return _array(given[0], where), _array(given[1], where), False
    if isinstance(given, tuple) and given and all(hasattr(part, "shape") for part in given):
        raise InputError(
            f"{where}: gives {len(given)} arrays: must give two, x and y; a test set is given by "
            "test_data()"
        )
    if hasattr(given, "shape"):
        raise InputError(f"{where}: gives one array: must give two, x and y")
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
    return (
        _stack([x for x, _ in points], "points", where),
        _stack([y for _, y in points], "labels", where),
        changes,
    )


def _stack(parts: list[NDArray[Any]], what: str, where: str) -> NDArray[Any]:
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        raise InputError(f"{where}: {what} have shapes {sorted(shapes)[:3]}: must all be alike")
    return np.stack(parts)


def _pair(point: Any, where: str) -> tuple[NDArray[Any], NDArray[Any]]:
    if not (isinstance(point, tuple | list) and len(point) == 2):
        raise InputError(f"{where}: a point of the Dataset must be a pair of input and label")
    label = _array(point[1], where)
    return _array(point[0], where), label.reshape(()) if label.size == 1 else label


def _array(given: Any, where: str) -> NDArray[Any]:
    """A copy in native byte order, so that nothing of the user is held or changed."""
    try:
        array = np.array(given.detach().cpu().numpy() if hasattr(given, "detach") else given)
    except (TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"{where}: gives something that is not an array of numbers ({reason})"
        ) from None
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _check_columns(table: Any, where: str) -> None:
    """Raise `InputError` for the columns of a table (pandas or similar) that are not numbers."""
    if not (hasattr(table, "columns") and hasattr(table, "__array__")):
        return
    wrong = [
        str(name)
        for name in table.columns
        if _plain(np.asarray(table[name])).dtype.kind not in "biuf"
    ]
    if wrong:
        raise InputError(
            f"{where}: columns {', '.join(wrong[:5])} hold no numbers, or have entries missing; "
            "must be numbers"
        )


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """An array of objects as numbers or as texts, if all of them are; else unchanged."""
    if array.dtype.kind != "O":
        return array
    kinds = {type(entry) for entry in array.flat}
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return array.astype(str)
    if kinds and all(issubclass(kind, bool | int | float | np.number | np.bool_) for kind in kinds):
        return np.array(array.tolist())
    return array


def _inputs(x: NDArray[Any], where: str) -> NDArray[Any]:
    x = _plain(x)
    if x.dtype.kind not in "biuf":
        raise InputError(f"{where}: inputs are of type {x.dtype}: must be numbers")
    if x.ndim < 1 or len(x) == 0:
        raise InputError(f"{where}: inputs have shape {x.shape}: must be (points, ...)")
    if x.dtype.kind == "f" and not np.isfinite(x).all():
        raise InputError(f"{where}: inputs have entries that are not finite")
    return x


def _labels(y: NDArray[Any], points: int, where: str) -> NDArray[Any]:
    """One label per point, or several numbers."""
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim < 1 or len(y) != points:
        raise InputError(f"{where}: labels have shape {y.shape}: must be ({points},)")
    y = _plain(y)
    if y.dtype.kind not in "biufU" or (y.dtype.kind == "U" and y.ndim > 1):
        raise InputError(
            f"{where}: labels are of type {y.dtype} and shape {y.shape}: must be numbers, or one "
            "text per point, with none missing"
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise InputError(f"{where}: labels have entries that are not finite")
    return y.astype(np.int64) if y.dtype.kind in "iu" else y


def _classes(y: NDArray[Any], where: str) -> NDArray[Any] | None:
    """The classes, or None for numbers that are not: fractions, several per point, too many."""
    if y.ndim > 1:
        is_one_hot = y.ndim == 2 and ((y == 0) | (y == 1)).all() and (y.sum(axis=1) == 1).all()
        return np.arange(y.shape[1]) if is_one_hot else None
    if y.dtype.kind == "f" and not (y == np.round(y)).all():
        return None
    known = np.unique(y)
    if len(known) < 2:
        raise InputError(f"{where}: all labels are {known[0]}: must be of two classes or more")
    if len(known) > min(_MOST_CLASSES, max(len(y) // 2, 2)):
        if y.dtype.kind == "U":
            raise InputError(f"{where}: {len(known)} of {len(y)} labels differ: must be classes")
        return None
    return known
