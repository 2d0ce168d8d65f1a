"""How far a sweep is: counts by status, and the time left."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic

from sgdphase._display import Columns, Shown, ShownTable
from sgdphase._records import Training
from sgdphase._sweep.packs import Job
from sgdphase._sweep.run import Run
from sgdphase._sweep.store import RunList, Store
from sgdphase._sweep.table import Table, table_of


@dataclass(frozen=True, repr=False)
class Summary(Shown):
    """Counts of a sweep and its runs, returned by `sweep`.

    `runs` are the runs of the plan, in its order, made now or before. `sweep` reads them at its
    end, for plans of up to 10 000 trainings without trajectories: they stay when the store is
    moved or deleted. Those of other plans could fill the memory. They are read when they are first
    asked for, and the store must still be there.

    Attributes
    ----------
    planned, done_before, ran : int
        Trainings in the plan, in the store before, and run now.
    statuses : dict of str to int
        How the trainings run now ended.
    seconds : float; duration of the sweep
    store : Store
    plan : tuple of Training; the trainings, each once
    trajectories : bool, default False
        Whether the runs are read with their trajectories.
    """

    planned: int
    done_before: int
    ran: int
    statuses: dict[str, int]
    seconds: float
    store: Store
    plan: tuple[Training, ...]
    trajectories: bool = False

    @property
    def left(self) -> int:
        """Trainings of the plan that were not run."""
        return self.planned - self.done_before - self.ran

    @cached_property
    def runs(self) -> RunList:
        """The runs of the plan, in its order; no others are read."""
        keys = [training.key for training in self.plan]
        return self.store.runs(keys=keys, trajectories=self.trajectories)

    def _lines(self) -> list[str]:
        now = ", ".join(f"{status} {count}" for status, count in self.statuses.items())
        left = f", {self.left} left" if self.left else ""
        return [
            f"Sweep of {self.planned} trainings into {self.store.path}: {self.done_before} done "
            f"before, {self.ran} now{f' ({now})' if now else ''} in {self.seconds:.3g} s{left}"
        ]

    def table(self) -> Table:
        """The runs as columns, as `Store.table` gives them."""
        return ShownTable(table_of(self.runs))

    def _table(self) -> Columns:
        return self.table()

    def as_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        names = ("planned", "done_before", "ran", "left", "statuses", "seconds")
        return {name: getattr(self, name) for name in names}


@dataclass
class Tally:
    """The running count of a sweep.

    The time left is the expected cost of the remaining trainings, times the ratio of measured to
    expected seconds so far, divided by the number of workers.
    """

    planned: int
    done_before: int
    parallel: int
    costs: dict[str, float]
    is_foreseen: bool = True
    statuses: Counter[str] = field(default_factory=Counter)
    waiting: str = ""  # for what, if nothing runs
    started: float = field(default_factory=monotonic)
    _expected: float = 0.0
    _measured: float = 0.0
    _updated: float = field(default_factory=monotonic)

    @classmethod
    def of(cls, planned: int, jobs: Iterable[Job], parallel: int) -> Tally:
        jobs = list(jobs)
        costs = {job.key: job.cost for job in jobs}
        foreseen = all(job.is_foreseen for job in jobs)
        return cls(planned, planned - len(costs), parallel, costs, foreseen)

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
        """At least that of the longest remaining training, since it is not split.

        NaN before the first run of trainings whose cost nobody could foresee.
        """
        if not (self.is_foreseen or self.ran):
            return math.nan
        ratio = self._measured / self._expected if self._expected > 0 else 1.0
        left = sum(self.costs.values()) / max(self.parallel, 1)
        at_update = ratio * max(left, max(self.costs.values(), default=0.0))
        return max(at_update - (monotonic() - self._updated), 0.0)

    def rate(self) -> float:
        """Trainings per second."""
        return self.ran / max(monotonic() - self.started, 1e-9)
