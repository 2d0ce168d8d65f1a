"""`diagnose`: from what the user brought to the answer."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from sgdphase.diagnose.answer import Diagnosis
from sgdphase.diagnose.brought import brought
from sgdphase.diagnose.question import Question
from sgdphase.diagnose.session import Session
from sgdphase.diagnose.sizes import given, ladder
from sgdphase.errors import InputError, require
from sgdphase.problems.own import Own, forget
from sgdphase.sweep import Store, Workers
from sgdphase.sweep.workers import Kept, workers_of

__all__ = ["diagnose"]

_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def diagnose(
    model: Any = None,
    data: Any = None,
    *,
    lr: float,
    batch: int,
    train: Callable[..., Any] | None = None,
    test_data: Any = None,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    loss: str = "hinge",
    margin: float | None = None,
    sampler: str = "fresh",
    budget: float | str = "10m",
    seeds: int = 3,
    train_sizes: Sequence[int] | None = None,
    workers: int | Callable[[], Workers] | None = None,
    store: Store | str | Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Diagnosis:
    """Which regime the training of a model is in, and how far its batch may be raised.

    `model` is a function that makes a fresh module and `data` one that gives `x, y` or a map-style
    Dataset; or `model` is the path of a file with both. For other frameworks,
    `train(lr, batch, train_size, seed)` returns the alignment, and `train_sizes` says at which
    sizes to ask. The loss is "hinge" or "cross-entropy", the sampler "fresh" or "epoch".

    `budget` is a time such as "10m", or a number of seconds; `seeds` are those of each point to
    begin with. Functions are run in this process, a file by `workers`, a number of processes (by
    default one a core) or a function that makes workers. Runs are kept in `store`, if there is one,
    and what it has is not run again. `say` takes lines of progress. A training that runs in this
    process is not cut short, whatever the budget.
    """
    started = monotonic()
    seconds = seconds_of(budget)
    require("seeds", seeds, lambda n: n >= 2 and n == int(n), "an integer of at least 2")
    require("lr", lr, lambda x: 0 < x < np.inf, "a finite number above 0")
    require("batch", batch, lambda b: b >= 1 and b == int(b), "an integer of at least 1")
    if model is None and train is None:
        raise InputError("nothing to diagnose: give a model with its data, a file, or train")
    own = brought(
        model, data, test_data=test_data, train=train, loss=loss, margin=margin,
        momentum=momentum, weight_decay=weight_decay, sampler=sampler,
    )  # fmt: skip
    if own.train_size is None and not train_sizes:
        raise InputError(
            f"{own.problem.code.name} trains by itself: say at which train sizes, as "
            "256,1024,4096; the largest is the one that is asked about"
        )
    sizes = given(train_sizes or ladder(own.train_size or 0), batch, own.train_size)
    if batch < own.smallest_batch:
        raise InputError(f"batch = {batch}: must be at least {own.smallest_batch} with BatchNorm")
    if not own.problem.path:
        if workers:
            raise InputError("workers: cannot see functions of this process; give a file")
        workers = 0
    for warning in own.warnings:
        say(f"mind: {warning}")
    with _given(own.problem), _one_thread(), _kept(workers) as kept, _placed(store) as place:
        session = Session(own, place, kept, started + seconds, say, keeps=store is not None)
        question = Question(session, float(lr), int(batch), seeds, tuple(sizes), bool(train_sizes))
        return question.answered(started)


def seconds_of(budget: float | str) -> float:
    """A time such as `90s`, `10m`, `2h`, or a number of seconds.

    >>> seconds_of("10m"), seconds_of("1.5h"), seconds_of(45)
    (600.0, 5400.0, 45.0)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([a-z]*)\s*", str(budget))
    unit = _UNITS.get(match[2]) if match else None
    if match is None or unit is None or not float(match[1]) > 0:
        raise InputError(f"budget = '{budget}': must be a time such as 90s, 10m or 2h")
    return float(match[1]) * unit


@contextmanager
def _given(problem: Own) -> Iterator[None]:
    """Functions and their data are held no longer than they are asked about."""
    try:
        yield
    finally:
        forget(problem)


@contextmanager
def _one_thread() -> Iterator[None]:
    """What runs in this process has one thread, as in a worker: batches are small."""
    torch: Any = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 0
    if torch:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(before)


@contextmanager
def _kept(workers: int | Callable[[], Workers] | None) -> Iterator[Kept]:
    kept = Kept(workers if callable(workers) else lambda: workers_of(workers))
    try:
        yield kept
    finally:
        kept.close()


@contextmanager
def _placed(store: Store | str | Path | None) -> Iterator[Store]:
    if store is not None:
        yield store if isinstance(store, Store) else Store(store)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Store(Path(folder) / "runs.sqlite")
