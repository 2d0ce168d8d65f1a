"""A training of a number of epochs, as input to the table of equivalents."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Setting:
    """What a user chooses in a training.

    Attributes
    ----------
    lr : float, above 0
    batch, epochs : int, at least 1

    Examples
    --------
    >>> Setting(0.1, 8, 5) < Setting(0.2, 8, 5)
    True
    """

    lr: float
    batch: int
    epochs: int


@dataclass(frozen=True)
class TrainingRun:
    """One training that was carried out, by any means.

    Attributes
    ----------
    setting : Setting
    seed : int
        Settings are compared within seeds.
    metrics : mapping of str to float
        At the end; empty if the training diverged.
    steps : int, default 0 (unknown)

    Examples
    --------
    >>> TrainingRun(Setting(0.1, 8, 5), seed=0, metrics={"test_error": 0.1}).metrics
    {'test_error': 0.1}
    """

    setting: Setting
    seed: int
    metrics: Mapping[str, float]
    steps: int = 0


def went_up(metrics: Mapping[str, float]) -> bool:
    """Whether a training ended with a higher loss than it started with."""
    return metrics.get("train_loss", -math.inf) > metrics.get("initial_loss", math.inf)
