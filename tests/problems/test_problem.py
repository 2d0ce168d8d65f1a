"""Problems by their kind."""

from __future__ import annotations

import pytest

from sgdphase.errors import InputError
from sgdphase.problems import PROBLEMS, CifarAnimals, MnistParity, problem_class


def test_problems_are_known_by_their_kind() -> None:
    assert set(PROBLEMS) >= {"teacher", "mnist-parity", "cifar-animals", "arrays", "own"}
    assert all(problem_class(kind).kind == kind for kind in PROBLEMS)
    with pytest.raises(InputError, match="problem kind = 'mnist': must be one of teacher, stripe,"):
        problem_class("mnist")
    assert MnistParity() == MnistParity() != CifarAnimals()
