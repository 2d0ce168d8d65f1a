"""The user's problem: code that gives data and a model, or a function that trains by itself."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sgdphase._own.code import UserCode, load
from sgdphase._own.data import Labelled, labelled
from sgdphase._own.identity import text_of
from sgdphase.errors import InputError
from sgdphase.problems import Dataset
from sgdphase.problems._split import permutation


@dataclass(frozen=True)
class UserProblem:
    """The user's code and data, known by their content; `path` is where the code lies.

    `points` and `test_points` are the numbers of points of `data()` and `test_data()`. Each seed
    permutes the points; its training set is the first of them. The test set is a fixed part of the
    test data or, without test data, the last of the permuted points. Code that trains by itself has
    no points here. Labels are class numbers, or the targets of a regression.
    """

    kind: ClassVar[str] = "own"

    path: str = field(compare=False)
    digest: str
    points: int = 0
    test_points: int = 0

    def train_set(self, size: int, seed: int, *, targets: bool = False) -> Dataset:
        """The training set of a seed, with class numbers or, for a regression, `targets`."""
        return _opened(self).data.take(permutation(self.points, seed)[:size], targets=targets)

    def test_set(self, size: int, seed: int, *, targets: bool = False) -> Dataset:
        opened = _opened(self)
        if opened.test is not None:
            # Test data may be sorted by class.
            chosen = permutation(self.test_points, 0)[:size]
            return opened.test.take(chosen, targets=targets)
        chosen = permutation(self.points, seed)[self.points - size :]
        return opened.data.take(chosen, targets=targets)

    def check_sizes(self, train_size: int, test_size: int) -> None:
        """Raise `InputError` if there are not as many points."""
        if not self.points:
            return
        most = self.points if self.test_points else self.points - test_size
        if not 1 <= train_size <= most:
            held = "" if self.test_points else f", of which {test_size} are held out as a test set"
            raise InputError(
                f"train size = {train_size}: must be from 1 to {most}; data() gives "
                f"{self.points} points{held}"
            )
        if self.test_points and test_size > self.test_points:
            raise InputError(
                f"test size = {test_size}: test_data() gives {self.test_points} points"
            )

    def prepare(self) -> None:
        """Raise `InputError` if the file is not there or its content has changed."""
        _opened(self)

    @property
    def code(self) -> UserCode:
        return _opened(self).code

    @property
    def name(self) -> str:
        return self.code.name

    @property
    def changes(self) -> bool:
        """Whether reading a point twice gives two points."""
        return _opened(self).data.changes

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for the user on how code and data were read."""
        opened = _opened(self)
        return opened.code.notes + (opened.labelled.notes if opened.labelled else ())

    @property
    def has_classes(self) -> bool:
        """Whether the labels are classes; else they are the numbers of a regression."""
        return _opened(self).data.classes is not None

    @property
    def most_common(self) -> float:
        counts = np.unique(_opened(self).data.y, return_counts=True)[1]
        return float(counts.max() / counts.sum())

    @property
    def classes(self) -> NDArray[Any]:
        """The labels as the user wrote them, in the order of their numbers."""
        classes = _opened(self).data.classes
        if classes is None:
            raise InputError(
                f"{self.code.name}: labels look like those of a regression: give --loss mse with "
                "--epochs; must be the classes otherwise"
            )
        return classes


@dataclass(frozen=True, eq=False)
class _Opened:
    code: UserCode
    digest: str
    labelled: Labelled | None = None
    test: Labelled | None = None

    @property
    def data(self) -> Labelled:
        if self.labelled is None:
            raise InputError(f"{self.code.name}: has no data(); it trains by itself")
        return self.labelled


# What was read, by its digest: the functions of this process, which no other process can load,
# until they are forgotten; and the latest file. Reading may take long and data may be large.
_FUNCTIONS: dict[str, _Opened] = {}
_FILE: dict[str, _Opened] = {}


def user_file(path: str | Path) -> UserProblem:
    # Workers may have another working directory.
    whole = str(Path(path).absolute())
    return _problem(whole, _read_file(path))


def user_functions(code: UserCode) -> UserProblem:
    """The problem of functions; only this process can run it, until it is forgotten."""
    if "model" in code:
        # A model may depend on more than the text of its functions: its weights are hashed, too.
        made = text_of(code.call("model", 0))
        code = replace(code, source=f"{code.source}\n{made}")
    opened = _read(code)
    _FUNCTIONS[opened.digest] = opened
    return _problem("", opened)


def forget(problem: UserProblem) -> None:
    """Free code and data; those of a file are read again when they are needed."""
    _FUNCTIONS.pop(problem.digest, None)
    _FILE.pop(problem.digest, None)


def _problem(path: str, opened: _Opened) -> UserProblem:
    return UserProblem(path, opened.digest, len(opened.labelled or ()), len(opened.test or ()))


def _read_file(path: str | Path) -> _Opened:
    _FILE.clear()
    opened = _read(load(path))
    _FILE[opened.digest] = opened
    return opened


def _opened(problem: UserProblem) -> _Opened:
    """What was read in this process, or what the file gives now."""
    opened = _FUNCTIONS.get(problem.digest) or _FILE.get(problem.digest)
    if opened is not None:
        return opened
    if not problem.path:
        raise InputError("functions of another session: give the file that holds them")
    opened = _read_file(problem.path)
    if opened.digest != problem.digest:
        raise InputError(
            f"{problem.path}: the file, or what its data() gives, differs from one call to the "
            "next; data must be the same every time (use fixed seeds)"
        )
    return opened


def _trains(code: UserCode) -> bool:
    """Whether `train` has the expected arguments, and is not a helper of that name."""
    try:
        parameters = inspect.signature(code.functions["train"]).parameters
    except (TypeError, ValueError):
        return False
    anything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    return anything or {"lr", "batch", "seed"} <= parameters.keys()


def _read(code: UserCode) -> _Opened:
    """The data and the test data, and the digest of code and data."""
    digest = hashlib.sha256(code.source.encode())
    if "train" in code and (_trains(code) or not {"model", "data"} <= code.functions.keys()):
        return _Opened(code, digest.hexdigest())
    missing = [f"{name}()" for name in ("model", "data") if name not in code]
    if missing:
        raise InputError(
            f"{code.name}: has no {' and no '.join(missing)}; must have model() and data(), or "
            "train(lr, batch, epochs, seed); a script with options is run by --command"
        )
    data = labelled(code, "data")
    test = labelled(code, "test_data", data) if "test_data" in code else None
    for part in (data, test):
        for array in part.content if part else ():
            digest.update(str((array.dtype, array.shape)).encode())
            digest.update(np.ascontiguousarray(array).data)
    return _Opened(code, digest.hexdigest(), data, test)
