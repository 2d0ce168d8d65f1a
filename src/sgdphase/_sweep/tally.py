"""How far a sweep is: counts by status, and the time left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import monotonic

from sgdphase._sweep.packs import Job
from sgdphase._sweep.run import Run


@dataclass(frozen=True)
class Summary:
    """Counts of a sweep, returned by `sweep`.

    Attributes
    ----------
    planned, done_before, ran : int
        Trainings in the plan, in the store before, and run now.
    statuses : dict of str to int
        How the trainings run now ended.
    seconds : float; duration of the sweep
    """

    planned: int
    done_before: int
    ran: int
    statuses: dict[str, int]
    seconds: float

    @property
    def left(self) -> int:
        """Trainings of the plan that were not run."""
        return self.planned - self.done_before - self.ran

    def as_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "planned": self.planned,
            "done_before": self.done_before,
            "ran": self.ran,
            "left": self.left,
            "statuses": self.statuses,
            "seconds": self.seconds,
        }


@dataclass
class Tally:
    """The running count of a sweep.

    The time left is the expected cost of what remains, corrected by how long things took so far
    against what was expected of them, and spread over the workers.
    """

    planned: int
    done_before: int
    parallel: int
    costs: dict[str, float]
    statuses: Counter[str] = field(default_factory=Counter)
    started: float = field(default_factory=monotonic)
    _expected: float = 0.0
    _measured: float = 0.0
    _updated: float = field(default_factory=monotonic)

    @classmethod
    def of(cls, planned: int, jobs: Iterable[Job], parallel: int) -> Tally:
        costs = {job.key: job.cost for job in jobs}
        return cls(planned, planned - len(costs), parallel, costs)

    @property
    def ran(self) -> int:
        return sum(self.statuses.values())

    @property
    def done(self) -> int:
        return self.done_before + self.ran

    def add(self, runs: Iterable[tuple[str, Run]]) -> None:
        """Count runs that are in the store."""
        for key, run in runs:
            self.statuses[run.outcome.status] += 1
            self._expected += self.costs.pop(key)
            self._measured += run.seconds
        self._updated = monotonic()

    def seconds_left(self) -> float:
        """At least the longest one that remains, as one training is never split."""
        ratio = self._measured / self._expected if self._expected > 0 else 1.0
        left = sum(self.costs.values()) / max(self.parallel, 1)
        at_update = ratio * max(left, max(self.costs.values(), default=0.0))
        return max(at_update - (monotonic() - self._updated), 0.0)

    def rate(self) -> float:
        """Trainings per second."""
        return self.ran / max(monotonic() - self.started, 1e-9)

    def summary(self) -> Summary:
        seconds = monotonic() - self.started
        return Summary(self.planned, self.done_before, self.ran, dict(self.statuses), seconds)
