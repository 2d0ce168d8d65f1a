"""Seeds that the user sets: ignored inside of model(), left alone elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgdphase._own import user_file, user_functions
from sgdphase._own.code import user_code
from sgdphase.errors import InputError

torch = pytest.importorskip("torch")
from sgdphase._own.module import fresh, seed_notes  # noqa: E402

Write = Callable[..., Path]

DATA = """
import numpy as np
def data():
    return np.random.rand(40, 3), np.arange(40) % 2
"""


def weights(problem: Any, seed: int) -> list[float]:
    return [value for part in fresh(problem, seed).parameters() for value in part.view(-1).tolist()]


SEEDS = {
    "torch": ("import torch", "torch.manual_seed(0)"),
    "its name": ("import torch\nfrom torch import manual_seed", "manual_seed(0)"),
    "its module": ("import torch", "torch.random.manual_seed(0)"),
    "python": ("import random", "random.seed(0)"),
    "name of python's": ("from random import seed", "seed(0)"),
    "numpy": ("import numpy as np", "np.random.seed(0)"),
    "name of numpy's": ("from numpy.random import seed as fix", "fix(0)"),
}


DRAWN = """
import random, numpy, torch
{imports}
def model():
    {call}
    layer = torch.nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight += torch.tensor([random.random(), numpy.random.rand(), 0.0])
    return layer
"""


@pytest.mark.parametrize("kind", SEEDS)
def test_a_seed_inside_model_is_ignored_and_that_is_said(write: Write, kind: str) -> None:
    imports, call = SEEDS[kind]
    plain = user_file(write(DRAWN.format(imports="", call="pass") + DATA))
    expected = [weights(plain, seed) for seed in (0, 1)]
    assert seed_notes(plain) == ()
    before = random_functions()
    problem = user_file(write(DRAWN.format(imports=imports, call=call) + DATA))
    # As if it were not there.
    assert [weights(problem, seed) for seed in (0, 1)] == expected
    (note,) = seed_notes(problem)
    assert note.startswith("model() sets a random seed, which is ignored here")
    assert random_functions() == before
    module = sys.modules["user_training"]
    assert "ignore" not in repr(vars(module).get(call.partition("(")[0]))


def random_functions() -> tuple[Any, ...]:
    import random

    return random.seed, np.random.seed, torch.manual_seed, torch.random.default_generator


def test_seeds_elsewhere_are_the_users(write: Write) -> None:
    text = """
    import numpy as np, torch
    torch.manual_seed(1)
    def model(): return torch.nn.Linear(3, 2)
    def data():
        np.random.seed(4)
        return np.random.rand(40, 3), np.arange(40) % 2
    """
    problem = user_file(write(text))
    assert seed_notes(problem) == ()
    expected = np.random.RandomState(4).rand(40, 3)
    assert sorted(problem.train_set(40, 0).x[:, 0]) == sorted(expected[:, 0])


def test_random_functions_are_put_back_after_an_error() -> None:
    def model() -> None:
        torch.manual_seed(0)
        raise KeyError

    def data() -> Any:
        return np.eye(4), [0, 1, 0, 1]

    before = random_functions()
    with pytest.raises(InputError, match="KeyError"):
        fresh(user_functions(user_code(train=lambda **given: 0.0, model=model, data=data)), 0)
    assert random_functions() == before
