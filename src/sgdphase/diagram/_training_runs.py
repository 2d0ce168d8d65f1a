"""A training of epochs as the table of equivalents sees it, however it was made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Setting", "TrainingRun", "went_up"]


@dataclass(frozen=True, order=True)
class Setting:
    """What can be chosen in a training."""

    lr: float
    batch: int
    epochs: int


@dataclass(frozen=True)
class TrainingRun:
    """One training, however it was made; one that diverged has no metrics."""

    setting: Setting
    seed: int
    metrics: Mapping[str, float]
    steps: int = 0


def went_up(metrics: Mapping[str, float]) -> bool:
    """Whether a training ended with a higher loss than it started with."""
    return metrics.get("train_loss", -math.inf) > metrics.get("initial_loss", math.inf)
