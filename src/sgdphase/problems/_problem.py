"""What a problem is, and which kinds there are."""

from __future__ import annotations

import importlib
import sys
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from sgdphase.errors import InputError

if TYPE_CHECKING:  # without numpy, which `--help` does not need
    from sgdphase.problems._dataset import Dataset


class Problem(Protocol):
    """What is learnt: inputs and labels, as functions of a size and a seed.

    A class that follows this protocol is a frozen dataclass with a `kind`, a name in `PROBLEMS` or
    `module:Class` for a problem outside of the package. Its fields are part of the identity of a
    training.

    Examples
    --------
    >>> problem: Problem = problem_class("teacher")(dim=4)
    >>> problem.kind, problem.train_set(3, seed=0).x.shape
    ('teacher', (3, 4))
    """

    kind: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __hash__(self) -> int: ...

    def train_set(self, size: int, seed: int) -> Dataset:
        """The training set: `size` points that `seed` determines."""
        ...

    def test_set(self, size: int, seed: int) -> Dataset:
        """The test set: `size` points that `seed` determines, none of them trained on."""
        ...

    def check_sizes(self, train_size: int, test_size: int) -> None:
        """Raise `InputError` if there are fewer than `train_size` and `test_size` points."""
        ...

    def prepare(self) -> None:
        """Download the data if needed; raise `InputError` if that fails."""
        ...


# The class of each kind of problem; a stored training has only the kind.
PROBLEMS = {
    "teacher": "sgdphase.problems:TeacherTask",
    "stripe": "sgdphase.problems:Stripe",
    "sphere": "sgdphase.problems:Sphere",
    "mnist-parity": "sgdphase.problems:MnistParity",
    "cifar-animals": "sgdphase.problems:CifarAnimals",
    "arrays": "sgdphase.problems:Arrays",
    "own": "sgdphase._own:UserProblem",
    "command": "sgdphase._own:UserCommand",
}
# For `--data`: those that need no argument.
NAMED = tuple(kind for kind in PROBLEMS if kind not in ("arrays", "own", "command"))
# Those of them whose points are images.
IMAGES = ("mnist-parity", "cifar-animals")


def problem_class(kind: str) -> type[Problem]:
    """The class of a kind of problem: one of `PROBLEMS`, or `module:Class`.

    Parameters
    ----------
    kind : str
        A key of `PROBLEMS`, such as "teacher" or "arrays".

    Examples
    --------
    >>> problem_class("teacher").__name__
    'TeacherTask'
    >>> problem_class("sgdphase.problems:TeacherTask").__name__
    'TeacherTask'
    """
    module, _, name = PROBLEMS.get(kind, kind).partition(":")
    if not name:
        names = ", ".join(PROBLEMS)
        raise InputError(f"problem kind = '{kind}': must be one of {names}, or 'module:Class'")
    # A kind may come from somebody's store: nothing is imported or called that is no problem.
    problem: Any = None
    if module.partition(".")[0] not in sys.stdlib_module_names:
        try:
            problem = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, TypeError, ValueError) as error:
            raise InputError(
                f"problem kind = '{kind}': cannot import it ({error}); is its folder on PYTHONPATH?"
            ) from error
    known = getattr(problem, "kind", None) if isinstance(problem, type) else None
    if not is_dataclass(problem) or known not in (kind, f"{module}:{name}", *PROBLEMS):
        raise InputError(f"problem kind = '{kind}': is not the class of a problem of this kind")
    return cast("type[Problem]", problem)
