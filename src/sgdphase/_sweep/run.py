"""A run: a training that was carried out, and its outcome."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, get_args

import numpy as np

from sgdphase._records import Outcome, Status, Training
from sgdphase._sweep.checkpoints import checkpoint_of
from sgdphase._sweep.trainers import trainer_of
from sgdphase.errors import InputError

STATUSES: tuple[Status, ...] = get_args(Status)

# A pack that turns out longer than this hands back what it has, and the rest is packed again.
_PACK_SECONDS = 2.0


@dataclass(frozen=True)
class Run:
    """A training that was carried out.

    Attributes
    ----------
    training : Training
    outcome : Outcome
    seconds : float
        Duration; of a training that was resumed, since then.
    traceback : str, default ""; of a failed training

    Examples
    --------
    >>> from sgdphase import TeacherTask
    >>> training = Training(TeacherTask(dim=8), train_size=32, lr=1.0, batch=1)
    >>> Run(training, Outcome("failed", 0, 0.0, {}), seconds=0.5).outcome.status
    'failed'
    """

    training: Training
    outcome: Outcome
    seconds: float
    traceback: str = ""


def failed(training: Training, seconds: float, reason: str) -> Run:
    """The run of a training that raised or whose worker died."""
    return Run(training, Outcome("failed", 0, 0.0, {}), seconds, reason)


def run(training: Training, *, trajectory: bool = False, checkpoints: Path | None = None) -> Run:
    """Carry out one training; whatever it raises becomes a run with status `failed`."""
    start = monotonic()
    try:
        trainer = trainer_of(training.model)
        options: dict[str, Any] = {"trajectory": trajectory}
        if trainer.resumes:
            path = checkpoint_of(checkpoints, training.key, trajectory=trajectory)
            options["checkpoint"] = path
        outcome = _checked(trainer.train(training, **options))
    except (Exception, SystemExit):
        return failed(training, monotonic() - start, traceback.format_exc())
    return Run(training, outcome, monotonic() - start)


def run_pack(
    pack: Sequence[tuple[str, Training]], *, trajectory: bool, checkpoints: Path | None = None
) -> list[Run]:
    """Carry out a pack of `(key, training)`, or the first part of it if it takes too long."""
    start = monotonic()
    runs: list[Run] = []
    for key, training in pack:
        # On a cluster the worker may hold another version, whose results are not the ones asked.
        if training.key != key:
            raise InputError("a worker has another version of sgdphase: install the same on all")
        runs.append(run(training, trajectory=trajectory, checkpoints=checkpoints))
        if monotonic() - start > _PACK_SECONDS:
            break
    return runs


def _checked(outcome: Outcome) -> Outcome:
    """The outcome in plain numbers, which any store and any wire can carry."""
    if outcome.status not in STATUSES:
        raise ValueError(f"status {outcome.status!r} is not one of {', '.join(STATUSES)}")
    return Outcome(
        outcome.status,
        int(outcome.steps),
        float(outcome.time),
        {name: float(value) for name, value in outcome.observables.items()},
        {name: np.asarray(value, np.float64) for name, value in outcome.trajectory.items()},
    )
