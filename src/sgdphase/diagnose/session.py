"""The runner: trains what learners ask for, through the store, until the time is over."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from sgdphase.diagnose.brought import Brought
from sgdphase.diagnose.learner import Learner, Seen, Trial
from sgdphase.errors import InputError, UserError
from sgdphase.sweep import Run, Store, sweep
from sgdphase.sweep.progress import duration
from sgdphase.sweep.workers import Kept

# A training that takes this many times as long as is usual is not waited for: most such never end.
_PATIENCE, _SHORTEST_PATIENCE = 20.0, 30.0
_SAID_EVERY = 10.0


@dataclass
class Session:
    """What is known so far: `runs` by train size and trial, this session's and the store's.

    It `keeps` them if the store outlives it.
    """

    brought: Brought
    store: Store
    workers: Kept
    deadline: float
    say: Callable[[str], None]
    keeps: bool = True
    runs: dict[int, dict[Trial, Run]] = field(default_factory=dict)
    used: dict[int, set[Trial]] = field(default_factory=dict)
    given_up: dict[int, set[Trial]] = field(default_factory=dict)
    _said: float = field(default_factory=monotonic)

    def __post_init__(self) -> None:
        if not self.store.path.exists():
            return
        for run in self.store.runs(self.brought.model):
            trial = Trial(run.training.lr, run.training.batch, run.training.seed)
            if run.outcome.status == "failed":
                continue
            if run.training == self.brought.training(trial, run.training.train_size):
                self.runs.setdefault(run.training.train_size, {})[trial] = run

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return self.deadline - monotonic()

    @property
    def is_over(self) -> bool:
        return self.left <= 0

    def learn(self, learner: Learner, train_size: int, doing: str) -> bool:
        """Run what the learner asks for; False if the time was over before it had enough.

        It is told what this session asked for before, and nothing else that the store may have:
        the same question has the same answer.
        """
        known = self.runs.setdefault(train_size, {})
        used = self.used.setdefault(train_size, set())
        given_up = self.given_up.setdefault(train_size, set())
        for trial in sorted(used):
            learner.tell(trial, seen(known[trial]))
        while trials := learner.ask():
            wanted = tuple(t for t in trials if t not in known and t not in given_up)
            if wanted:
                if self.is_over:
                    return False
                self._train(wanted, train_size)
            for trial in trials:
                if trial in known:
                    used.add(trial)
                    learner.tell(trial, seen(known[trial]))
                elif trial in given_up:
                    learner.tell(trial, Seen("budget"))
            if monotonic() - self._said > _SAID_EVERY:
                self.report(f"{doing}: {len(used)} trainings at {train_size} points so far")
        return True

    def used_runs(self) -> tuple[Run, ...]:
        """The runs that were asked for, made now or before."""
        used = [(size, trial) for size, trials in self.used.items() for trial in trials]
        return tuple(self.runs[size][trial] for size, trial in sorted(used))

    def report(self, what: str) -> None:
        """A line with the time that is left."""
        self._said = monotonic()
        left = "the budget is spent" if self.is_over else f"{duration(self.left)} left"
        self.say(f"{what} ({left})")

    def _train(self, trials: tuple[Trial, ...], train_size: int) -> None:
        plan = {trial: self.brought.training(trial, train_size) for trial in trials}
        known = self.runs.setdefault(train_size, {})
        rounds = math.ceil(len(plan) / self.workers.parallel)
        patience = monotonic() + rounds * self._patience(train_size)
        sweep(
            plan.values(),
            self.store,
            workers=self.workers,
            retry=("failed",),
            fail_fast=True,
            until=min(self.deadline, patience),
        )
        by_key = {run.training.key: run for run in self.store.runs(self.brought.model)}
        for trial, training in plan.items():
            if training.key in by_key:
                known[trial] = by_key[training.key]
            elif not self.is_over:
                self.given_up.setdefault(train_size, set()).add(trial)
        for trial in plan:
            if trial in known and known[trial].outcome.status == "failed":
                raise _told(known[trial])

    def _patience(self, train_size: int) -> float:
        """Seconds to wait for one training, from how long those that were fitted took."""
        took = [run.seconds * train_size / size
                for size, known in self.runs.items() for run in known.values()
                if run.outcome.status == "fitted"]  # fmt: skip
        if not took:
            return math.inf
        return max(_PATIENCE * statistics.median(took), _SHORTEST_PATIENCE)


def seen(run: Run) -> Seen:
    """What a learner is told of a run."""
    outcome = run.outcome
    fitted = outcome.status == "fitted"
    observables = outcome.observables
    return Seen(
        outcome.status,
        observables.get("alignment", math.nan) if fitted else math.nan,
        observables.get("first_step_alignment", math.nan),
    )


def _told(run: Run) -> InputError:
    """The last line of a traceback names the error; one of the user's names the user's line."""
    last = run.traceback.strip().splitlines()[-1] if run.traceback.strip() else "unknown"
    kind, _, said = last.partition(": ")
    name = kind.rpartition(".")[2]
    where = f"lr {run.training.lr:g}, batch {run.training.batch}, seed {run.training.seed}"
    if name in (UserError.__name__, InputError.__name__):
        return UserError(f"{said} (at {where})")
    return InputError(f"a training failed at {where}: {last}")
