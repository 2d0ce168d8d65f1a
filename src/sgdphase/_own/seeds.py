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
    with ExitStack() as stack:
        stack.callback(random.setstate, random.getstate())
        stack.callback(np.random.set_state, np.random.get_state())
        random.seed(seed)
        np.random.seed(seed % 2**32)
        if torch := sys.modules.get("torch"):
            stack.enter_context(torch.random.fork_rng(range(torch.cuda.device_count())))
            torch.manual_seed(seed)
        yield


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
    for name, value in around.items():
        if value is random.seed or value is np.random.seed:
            replaced.append((around, name, ignore))
    with ExitStack() as stack:
        for names, name, value in replaced:
            stack.callback(names.__setitem__, name, names[name])
            names[name] = value
        yield ignored


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
