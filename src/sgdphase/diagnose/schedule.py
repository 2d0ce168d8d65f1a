"""How long the trainings of a question take, and so at which sizes the budget lets it be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sgdphase.diagnose.learner import Seen, Trial
from sgdphase.diagnose.session import Session
from sgdphase.diagnose.sizes import (
    chosen,
    growth_factor,
    missing_trainings,
    seconds_for_one,
    total_seconds,
)
from sgdphase.sweep.progress import duration

__all__ = ["Schedule"]

# Of the budget, for what is planned: some trainings take longer than the first one.
_PLANNED = 0.7


@dataclass(frozen=True)
class Schedule:
    """For the user's point; the ladder of sizes is climbed as a whole if it is `fixed`."""

    session: Session
    lr: float
    batch: int
    ladder: tuple[int, ...]
    fixed: bool

    def sizes(self) -> tuple[list[int], list[int]]:
        """Those to measure at, and larger ones for when time is left.

        Two trainings at the smallest size tell how long they take.
        """
        session, foot = self.session, self.ladder[0]
        # One after the other: the first that a worker runs also loads the data.
        for seed in (0, 1):
            once = _Once(Trial(self.lr, min(self.batch, foot), seed))
            session.learn(once, foot, "the first trainings")
        took = self._seconds(foot)
        sizes = list(self.ladder) if self.fixed else self._affordable(took)
        if took is not None:
            total = total_seconds(sizes, foot, took) / session.workers.parallel
            session.report(
                f"one training at {foot} points took {duration(took)}; to measure at "
                f"{', '.join(map(str, sizes))} points takes about {duration(total)}, "
                "less what the store has"
            )
        return sizes, [size for size in self.ladder if size > sizes[-1]]

    def fits(self, size: int, after: int) -> bool:
        """Whether `B*` at a further size fits into what is left, by trainings at one before."""
        took = self._seconds(after)
        if took is None:
            return False
        total = seconds_for_one(size, after, took) / self.session.workers.parallel
        return total <= self.session.left

    def what_it_takes(self, sizes: Sequence[int]) -> str:
        """How much longer the whole would take, by what trainings took so far."""
        runs = {size: self.session.runs.get(size, {}).values() for size in sizes}
        if not any(runs.values()):
            return "not one training ended within the budget: it takes a larger one"
        left, each, before = 0.0, 0.0, sizes[0]
        for size in sizes:
            took = [run.seconds for run in runs[size]]
            each = float(np.mean(took)) if took else each * growth_factor(size, before)
            left += each * missing_trainings(len(took), last=size == sizes[-1])
            before = size
        again = ", and the same command goes on from here" if self.session.keeps else ""
        more = duration(left / self.session.workers.parallel)
        return f"the budget was spent; the rest takes about {more}{again}"

    def _affordable(self, took: float | None) -> list[int]:
        session = self.session
        available = _PLANNED * max(session.left, 0.0) * session.workers.parallel
        sizes = chosen(self.ladder, self.batch, took or session.left, available)
        # What the store has costs nothing: where the regime was asked before, it is again.
        have = [n for n, size in enumerate(self.ladder) if self._was_asked(size)]
        if have and self.ladder[have[-1]] > sizes[-1]:
            return list(self.ladder[max(have[-1] - 3, 0) : have[-1] + 1])
        return sizes

    def _was_asked(self, size: int) -> bool:
        """Whether the store has the regime at the user's point and a size."""
        known = self.session.runs.get(size, {})
        places = [(self.lr, self.batch), (2 * self.lr, self.batch), (self.lr / 2, self.batch)]
        return all(Trial(*place, seed) in known for place in places for seed in range(2))

    def _seconds(self, size: int) -> float | None:
        """What a training at the user's point takes, without the one that loaded the data."""
        place = (self.lr, min(self.batch, size))
        known = self.session.runs.get(size, {})
        took = sorted(
            run.seconds for trial, run in known.items() if (trial.lr, trial.batch) == place
        )
        return float(np.mean(took[:-1] or took)) if took else None


@dataclass
class _Once:
    """A learner that wants one run."""

    trial: Trial
    told: bool = False

    def ask(self) -> tuple[Trial, ...]:
        return () if self.told else (self.trial,)

    def tell(self, trial: Trial, seen: Seen) -> None:
        self.told |= trial == self.trial
