"""The regime at the user's point: which runs it takes, and what they say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sgdphase._diagnose.batch_search import BatchSearch, Point
from sgdphase._diagnose.learner import Search, Trial
from sgdphase._records import Outcome
from sgdphase.diagram._four_regimes import TrainingRegime, neighbour_slopes, training_regime
from sgdphase.diagram._training_runs import Setting


@dataclass
class Neighbours(BatchSearch):
    """The runs that the slopes need: half the learning rate, twice the batch, half the epochs.

    All three make the training shorter or colder, so that a curved dependence bends them alike.
    """

    largest_batch: int

    def search(self) -> Search:
        point = self.point
        batch = min(2 * point.batch, self.largest_batch)
        yield self.trials(point.rate(-2), point.batch, point.scouts)
        yield self.trials(point.lr, batch, point.scouts)
        # Half of one epoch is none: then it is twice as many.
        yield self.trials(point.lr, point.batch, point.scouts, epochs=point.epochs // 2 or 2)


def regime_of(point: Point, outcomes: Mapping[Trial, Outcome]) -> TrainingRegime:
    """The regime, from the slopes between the user's point and its neighbours."""
    compared = point.comparison(outcomes)
    others = [s for s in compared.settings if s.lr == point.lr and s not in compared.unstable]
    larger = [s for s in others if s.epochs == point.epochs and s.batch > point.batch]
    epochs = [s for s in others if s.batch == point.batch and s.epochs != point.epochs]
    epochs.sort(key=lambda s: abs(math.log(s.epochs / point.epochs)))
    if not larger:
        return TrainingRegime(None, None, None, why="it takes runs at a larger batch")
    lower = Setting(point.rate(-2), point.batch, point.epochs)
    slopes = neighbour_slopes(
        compared, lower=lower, larger=larger[0], other=epochs[0] if epochs else None
    )
    return training_regime(slopes)
