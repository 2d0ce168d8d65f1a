"""The global random generators of Python, numpy and torch while the user's code runs."""

from __future__ import annotations

import inspect
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np


@contextmanager
def random_state(seed: int) -> Iterator[None]:
    """Seed the generators, and restore their states afterwards."""
    torch: Any = sys.modules.get("torch")
    python, numpy = random.getstate(), np.random.get_state()
    fork = torch.random.fork_rng(range(torch.cuda.device_count())) if torch else None
    if fork:
        fork.__enter__()
    random.seed(seed)
    np.random.seed(seed % 2**32)
    if torch:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        if fork:
            fork.__exit__(None, None, None)


@contextmanager
def seeds_ignored(function: Callable[..., Any]) -> Iterator[list[Any]]:
    """Inside, seeds that the user's function sets have no effect, but are listed.

    A generator that the function makes itself is not touched.
    """
    ignored: list[Any] = []

    def ignore(*given: Any, **more: Any) -> None:
        ignored.append(given)

    replaced: list[tuple[dict[str, Any], str, Any]] = [
        (vars(random), "seed", ignore),
        (vars(np.random), "seed", ignore),
    ]
    if torch := sys.modules.get("torch"):
        # torch.manual_seed looks this up when it is called, under any name.
        names = vars(torch.random)
        generator = _Unseeded(names["default_generator"], ignored)
        replaced.append((names, "default_generator", generator))
    # After `from random import seed` they have a name in the user's file.
    around = getattr(inspect.unwrap(function), "__globals__", {})
    seeds = (random.seed, np.random.seed)
    replaced += [(around, name, ignore) for name, value in around.items() if _is_one(value, seeds)]
    with ExitStack() as stack:
        for names, name, value in replaced:
            stack.callback(names.__setitem__, name, names[name])
            names[name] = value
        yield ignored


def _is_one(value: Any, known: tuple[Any, ...]) -> bool:
    return any(value is one for one in known)


class _Unseeded:
    """A generator of torch that ignores the seeds it is given."""

    def __init__(self, generator: Any, ignored: list[Any]) -> None:
        self._generator, self._ignored = generator, ignored

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def manual_seed(self, seed: int) -> Any:
        self._ignored.append(seed)
        return self._generator

    def seed(self) -> int:
        return int(self.manual_seed(0).initial_seed())
