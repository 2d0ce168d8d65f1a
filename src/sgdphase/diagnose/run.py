"""`diagnose`: from what the user brought to the answer."""

from __future__ import annotations

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
from sgdphase.sweep import Store, Workers
from sgdphase.sweep.workers import Kept, workers_of

__all__ = ["diagnose"]

_BUDGET = 600.0


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
    budget: float = _BUDGET,
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

    `budget` is in seconds; `seeds` are those of each point to begin with. Functions are run in this
    process, a file by `workers`, a number of processes (by default one a core) or a function that
    makes workers. Runs are kept in `store`, if there is one, and what it has is not run again.
    `say` takes lines of progress.
    """
    started = monotonic()
    require("budget", budget, lambda s: s > 0, "a number of seconds above 0")
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
        workers = 0
    with _one_thread(), _kept(workers) as kept, _placed(store) as place:
        session = Session(own, place, kept, started + budget, say)
        question = Question(session, float(lr), int(batch), seeds, sizes, bool(train_sizes))
        return question.answered(started)


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
