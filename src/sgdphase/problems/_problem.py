"""What a problem is, and which kinds there are."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar, Protocol, cast

from sgdphase.errors import InputError
from sgdphase.problems._dataset import Dataset


class Problem(Protocol):
    """Inputs and labels to learn, as a frozen dataclass: its fields are part of an identity."""

    kind: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __hash__(self) -> int: ...

    def train_set(self, size: int, seed: int) -> Dataset:
        """The training set of a seed."""
        ...

    def test_set(self, size: int, seed: int) -> Dataset:
        """The test set of a seed."""
        ...

    def check_sizes(self, train_size: int, test_size: int) -> None:
        """Raise `InputError` if there are not as many points."""
        ...

    def prepare(self) -> None:
        """Raise `InputError` if the data cannot be had; may download them."""
        ...


# Where the class of each kind of problem is: a stored training names its kind.
PROBLEMS = {
    "teacher": "sgdphase.problems:TeacherTask",
    "mnist-parity": "sgdphase.problems:MnistParity",
    "cifar-animals": "sgdphase.problems:CifarAnimals",
    "arrays": "sgdphase.problems:Arrays",
    "own": "sgdphase.own:Own",
}


def problem_class(kind: str) -> type[Problem]:
    """The class of a kind of problem.

    >>> problem_class("teacher").__name__
    'TeacherTask'
    """
    if kind not in PROBLEMS:
        raise InputError(f"problem kind = '{kind}': must be one of {', '.join(PROBLEMS)}")
    module, _, name = PROBLEMS[kind].partition(":")
    return cast("type[Problem]", getattr(importlib.import_module(module), name))
