"""A training of the user's module, from record to record: for epochs, or until all is fitted."""

from __future__ import annotations

import math
from pathlib import Path

from sgdphase._own import epochs, fitted
from sgdphase._records import Outcome, Training


def train(
    training: Training, *, trajectory: bool = False, checkpoint: Path | None = None
) -> Outcome:
    """Train the module that the user's `model()` gives on the user's data."""
    if training.epochs is not None:
        return epochs.train(training, checkpoint=checkpoint)
    return fitted.train(training, trajectory=trajectory, checkpoint=checkpoint)


def expected_seconds(training: Training) -> float:
    """Unknown before one has run; long enough that each is a work package of its own."""
    return max(1.0, math.sqrt(training.train_size / 64))
