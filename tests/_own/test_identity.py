"""Functions are known by their text and by all that they use."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sgdphase._own.code import user_code
from sgdphase._own.problem import user_functions

torch = pytest.importorskip("torch")


POINTS = np.random.default_rng(0).standard_normal((12, 2)), np.array([0, 1] * 6)


def test_functions_that_make_other_models_are_other_trainings() -> None:
    linear = torch.nn.Linear

    def width(n: int) -> Callable[[], Any]:
        return lambda: linear(2, n)

    models = [
        width(2), width(3), functools.partial(linear, 2, 2), functools.partial(linear, 2, 3),
        lambda: torch.nn.Sequential(linear(2, 2)), linear(2, 2), linear(2, 2),
    ]  # fmt: skip
    problems = [user_functions(user_code(model=m, data=lambda: POINTS)) for m in models]
    assert len({problem.digest for problem in problems}) == len(models)
    weights = [next(problem.code.call("model", 0).parameters()) for problem in problems]
    assert [len(weight) for weight in weights] == [2, 3, 2, 3, 2, 2, 2]


def test_a_function_counts_with_what_it_uses() -> None:
    # As in a notebook, where one cell is changed and the other, with model(), is not.
    digests = []
    for width, more in ((3, "pass"), (4, "pass"), (3, "WIDTH + 1"), (3, "pass")):
        cell: dict[str, Any] = {"__name__": "cell", "WIDTH": width}
        text = f"def model(): return net()\ndef net():\n    {more}\n    return WIDTH, model\n"
        exec(text, cell)
        digests.append(user_functions(user_code(model=cell["model"], data=lambda: POINTS)).digest)
    assert digests[0] == digests[3] and len(set(digests)) == 3


def test_functions_without_a_source_are_known_by_their_code() -> None:
    def digest(text: str) -> str:
        cell: dict[str, Any] = {"__name__": "cell"}
        exec(f"def model(): return (lambda: {text})()", cell)
        return user_functions(user_code(model=cell["model"], data=lambda: POINTS)).digest

    one, again, other = (digest(text) for text in ("1 + len('a')", "1 + len('a')", "1 + len('b')"))
    assert one == again != other


def test_what_lies_around_is_not_in_the_way() -> None:
    def digest(**around: Any) -> str:
        cell: dict[str, Any] = {"__name__": "cell", **around}
        exec(f"def model(): return {', '.join(around)}", cell)
        return user_functions(user_code(model=cell["model"], data=lambda: POINTS)).digest

    odd = {"a": torch.Tensor, "b": np.ndarray, "c": torch.zeros(2, dtype=torch.bfloat16)}
    assert digest(**odd) == digest(**odd)
    assert digest(a=inspect.signature(digest)) == digest(a=inspect.signature(len))
    assert digest(a=np.array([object()])) == digest(a=np.array([object()]))
    assert digest(a=object()) == digest(a=object())
    assert digest(a=torch.zeros(2)) != digest(a=torch.ones(2))
    assert digest(a={"width": 3}) != digest(a={"width": 4})


def test_functions_that_train_otherwise_are_other_trainings() -> None:
    def by(power: float) -> Callable[..., float]:
        return lambda lr, batch, train_size, seed: lr**power

    digests = {user_functions(user_code(train=by(power))).digest for power in (1.0, 2.0, 3.0)}
    assert len(digests) == 3
