"""For each batch: which learning rate learns the same, and from which batch on is there none?

First the user's training is timed, at the user's batch and at a large one. This decides which
effort fits the budget. Then come the runs at the user's point, the rows by rising batch, and the
runs for the regime. While the budget lasts: more seeds for open verdicts, and larger batches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from time import monotonic

from sgdphase._diagnose.answer import Diagnosis
from sgdphase._diagnose.batch_search import (
    HOPELESS,
    STEP,
    Point,
    Reference,
    Refinement,
    RowSearch,
    training_runs,
)
from sgdphase._diagnose.candidates import Candidates
from sgdphase._diagnose.cost import (
    EFFORTS,
    Effort,
    TrainingTime,
    affordable,
    efforts_of,
    table_seconds,
    trainings_of,
)
from sgdphase._diagnose.ending import Alike, finished
from sgdphase._diagnose.learner import Once, Searcher, Trial
from sgdphase._diagnose.metrics import deciding_metric
from sgdphase._diagnose.regime import Neighbours, regime_of
from sgdphase._diagnose.runner import Runner, TrainingError
from sgdphase._diagnose.text import row_cells
from sgdphase._diagnose.unknown import (
    EVERY,
    left_out_rows,
    named,
    no_stable_lr,
    open_regime,
    open_verdicts,
    unused_seed,
    user_failures,
    warnings_of,
)
from sgdphase._parameters import UNKNOWN_SIZE
from sgdphase._records import Outcome
from sgdphase.diagram import Equivalent, Equivalents, equivalents
from sgdphase.diagram._training_runs import went_up
from sgdphase.stats import duration

_PLANNED = 0.85  # share of the budget for the first table


@dataclass
class BatchQuestion:
    """The user's point, the other batches, and the state of the search."""

    runner: Runner
    point: Point
    others: Candidates
    started: float  # at a time of `time.monotonic`
    maximize: bool | None = None
    seeds: int | None = None
    estimated: float | None = None
    table_seconds: float | None = None
    enough: float | None = None  # seconds of the whole table, if the budget is smaller
    before: dict[int, int] = field(default_factory=dict)  # rates per batch that the store had
    unknown: list[str] = field(default_factory=list)
    ended: str = ""  # why the search ended

    @property
    def size(self) -> int:
        return self.others.largest or UNKNOWN_SIZE

    def answered(self) -> Diagnosis:
        self.runner.use_all(self.size)
        time = self._timed()
        if time is not None:
            effort, wanted = self._planned(time)
            self.point = replace(self.point, seeds=effort.seeds, scouts=effort.scouts)
            complete = self._learn(Reference(self.point), "your own training")
            if any(user_failures(self.point.setting, self._outcomes())):
                return self._diagnosis()
            for warning in unused_seed(self.point.setting, self._outcomes()):
                self.runner.report(f"warning: {warning}")
            complete = complete and self._rows(wanted)
            regime = Neighbours(self.point, self.others.reach)
            complete = complete and self._learn(regime, "the regime")
            if complete:
                self.table_seconds = monotonic() - self.started
                complete = self._go_on()
            else:
                self.unknown.append(self._left_out(wanted, time))
            self.ended = self._budget_spent()
            if complete and (table := self._table()):
                self.ended = finished(table.rows, self.point.most_seeds, self._last_batch)
        return self._diagnosis()

    # Before it starts

    def _timed(self) -> TrainingTime | None:
        """From two trainings, after one per worker that also loads the data.

        None if the budget is spent, or if the user's training diverges.
        """
        runner, point = self.runner, self.point
        if not self.others.failed:
            runner.report("running your training once, to measure how long it takes")
        first = tuple(Trial(point.lr, point.batch, seed, point.epochs) for seed in (0, 1))
        if not self._learn(Once(first), "your own training"):
            count = sum(trial in self.runner.used[self.size] for trial in first)
            self.unknown.append(
                f"everything: {count} of 2 first trainings ended; a larger budget is needed"
            )
            return None
        outcomes = [runner.runs[self.size][trial].outcome for trial in first]
        if any(o.status != "finished" or went_up(o.observables) for o in outcomes):
            return None
        name, maximize = deciding_metric(outcomes[0].observables, point.metric, self.maximize)
        self.point = replace(point, metric=name, maximize=maximize)
        large = max(self.others.wanted(EFFORTS[0]), default=point.batch)
        index = round(point.exponent * math.log(large / point.batch) / STEP)
        second = (
            Trial(point.lr, point.batch, 2, point.epochs),
            Trial(point.rate(index), large, 0, point.epochs),
        )
        if not self._learn(Once(second), "your own training"):
            return TrainingTime(runner.runs[self.size][first[0]].seconds, 0.0)
        if not self.others.works(large):
            return self._timed()
        here, there = (runner.runs[self.size][trial] for trial in second)
        other = large if there.outcome.status == "finished" else point.batch
        return TrainingTime.of(point.batch, here.seconds, other, there.seconds)

    def _planned(self, time: TrainingTime) -> tuple[Effort, list[int]]:
        """The effort that fits the budget, and the batches of its rows; reported first."""
        runner, point = self.runner, self.point
        parallel = runner.workers.parallel
        efforts = efforts_of(self.seeds, parallel)
        rows = [self.others.wanted(effort) for effort in efforts]
        budget = _PLANNED * max(runner.left, 0.0)
        effort, seconds, fits = affordable(point.batch, rows, time, parallel, budget, efforts)
        wanted = self.others.wanted(effort)
        here, row = trainings_of(effort)
        self.estimated = monotonic() - self.started + seconds
        count, one = round(here + row * len(wanted)), time(point.batch)
        takes = f"{one:.2g} s" if one < 60 else duration(one)
        text = (
            f"one training takes {takes}; comparing with "
            f"{named(wanted) or 'other learning rates'} takes about {count} trainings and "
            f"{duration(seconds)} (less if the store has some); time left goes into "
            f"undecided rows{' and larger batches' * (self.others.asked is None)}"
        )
        if not fits:
            part = max(runner.left, 0.0) / max(seconds, 1e-9)
            text += f"; the budget is enough for about {part:.0%} of that"
        if effort != efforts[0] and self.others.asked is None:
            whole = table_seconds(efforts[0], point.batch, rows[0], time, parallel)
            self.enough = whole / _PLANNED + monotonic() - self.started
            text += f"; with a budget of {duration(self.enough)} {EVERY}"
        runner.report(text)
        return effort, wanted

    # Runs

    def _learn(self, learner: Searcher, doing: str) -> bool:
        """Until it has enough, or fails at another batch. False if the budget was spent."""
        try:
            return self.runner.learn(learner, self.size, doing)
        except TrainingError as failure:
            return self._limit(failure)

    def _limit(self, failure: TrainingError) -> bool:
        """Nothing is asked of this batch any more. False if the budget was spent.

        If it never ended at so large an lr, and does at the user's, it was the lr: that is raised,
        as it should have been a divergence.
        """
        if failure.batch == self.point.batch:
            raise failure
        if failure.hot:
            trial = Trial(self.point.lr, failure.batch, failure.seed, self.point.epochs)
            try:
                ended = self.runner.learn(Once((trial,)), self.size, f"batch {failure.batch}")
            except TrainingError as same:
                failure = same
            else:
                if ended:
                    raise failure
        self.others.fail(failure)
        self.runner.report(f"batch {failure.batch} fails: nothing is tried from there on")
        return not self.runner.is_over

    def _rows(self, wanted: list[int]) -> bool:
        """Row by row, up to two rows in a row without an lr. False if the budget was spent."""
        missing = 0
        for batch in wanted:
            if not self._row(batch):
                return False
            row = self._row_of(batch)
            missing = missing + 1 if row is not None and row.exists is False else 0
            if self.others.alike is not None or (missing == 2 and self.others.asked is None):
                break
        return True

    def _row(self, batch: int) -> bool:
        """One row, unless the batch is no other training, or fails. False if out of budget."""
        if self.others.works(batch) and not self._probed(batch):
            return False
        if self.others.alike is not None or not self.others.works(batch):
            return True
        complete = self._search(batch)
        if complete and self.others.works(batch):
            self.others.done.append(batch)
            row, answer = self._row_of(batch), self._diagnosis()
            if row is None:
                self.unknown.append(no_stable_lr(batch, self._outcomes()))
            else:
                _, *texts, _, remarks = row_cells(answer, row)  # without the steps
                self.runner.report(f"batch {batch}: {', '.join(filter(None, [*texts, remarks]))}")
        return complete

    def _probed(self, batch: int) -> bool:
        """See whether a batch trains as the one below, where the number of points is unknown.

        False if the budget was spent.
        """
        below = max((b for b in self.others.done if b < batch), default=None)
        row = self._row_of(below) if below is not None and self.others.is_open else None
        if row is None:
            return True
        learner = Alike(self.point, row.lr.value, row.batch, batch)
        complete = self._learn(learner, f"batch {batch}")
        self.others.alike = batch if learner.found else None
        return complete

    def _search(self, batch: int) -> bool:
        place = (batch, self.point.epochs)
        tried = {t.lr for t in self._outcomes() if (t.batch, t.epochs) == place}
        before = self.before.setdefault(batch, len(tried))
        return self._learn(RowSearch(self.point, batch, before), f"batch {batch}")

    def _go_on(self) -> bool:
        """While the budget lasts: seeds where a verdict is open, and larger batches.

        Rows that seem to need too many seeds come last. False if the budget was spent.
        """
        for hopeless in (HOPELESS, math.inf):
            while True:
                if not self._refined(hopeless):
                    return False
                batch = self._further()
                if batch is None:
                    break
                if not self._row(batch):
                    return False
        return True

    def _refined(self, hopeless: float) -> bool:
        """More seeds until no verdict is open that they may close; False if the budget was spent.

        With more seeds a match may turn out to be worse; then its row is searched again.
        """
        while True:
            known = len(self._outcomes())
            more = Refinement(self.point, tuple(self.others.done), hopeless)
            if not self._learn(more, "open verdicts"):
                return False
            if not all(map(self._search, filter(self.others.works, self.others.done))):
                return False
            if len(self._outcomes()) == known:
                return True

    def _further(self) -> int | None:
        """A batch that was left out below the largest, or twice that; None if there is none."""
        if self.others.asked is None and (skipped := self.others.skipped):
            return skipped[0]
        return None if self._last_batch else self.others.next

    @property
    def _last_batch(self) -> str:
        """Why no larger batch is tried; empty if one can be."""
        return self.others.end([self._row_of(batch) for batch in sorted(self.others.done)[-2:]])

    def _row_of(self, batch: int) -> Equivalent | None:
        table = self._table()
        return next((row for row in table.rows if row.batch == batch), None) if table else None

    # The answer

    def _outcomes(self) -> dict[Trial, Outcome]:
        used = self.runner.used.get(self.size, set())
        return {trial: self.runner.runs[self.size][trial].outcome for trial in used}

    def _table(self) -> Equivalents | None:
        point = self.point
        if not point.metric:
            return None
        return equivalents(
            training_runs(self._outcomes()), lr=point.lr, batch=point.batch, epochs=point.epochs,
            metric=point.metric, maximize=point.maximize, batches=self.others.done,
        )  # fmt: skip

    def _diagnosis(self) -> Diagnosis:
        point, user, outcomes = self.point, self.runner.user, self._outcomes()
        skipped = left_out_rows(self.others.skipped, self.enough)
        failures = (*user_failures(point.setting, outcomes), *self.others.failures)
        answer = Diagnosis(
            lr=point.lr,
            batch=point.batch,
            epochs=point.epochs,
            train_size=self.others.largest,
            metric=point.metric,
            table=self._table(),
            regime=regime_of(point, outcomes),
            warnings=(*unused_seed(point.setting, outcomes), *user.warnings),
            unknown=(*failures, *self.unknown, *skipped),
            seconds=monotonic() - self.started,
            settings=user.settings(),
            estimated_seconds=self.estimated,
            table_seconds=self.table_seconds,
            ended=self.ended,
            runs=self.runner.used_runs(),
        )
        more = (*open_verdicts(answer, point.most_seeds), *open_regime(answer))
        return replace(
            answer,
            warnings=(*answer.warnings, *warnings_of(answer, user)),
            unknown=(*answer.unknown, *more),
        )

    def _budget_spent(self) -> str:
        again = "the same command goes on from here" if self.runner.goes_on else "give a larger one"
        return f"the budget was spent; {again}"

    def _left_out(self, wanted: list[int], time: TrainingTime) -> str:
        """What the budget was too small for."""
        parallel = max(self.runner.workers.parallel, 1)
        effort = Effort(1, self.point.seeds, self.point.scouts)
        whole = table_seconds(effort, self.point.batch, wanted, time, parallel)
        spent = sum(run.seconds for run in self.runner.used_runs()) / parallel
        more = duration(max(whole - spent, 0.2 * whole, 1.0))
        what = named(self.others.left(wanted)) or "the regime"
        return f"{what}: it takes about {more} more; {self._budget_spent()}"
