"""What a learner is: it asks for runs, gets their outcomes, and answers.

It knows nothing of how runs are made, stored or timed, and a new learner that gets the runs of a
store continues where the last one stopped.

A search is a generator that yields the runs it needs and then reads them. Each call of `ask` starts
it from the beginning and replays it over the observations, up to the first runs that are missing:
these are what it asks for. So questions and answers are functions of the observations, no run is
asked for twice, and a search with a bounded number of runs ends.

The largest learning rate, by factors of 2, that does not diverge:

>>> @dataclass
... class LargestRate(Searcher):
...     lr: float
...
...     def search(self):
...         lr = self.lr
...         while True:
...             yield (Trial(lr, batch=8, seed=0),)
...             # From here on the run is there, made now or before.
...             if self.observations.runs[Trial(lr, batch=8, seed=0)].status == "diverged":
...                 return
...             lr *= 2
>>> learner = LargestRate(1.0)
>>> while trials := learner.ask():
...     for trial in trials:
...         status = "diverged" if trial.lr > 3 else "fitted"
...         learner.tell(trial, Outcome(status, steps=1, time=trial.lr, observables={}))
>>> [(trial.lr, outcome.status) for trial, outcome in learner.observations.runs.items()]
[(1.0, 'fitted'), (2.0, 'fitted'), (4.0, 'diverged')]

Another learner that gets the same runs, in any order, asks for nothing:

>>> again = LargestRate(1.0)
>>> for trial, outcome in reversed(learner.observations.runs.items()):
...     again.tell(trial, outcome)
>>> again.ask()
()
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Iterable
from dataclasses import KW_ONLY, dataclass, field

import numpy as np

from sgdphase._records import Outcome
from sgdphase._typing import FloatArray

Cell = tuple[float, int]  # lr and batch


@dataclass(frozen=True, order=True)
class Trial:
    """One run to make, at a fixed train size; without epochs it ends when all is fitted."""

    lr: float
    batch: int
    seed: int
    epochs: int | None = None


Search = Generator[tuple[Trial, ...], None, None]


@dataclass
class Observations:
    """Runs by what determines them."""

    runs: dict[Trial, Outcome] = field(default_factory=dict)

    def log(self, cell: Cell, seed: int) -> float:
        """`log2` of the alignment of a run; NaN if it is not there, not fitted, or not positive."""
        outcome = self.runs.get(Trial(*cell, seed))
        if outcome is None or outcome.status != "fitted":
            return math.nan
        value = outcome.observables.get("alignment", math.nan)
        return math.log2(value) if 0 < value < math.inf else math.nan

    def share(self, cell: Cell, seed: int) -> float:
        """The first step's share of the alignment of a run; NaN where it is not known."""
        outcome = self.runs.get(Trial(*cell, seed))
        if outcome is None or math.isnan(self.log(cell, seed)):
            return math.nan
        first = outcome.observables.get("first_step_alignment", math.nan)
        if not 0 < first < math.inf:
            return math.nan
        return min(first / outcome.observables["alignment"], 1.0)

    def table(self, cells: Iterable[Cell], seeds: Iterable[int]) -> FloatArray:
        """`log2 m` as `[cell, seed]`."""
        seeds = list(seeds)
        rows = [[self.log(cell, seed) for seed in seeds] for cell in cells]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(seeds))

    def outcomes(self, cells: Iterable[Cell]) -> list[Outcome]:
        """Of all runs in some cells."""
        wanted = set(cells)
        return [outcome for t, outcome in self.runs.items() if (t.lr, t.batch) in wanted]

    def seeds(self, cells: Iterable[Cell]) -> list[int]:
        """Seeds with a run in one of some cells."""
        wanted = set(cells)
        return sorted({t.seed for t in self.runs if (t.lr, t.batch) in wanted})

    def batches(self, lr: float) -> list[int]:
        return sorted({t.batch for t in self.runs if t.lr == lr})


@dataclass
class Searcher(ABC):
    """A learner that asks for the runs that its search finds missing."""

    observations: Observations = field(default_factory=Observations, init=False, repr=False)

    @abstractmethod
    def search(self) -> Search:
        """Yields the runs it needs, the most informative first, and reads them then."""

    def ask(self) -> tuple[Trial, ...]:
        """The runs that it needs next; none if it is done.

        What the search keeps on the learner is then that of all observations.
        """
        return next(filter(None, map(self.missing, self.search())), ())

    def missing(self, wanted: tuple[Trial, ...]) -> tuple[Trial, ...]:
        """Those of some runs that are not among the observations."""
        return tuple(t for t in dict.fromkeys(wanted) if t not in self.observations.runs)

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        """Takes the outcome of a run, asked for or not."""
        self.observations.runs[trial] = outcome


@dataclass
class Once(Searcher):
    """Asks for a fixed set of runs."""

    wanted: tuple[Trial, ...]

    def search(self) -> Search:
        yield self.wanted


@dataclass
class PlaneSearcher(Searcher):
    """The base of searches in the plane of learning rate and batch, at one train size.

    They take `seeds` of a cell first, and up to `most_seeds` where they need more.
    """

    _: KW_ONLY
    smallest_batch: int = 1
    seeds: int = 3
    most_seeds: int = 12

    @abstractmethod
    def is_precise(self) -> bool:
        """Whether more seeds would not change the answer by much."""

    def add_seeds(self, cells: Collection[Cell], done: int, at_once: tuple[int, int]) -> Search:
        """The seeds of some cells from `done` on, and beyond `seeds` until the answer is precise.

        They are asked for `at_once`, in groups of so many up to `seeds` and beyond.
        """
        while done < self.most_seeds:
            beyond = done >= self.seeds
            upto = min(done + at_once[beyond], self.most_seeds if beyond else self.seeds)
            wanted = tuple(Trial(*cell, seed) for seed in range(done, upto) for cell in cells)
            if beyond and self.missing(wanted) and self.is_precise():
                return
            yield wanted
            done = upto
