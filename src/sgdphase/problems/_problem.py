"""What a problem is, and which kinds there are."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar, Protocol, cast

from sgdphase.errors import InputError
from sgdphase.problems._dataset import Dataset


class Problem(Protocol):
    """Inputs and labels to learn, as a frozen dataclass: its fields are part of an identity.

    `kind` is a name in `PROBLEMS`, or `module:Class` for a problem outside of the package.
    """

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


# The class of each kind of problem; a stored training has only the kind.
PROBLEMS = {
    "teacher": "sgdphase.problems:TeacherTask",
    "mnist-parity": "sgdphase.problems:MnistParity",
    "cifar-animals": "sgdphase.problems:CifarAnimals",
    "arrays": "sgdphase.problems:Arrays",
    "own": "sgdphase.own:UserProblem",
}


def problem_class(kind: str) -> type[Problem]:
    """The class of a kind of problem: one of `PROBLEMS`, or `module:Class`.

    >>> problem_class("teacher").__name__
    'TeacherTask'
    >>> problem_class("sgdphase.problems:TeacherTask").__name__
    'TeacherTask'
    """
    module, _, name = PROBLEMS.get(kind, kind).partition(":")
    if not name:
        names = ", ".join(PROBLEMS)
        raise InputError(f"problem kind = '{kind}': must be one of {names}, or 'module:Class'")
    try:
        return cast("type[Problem]", getattr(importlib.import_module(module), name))
    except (ModuleNotFoundError, AttributeError) as error:
        raise InputError(f"problem kind = '{kind}': cannot import it ({error})") from error
