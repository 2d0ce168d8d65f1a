"""A trainer that costs what it is told and does what it is told: trains nothing."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from sgdphase._records import Outcome, Training


def _log(training: Training) -> None:
    """Every start is written down where the test says, so that running twice shows."""
    log = os.environ.get("TOY_LOG")
    if log:
        with Path(log).open("a") as file:
            file.write(training.key + "\n")


def train(training: Training, *, trajectory: bool = False) -> Outcome:
    _log(training)
    time.sleep(float(os.environ.get("TOY_SECONDS", "0")))
    return _outcome(training, trajectory)


def raises(training: Training, *, trajectory: bool = False) -> Outcome:
    """Batch 2 raises, batch 4 spends its budget, batch 8 diverges."""
    _log(training)
    if training.batch == 2 and "TOY_MENDED" not in os.environ:
        raise RuntimeError("batch 2 is broken")
    return _outcome(training, trajectory)


def kills(training: Training, *, trajectory: bool = False) -> Outcome:
    """Batch 2 kills its process."""
    _log(training)
    if training.batch == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return _outcome(training, trajectory)


def exits(training: Training, *, trajectory: bool = False) -> Outcome:
    sys.exit(3)


def resumes(
    training: Training, *, trajectory: bool = False, checkpoint: Path | None = None
) -> Outcome:
    """Counts to 200 and saves each count, from the one that was saved; batch 2 raises half way.

    Logs `KEY COUNT PID` as it starts.
    """
    start = 0
    if checkpoint is not None and checkpoint.exists():
        start = int(checkpoint.read_text())
    with Path(os.environ["TOY_LOG"]).open("a") as file:
        file.write(f"{training.key} {start} {os.getpid()}\n")
    for count in range(start + 1, 201):
        time.sleep(float(os.environ.get("TOY_SECONDS", "0")))
        if training.batch == 2 and count == 100:
            raise RuntimeError("batch 2 is broken")
        if checkpoint is not None:
            saving = checkpoint.with_name(f"{checkpoint.name}.{os.getpid()}")
            saving.write_text(str(count))
            saving.replace(checkpoint)
    observables = {"w1": 200.0, "start": float(start), "saves": float(checkpoint is not None)}
    return replace(_outcome(training, trajectory), observables=observables)


def expected_seconds(training: Training) -> float:
    return float(os.environ.get("TOY_EXPECTED", "0.001"))


def _outcome(training: Training, trajectory: bool) -> Outcome:
    status = {4: "budget", 8: "diverged"}.get(training.batch, "fitted")
    observables = {"w1": training.lr * training.batch, "alignment": float("inf")}
    points = {"step": np.arange(3.0), "w1": np.array([0.5, np.nan, training.lr])}
    return Outcome(status, training.batch, 0.5, observables, points if trajectory else {})  # type: ignore[arg-type]


def threads(training: Training, *, trajectory: bool = False) -> Outcome:
    """How many threads it was given, the most of any library."""
    given = [os.environ[f"{name}_NUM_THREADS"] for name in ("OMP", "MKL", "OPENBLAS", "NUMBA")]
    return Outcome("fitted", 1, 0.5, {"w1": float(max(map(int, given)))})
