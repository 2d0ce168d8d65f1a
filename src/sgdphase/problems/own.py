"""What a user brings: code that gives data and a model, or that trains by itself."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sgdphase.errors import InputError
from sgdphase.problems._dataset import Dataset
from sgdphase.problems._owndata import Labelled, labelled
from sgdphase.problems._split import permutation
from sgdphase.problems._usercode import UserCode, load, user_code
from sgdphase.problems._usertext import is_module, text_of

__all__ = ["Own", "UserCode", "forget", "is_module", "own_file", "own_functions", "user_code"]

# Functions of a session, which no other process can find, by the digest of what they give.
_GIVEN: dict[str, tuple[UserCode, Labelled | None, Labelled | None]] = {}


@dataclass(frozen=True)
class Own:
    """The user's code and data, known by their content; `path` is where the code lies.

    `points` and `test_points` are those of `data()` and `test_data()`. Each seed permutes the
    points: its training set is the first of them. Without test data its test set is the last of
    them, else some of the test data, the same for every seed. Code that trains by itself has no
    points here. Labels are numbers of classes.
    """

    kind: ClassVar[str] = "own"

    path: str = field(compare=False)
    digest: str
    points: int = 0
    test_points: int = 0

    def train_set(self, size: int, seed: int) -> Dataset:
        """The training set of a seed."""
        return _opened(self).data.take(permutation(self.points, seed)[:size])

    def test_set(self, size: int, seed: int) -> Dataset:
        """The test set of a seed."""
        opened = _opened(self)
        if opened.test is not None:
            # As in a file, test data may be sorted by class.
            return opened.test.take(permutation(self.test_points, 0)[:size])
        return opened.data.take(permutation(self.points, seed)[self.points - size :])

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
        """The user's functions."""
        return _opened(self).code

    @property
    def changes(self) -> bool:
        """Whether reading a point twice gives two points."""
        return _opened(self).data.changes

    @property
    def classes(self) -> NDArray[Any]:
        """The labels as the user wrote them, in the order of their numbers."""
        return _opened(self).data.classes


@dataclass(frozen=True, eq=False)
class _Opened:
    code: UserCode
    found: Labelled | None
    test: Labelled | None

    @property
    def data(self) -> Labelled:
        if self.found is None:
            raise InputError(f"{self.code.name}: has no data(); it trains by itself")
        return self.found


def own_file(path: str) -> Own:
    """The problem of a user's file."""
    # Workers may have another working directory.
    return _problem(str(Path(path).absolute()), load(path), keep=False)


def own_functions(code: UserCode) -> Own:
    """The problem of functions; only this process can run it, until it is forgotten."""
    if "model" in code:
        # A model also depends on what its functions do not show: it is known by its weights too.
        made = text_of(code.call("model", 0))
        code = replace(code, source=f"{code.source}\n{made}")
    return _problem("", code, keep=True)


def forget(problem: Own) -> None:
    """Let go of functions and their data."""
    if _GIVEN.pop(problem.digest, None):
        _opened.cache_clear()


def _problem(path: str, code: UserCode, *, keep: bool) -> Own:
    data, test, digest = _read(code)
    if keep:
        _GIVEN[digest] = code, data, test
        # What is told apart by nothing that shows is at least the latest.
        _opened.cache_clear()
    return Own(path, digest, len(data or ()), len(test or ()))


@lru_cache(maxsize=1)
def _opened(problem: Own) -> _Opened:
    if problem.digest in _GIVEN:
        return _Opened(*_GIVEN[problem.digest])
    if not problem.path:
        raise InputError("functions of another session: give the file that holds them")
    code = load(problem.path)
    data, test, digest = _read(code)
    if digest != problem.digest:
        raise InputError(
            f"{problem.path}: the file, or what its data() gives, differs from one call to the "
            "next; data must be the same every time (use fixed seeds)"
        )
    return _Opened(code, data, test)


def _trains(code: UserCode) -> bool:
    """Whether its `train` is the one that is asked for, and not a helper of that name."""
    try:
        inspect.signature(code.functions["train"]).bind(lr=1.0, batch=1, train_size=1, seed=0)
    except (TypeError, ValueError):
        return False
    return True


def _read(code: UserCode) -> tuple[Labelled | None, Labelled | None, str]:
    """The data, the test data, and the digest of code and data."""
    digest = hashlib.sha256(code.source.encode())
    if "train" in code and (_trains(code) or not {"model", "data"} <= code.functions.keys()):
        return None, None, digest.hexdigest()
    missing = [f"{name}()" for name in ("model", "data") if name not in code]
    if missing:
        raise InputError(
            f"{code.name}: has no {' and no '.join(missing)}; must have model() and data(), or "
            "train(lr, batch, train_size, seed)"
        )
    data = labelled(code, "data")
    test = labelled(code, "test_data", data.classes) if "test_data" in code else None
    for part in (data, test):
        if part is not None:
            for array in (part.x, part.y, part.classes):
                digest.update(str((array.dtype, array.shape)).encode())
                digest.update(np.ascontiguousarray(array).data)
    return data, test, digest.hexdigest()
