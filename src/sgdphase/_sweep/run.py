"""A run: a training that was done, and its outcome."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from sgdphase._display import Columns, Shown
from sgdphase._records import Outcome, Training
from sgdphase._sweep.checkpoints import checkpoint_of
from sgdphase._sweep.trainers import trainer_of
from sgdphase.errors import InputError

# A pack that takes longer than this returns what it has; the rest is packed again.
_PACK_SECONDS = 2.0


@dataclass(frozen=True, repr=False)
class Run(Shown):
    """A training that was done.

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

    def _lines(self) -> list[str]:
        training = self.training
        setting = f"lr {training.lr:g}, batch {training.batch}, seed {training.seed}"
        return [
            f"Run of {training.model} on {training.problem.kind}, train size "
            f"{training.train_size}, {setting}; {self.seconds:.3g} s",
            *self.outcome._lines(),
            *self.traceback.strip().splitlines()[-1:],
        ]

    def _summary(self) -> Columns:
        return self.outcome._summary()

    def _table(self) -> Columns:
        return self.outcome._table()


def failed(training: Training, seconds: float, reason: str) -> Run:
    """The run of a training that raised or whose worker died."""
    return Run(training, Outcome("failed", 0, 0.0, {}), seconds, reason)


def run(
    training: Training,
    *,
    trajectory: bool = False,
    checkpoints: Path | None = None,
    folders: Path | None = None,
) -> Run:
    """Do one training; if it raises, the run has status `failed`."""
    start = monotonic()
    try:
        trainer = trainer_of(training.model)
        options: dict[str, Any] = {"trajectory": trajectory}
        if trainer.resumes:
            path = checkpoint_of(checkpoints, training.key, trajectory=trajectory)
            options["checkpoint"] = path
        if trainer.writes:
            options["folder"] = folder_of(folders, training)
        outcome = _checked(trainer.train(training, **options))
    except (Exception, SystemExit):
        return failed(training, monotonic() - start, traceback.format_exc())
    return Run(training, outcome, monotonic() - start)


def folder_of(folders: Path | None, training: Training) -> Path | None:
    """The folder of a run in the folder of a store: its name is to be read, and unique."""
    setting = f"batch{training.batch}-lr{training.lr:g}-seed{training.seed}"
    return None if folders is None else folders / f"{setting}-{training.key[:12]}"


def run_pack(
    pack: Sequence[tuple[str, Training]],
    *,
    trajectory: bool,
    checkpoints: Path | None = None,
    folders: Path | None = None,
) -> list[Run]:
    """Do a pack of `(key, training)`, or the first part of it if it takes too long."""
    start = monotonic()
    runs: list[Run] = []
    for key, training in pack:
        # On a cluster a worker may have another version, with other results.
        if training.key != key:
            raise InputError("a worker has another version of sgdphase: install the same on all")
        places = {"checkpoints": checkpoints, "folders": folders}
        runs.append(run(training, trajectory=trajectory, **places))
        if monotonic() - start > _PACK_SECONDS:
            break
    return runs


def _checked(outcome: Outcome) -> Outcome:
    """The outcome in plain numbers, ready to be sent and stored."""
    return Outcome(
        outcome.status,
        int(outcome.steps),
        float(outcome.time),
        {name: float(value) for name, value in outcome.observables.items()},
        {name: np.asarray(value, np.float64) for name, value in outcome.trajectory.items()},
    )
