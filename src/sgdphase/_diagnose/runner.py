"""The runner: trains what learners ask for, with the store, until the budget is spent."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic

from sgdphase._diagnose.learner import Searcher, Trial
from sgdphase._own import UserTraining
from sgdphase._records import Outcome, Training
from sgdphase._sweep import Run, Store, sweep
from sgdphase._sweep.workers import Kept
from sgdphase.errors import InputError, UserError
from sgdphase.stats import duration

# A training that takes this many times as long as usual is given up: most of them never end.
_PATIENCE, _SHORTEST_PATIENCE = 20.0, 30.0
# It is tried again by a call that would wait this many times as long.
_AGAIN = 2.0
_SAID_EVERY = 10.0


@dataclass
class Runner:
    """The state of a diagnosis: `runs` by train size and trial, made now or read from the store.

    `used` are the runs that a learner asked for; `made` counts those that were trained now. If the
    deadline cut trainings off before any of them ended, this was after `cut_after` seconds.
    `keeps` says whether the store outlives this call.

    A training that takes far longer than usual is given up, and stored as a run of status `budget`
    without observables. A later call waits for it again only if it would wait at least twice as
    long, which depends on how long other trainings take, not on its budget.
    """

    user: UserTraining
    store: Store
    workers: Kept
    deadline: float
    say: Callable[[str], None]
    keeps: bool = True
    runs: dict[int, dict[Trial, Run]] = field(default_factory=dict)
    used: dict[int, set[Trial]] = field(default_factory=dict)
    made: int = 0
    cut_after: float = 0.0
    started: float = field(default_factory=monotonic)
    _said: float = field(default_factory=monotonic)

    def __post_init__(self) -> None:
        if not self.store.path.exists():
            return
        for run in self.store.runs(self.user.model):
            training = run.training
            trial = Trial(training.lr, training.batch, training.seed, training.epochs)
            # Trainings until fitted and trainings of epochs may share a store.
            other = (training.epochs is None) != self.user.until_fitted
            if run.outcome.status == "failed" or other:
                continue
            if training == self._training(trial, training.train_size):
                self.runs.setdefault(training.train_size, {})[trial] = run
        for size, known in self.runs.items():
            patience = self._patience(size)
            for trial in [t for t, run in known.items() if _is_given_up(run)]:
                if patience >= _AGAIN * known[trial].seconds:
                    del known[trial]

    @property
    def left(self) -> float:
        return self.deadline - monotonic()

    @property
    def is_over(self) -> bool:
        return self.left <= 0

    @property
    def has_room(self) -> bool:
        """Whether a training fits into the budget, and leaves time for others."""
        return self.made > 0 and self.cut_after <= (self.deadline - self.started) / 2

    @property
    def goes_on(self) -> bool:
        """Whether the same call would get further."""
        return self.keeps and self.has_room

    def learn(self, learner: Searcher, train_size: int, doing: str) -> bool:
        """Run what the learner asks for; False if the time was over before it had enough.

        It gets the runs that were asked for before in this call, and nothing else of the store, so
        that the same question has the same answer.
        """
        known = self.runs.setdefault(train_size, {})
        used = self.used.setdefault(train_size, set())
        for trial in sorted(used):
            learner.tell(trial, known[trial].outcome)
        while trials := learner.ask():
            wanted = tuple(t for t in trials if t not in known)
            if wanted:
                if self.is_over:
                    return False
                self._train(wanted, train_size)
            for trial in trials:
                if trial in known:
                    used.add(trial)
                    learner.tell(trial, known[trial].outcome)
            if any(trial not in known for trial in trials):
                return False
            if monotonic() - self._said > _SAID_EVERY:
                self.report(f"{doing}: {len(used)} trainings so far")
        return True

    def use_all(self, train_size: int) -> None:
        """Count every run of the store as asked for: each of them improves a table."""
        self.used.setdefault(train_size, set()).update(self.runs.get(train_size, {}))

    def used_runs(self) -> tuple[Run, ...]:
        """The runs that were asked for, made now or before."""
        used = [(size, trial) for size, trials in self.used.items() for trial in trials]
        return tuple(self.runs[size][trial] for size, trial in sorted(used))

    def report(self, what: str) -> None:
        """A line with the time that is left."""
        self._said = monotonic()
        left = "the budget is spent" if self.is_over else f"{duration(self.left)} left"
        self.say(f"{what} ({left})")

    def _training(self, trial: Trial, train_size: int) -> Training:
        return self.user.training(**vars(trial), train_size=train_size)

    def _train(self, trials: tuple[Trial, ...], train_size: int) -> None:
        """All at once; late ones then once more in small groups, so that each gets its full time.

        If there are more trainings than workers, some may have been late only in the queue.
        """
        late, seconds = self._sweep(trials, train_size)
        at_a_time = self.workers.parallel
        for first in range(0, len(late), at_a_time):
            group = late[first : first + at_a_time]
            if len(trials) > at_a_time and not self.is_over:
                group, seconds = self._sweep(group, train_size)
            if self.is_over:
                return
            for trial in group:
                training, outcome = self._training(trial, train_size), Outcome("budget", 0, 0.0, {})
                run = self.runs[train_size][trial] = Run(training, outcome, seconds)
                with self.store.writer() as writer:
                    writer.write([(training.key, run)], trajectory=False)

    def _sweep(self, trials: tuple[Trial, ...], train_size: int) -> tuple[tuple[Trial, ...], float]:
        """Run some trainings. Returns the late ones, and how many seconds it waited for them."""
        plan = {trial: self._training(trial, train_size) for trial in trials}
        known = self.runs.setdefault(train_size, {})
        rounds = math.ceil(len(plan) / self.workers.parallel)
        started, patience = monotonic(), rounds * self._patience(train_size)
        summary = sweep(
            plan.values(),
            self.store,
            workers=self.workers,
            retry=("failed", "budget"),  # with status budget, only given-up runs are in a plan
            fail_fast=True,
            until=min(self.deadline, started + patience),
        )
        runs = {run.training: run for run in summary.runs}
        for trial, training in plan.items():
            run = runs.get(training)
            if run is None or _is_given_up(run):
                continue
            if run.outcome.status == "failed":
                raise _error(run, known.values())
            known[trial] = run
            self.made += 1
        late = tuple(trial for trial in trials if trial not in known)
        seconds = monotonic() - started
        if late == trials and self.is_over:
            self.cut_after = seconds
            first = plan[late[0]]
            where = f"lr {first.lr:g}, batch {first.batch}, seed {first.seed}"
            name = getattr(first.problem, "name", first.model)
            self.report(f"stopped {name} after {duration(seconds)} (at {where})")
        return late, seconds

    def _patience(self, train_size: int) -> float:
        """Seconds to wait for one training, from how long those that ended took."""
        took = [run.seconds * train_size / size
                for size, known in self.runs.items() for run in known.values()
                if run.outcome.status in ("fitted", "finished")]  # fmt: skip
        if not took:
            return math.inf
        return max(_PATIENCE * statistics.median(took), _SHORTEST_PATIENCE)


class TrainingError(UserError):
    """The user's code failed; `hot` if it never ended at so large an lr."""

    def __init__(self, message: str, training: Training, *, hot: bool) -> None:
        super().__init__(message)
        self.batch, self.seed, self.lr, self.hot = training.batch, training.seed, training.lr, hot


def _is_given_up(run: Run) -> bool:
    return run.outcome.status == "budget" and not run.outcome.observables


def _error(run: Run, others: Iterable[Run]) -> InputError:
    """The last line of a traceback names the error; a UserError has the user's line.

    Where all others had a smaller lr, this one may be too large.
    """
    last = run.traceback.strip().splitlines()[-1] if run.traceback.strip() else "unknown"
    kind, _, message = last.partition(": ")
    name = kind.rpartition(".")[2]
    where = f"lr {run.training.lr:g}, batch {run.training.batch}, seed {run.training.seed}"
    if name in (UserError.__name__, InputError.__name__):
        ended = [other.training.lr for other in others]
        hot = bool(ended) and run.training.lr > max(ended)
        more = "; if this lr is too large for it, it should give nan, not an error" if hot else ""
        return TrainingError(f"{message} (at {where}){more}", run.training, hot=hot)
    return InputError(f"a training failed at {where}: {last}")
