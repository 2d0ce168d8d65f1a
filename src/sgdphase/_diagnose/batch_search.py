"""The search for the learning rate that goes with another batch, with few trainings.

Learning rates lie on a lattice around the user's, by factors of the square root of two. The row of
a batch starts where the rule through the earlier rows predicts the match. It moves up or down by
the missing amount over the slope, until each observable lies between two tried rates or no larger
rate gets any further. Then the matched rate itself is trained with more seeds. If nothing matches,
or if the match is worse, the search looks for the best rate, until it has worse ones on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sgdphase._diagnose.learner import Cell, Search, Searcher, Trial
from sgdphase._records import Outcome
from sgdphase.diagram._batch_table import NEAR, half_tolerance, mean, row_of
from sgdphase.diagram._comparison import Comparison
from sgdphase.diagram._training_runs import Setting, TrainingRun
from sgdphase.diagram._verdict import ACCEPTED
from sgdphase.stats import Estimate

STEP = math.log(2) / 2  # of the lattice, in log lr
LONGEST_JUMP = 4  # in steps
MOST_RATES = 12  # tried in a row to find a match
MOST_CLIMBS = 6  # and more to find the best
MOST_VERIFIED = 4  # rates per row with all seeds
STEEPEST = 1.25  # largest exponent of lr in the batch for a prediction
HOPELESS = 2  # a row that needs more than this many times `most_seeds` is left to the end
FEW = 5  # but every open row gets at least these


@dataclass(frozen=True)
class Point:
    """The user's training, and how many seeds the search may spend.

    `seeds` are trained at the user's point and at each matched rate, `scouts` elsewhere, and up to
    `most_seeds` where a verdict is open. `exponent` is a first guess of lr ~ batch^exponent.
    """

    lr: float
    batch: int
    epochs: int
    metric: str
    maximize: bool = False
    exponent: float = 1.0
    seeds: int = 5
    scouts: int = 3
    most_seeds: int = 40

    @property
    def setting(self) -> Setting:
        return Setting(self.lr, self.batch, self.epochs)

    def comparison(self, runs: Mapping[Trial, Outcome]) -> Comparison:
        """Of runs with those at the user's point."""
        return Comparison(
            training_runs(runs), self.setting, metric=self.metric, maximize=self.maximize
        )

    def rate(self, index: int) -> float:
        """The learning rate of a place on the lattice.

        >>> [Point(0.1, 8, 1, "test_error").rate(k) for k in (-2, 0, 1, 2)]
        [0.05, 0.1, 0.141421, 0.2]
        """
        return float(f"{self.lr * math.exp(index * STEP):.6g}")

    def index(self, lr: float) -> int:
        """The place on the lattice that is nearest to a learning rate."""
        return round(math.log(lr / self.lr) / STEP)


def training_runs(observations: Mapping[Trial, Outcome]) -> list[TrainingRun]:
    """Runs as the comparison takes them, without those that were given up."""
    runs = []
    for trial, outcome in observations.items():
        if outcome.status in ("finished", "diverged"):
            metrics = outcome.observables if outcome.status == "finished" else {}
            setting = Setting(trial.lr, trial.batch, trial.epochs or 0)
            runs.append(TrainingRun(setting, trial.seed, metrics, outcome.steps))
    return runs


@dataclass
class BatchSearch(Searcher):
    """The base of these searches: runs, compared with those at the user's point."""

    point: Point

    @cached_property
    def comparison(self) -> Comparison:
        return self.point.comparison(self.observations.runs)

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        super().tell(trial, outcome)
        vars(self).pop("comparison", None)

    def trials(
        self, lr: float, batch: int, seeds: int, *, epochs: int | None = None
    ) -> tuple[Trial, ...]:
        return tuple(Trial(lr, batch, seed, epochs or self.point.epochs) for seed in range(seeds))

    def all_trials(self, cells: Sequence[Cell], seeds: int) -> tuple[Trial, ...]:
        return tuple(trial for cell in cells for trial in self.trials(*cell, seeds))


@dataclass
class Reference(BatchSearch):
    """The user's training, and half and twice its learning rate; more if one of them is better."""

    def search(self) -> Search:
        point, seeds = self.point, self.point.seeds
        yield self.trials(point.lr, point.batch, seeds)
        yield self.all_trials([(point.rate(k), point.batch) for k in (-2, 2)], point.scouts)
        row = self.comparison.row(point.batch)
        best = min(row, key=lambda s: mean(self.comparison, s), default=point.setting)
        clear = self.comparison.five_percent(point.metric)
        # Each round of runs starts the search anew: so it moves on while the best is at the end.
        if len(row) < MOST_RATES and mean(self.comparison, best) < -clear:
            yield self.trials(best.lr, point.batch, seeds)
            if best in (row[0], row[-1]):
                place = point.index(best.lr) + (2 if best == row[-1] else -2)
                yield self.trials(point.rate(place), point.batch, point.scouts)


@dataclass
class RowSearch(BatchSearch):
    """The learning rate that learns the same at one batch.

    Rates that were tried `before`, for another question, do not count.
    """

    batch: int
    before: int = 0

    def search(self) -> Search:
        yield from self._match()
        yield from self._verify("progress")
        if self._settled():
            return
        yield from self._climb()
        yield from self._verify("metric")
        while not self._settled() and (best := self._best()) is not None:
            if self._has(best.lr, self.point.seeds):
                return
            yield self.trials(best.lr, self.batch, self.point.seeds)
            # With more seeds another one may turn out best.
            yield from self._climb()

    def _settled(self) -> bool:
        """Whether a rate is known to learn the same, or may be with more seeds."""
        row = row_of(self.comparison, self.batch)
        return row is not None and (row.verdict in ACCEPTED or row.by != "best")

    def _best(self) -> Setting | None:
        """The rate with the best metric so far; among equals the one closest to the prediction."""
        row, predicted = self.comparison.row(self.batch), self._predicted()
        return min(
            row,
            key=lambda s: (mean(self.comparison, s), abs(self.point.index(s.lr) - predicted)),
            default=None,
        )

    def _match(self) -> Search:
        """Learning rates until every observable is matched, or cannot be matched."""
        index: int | None = self._predicted()
        while index is not None:
            yield self.trials(self.point.rate(index), self.batch, self.point.scouts)
            index = self._next() if self._new_rates < MOST_RATES else None
            # A rate that was tried and is of no use would be asked for again forever.
            if index is not None and self._has(self.point.rate(index)):
                return

    def _has(self, lr: float, seeds: int = 1) -> bool:
        wanted = self.trials(lr, self.batch, seeds)
        return all(trial in self.observations.runs for trial in wanted)

    @property
    def _tried_places(self) -> list[int]:
        """The places on the lattice that were tried, with any outcome."""
        rates = {t.lr for t in self.observations.runs
                 if (t.batch, t.epochs) == (self.batch, self.point.epochs)}  # fmt: skip
        return sorted(map(self.point.index, rates))

    @property
    def _new_rates(self) -> int:
        """A bound on this number holds however often the search is replayed."""
        return len(self._tried_places) - self.before

    def _predicted(self) -> int:
        """By the exponent between the two nearest batches that have a row."""
        point, compared = self.point, self.comparison
        known = {point.batch: 0.0}
        for batch in {s.batch for s in compared.settings} - {self.batch, point.batch}:
            row = row_of(compared, batch)
            # A batch with runs only for timing or for the regime has no row yet.
            if row is not None and row.seeds >= point.seeds:
                known[batch] = math.log(row.lr.value / point.lr)
        near = sorted(known, key=lambda b: abs(math.log(b / self.batch)))[:2]
        exponent = point.exponent
        if len(near) == 2:
            exponent = (known[near[0]] - known[near[1]]) / math.log(near[0] / near[1])
        exponent = min(max(exponent, 0.0), STEEPEST)
        return round((known[near[0]] + exponent * math.log(self.batch / near[0])) / STEP)

    def _next(self) -> int | None:
        """The next place on the lattice; None if the matches cannot be improved."""
        point, compared = self.point, self.comparison
        row = compared.row(self.batch)
        unstable = [
            point.index(s.lr)
            for s in compared.row(self.batch, stable=False)
            if s in compared.unstable
        ]
        if not row:
            return min(unstable) - 2 if unstable else None
        low, high = point.index(row[0].lr), point.index(row[-1].lr)
        matches = compared.matches(self.batch)
        # Down first: where steps are too large, some observables stay short and others are
        # beyond.
        beyond = [name for name, match in matches.items() if match.state == "beyond"]
        if beyond:
            return low - self._jump(beyond[0], row[0])
        for name, match in matches.items():
            if match.state == "short":
                if unstable and min(unstable) - high > 1:
                    return (high + min(unstable)) // 2
                if not match.ended:
                    return high + self._jump(name, row[-1])
            if match.lr is not None:
                away = min(abs(math.log(s.lr / match.lr.value)) for s in row)
                if away > STEP + 1e-6:
                    return point.index(match.lr.value)
        return None

    def _jump(self, name: str, setting: Setting) -> int:
        """How many steps of the lattice an observable is off, by its slope at the user's point."""
        compared = self.comparison
        missing, slope = compared.distance(setting, name), compared.slope(name)
        steps = abs(missing / slope) / STEP if slope else 1.0
        return max(1, min(math.ceil(steps), LONGEST_JUMP))

    def _verify(self, by: Literal["progress", "metric"]) -> Search:
        """Train the matched rate itself, and again if that moves the match away from it."""
        while True:
            compared = self.comparison
            full = sum(compared.seeds(s) >= self.point.seeds for s in compared.row(self.batch))
            if full - self.before >= MOST_VERIFIED:
                return
            matched = compared.matched_lr(self.batch, by)
            if matched is None:
                return
            lr = self._tried(matched)
            if self._has(lr, self.point.seeds):
                return
            yield self.trials(lr, self.batch, self.point.seeds)

    def _tried(self, lr: Estimate) -> float:
        """A tried rate that may be the match, one close to it, or the match with three digits."""

        def off(rate: float) -> float:
            return abs(math.log(rate / lr.value))

        rates = [s.lr for s in self.comparison.row(self.batch)]
        full = [rate for rate in rates if self._has(rate, self.point.seeds)]
        near = [rate for rate in full if lr.low <= rate <= lr.high and off(rate) <= STEP / 2]
        near = near or [rate for rate in rates if off(rate) <= NEAR]
        return min(near, key=off, default=float(f"{lr.value:.3g}"))

    def _climb(self) -> Search:
        """Rates until the best has worse ones on both sides, or one seems as good as the user's.

        First by factors of two, since a neighbour may be worse by chance; then the neighbours.
        """
        while self._new_rates < MOST_RATES + MOST_CLIMBS:
            tried, best = self._tried_places, self._best()
            if best is None:
                wanted = [min(tried, default=0) - 2]
            elif mean(self.comparison, best) <= half_tolerance(self.comparison):
                return  # seeds decide it
            else:
                place = self.point.index(best.lr)
                far = [place + 2] if not any(k >= place + 2 for k in tried) else []
                far += [place - 2] if not any(k <= place - 2 for k in tried) else []
                wanted = far or [k for k in (place + 1, place - 1) if k not in tried]
            rates = [self.point.rate(place) for place in wanted]
            if all(self._has(rate) for rate in rates):
                return
            yield self.all_trials([(rate, self.batch) for rate in rates], self.point.scouts)


@dataclass
class Refinement(BatchSearch):
    """More seeds for the rows whose verdict is open, where they may close it.

    A row that seems to need more than `hopeless` times `most_seeds` is left open.
    """

    batches: tuple[int, ...]
    hopeless: float = HOPELESS

    def search(self) -> Search:
        point = self.point
        seeds = point.seeds
        while seeds < point.most_seeds:
            # By a quarter: intervals shrink only with the root of the number of seeds.
            seeds = min(max(seeds + 2, seeds * 5 // 4), point.most_seeds)
            compared = self.comparison
            tolerance, most = compared.tolerance(point.metric), self.hopeless * point.most_seeds
            rows = (row_of(compared, batch) for batch in self.batches)
            rates = [
                (row.lr.value, row.batch)
                for row in rows
                if row is not None
                and row.verdict == "cannot tell"
                and (row.seeds < FEW or row.seeds_needed(tolerance) <= most)
            ]
            if not rates:
                return
            yield self.all_trials([(point.lr, point.batch), *rates], seeds)
