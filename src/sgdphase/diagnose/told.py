"""What the learners have in common: runs that were told, and a search that is replayed over them.

A search is a generator that yields the runs it needs and then reads them. `ask` starts it anew each
time and lets it run over what was told, up to the first runs that are missing: those are the
question. Questions and answers are thus functions of what was told, no run is asked for twice, and
a search that ends does so after a bounded number of runs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field

import numpy as np

from sgdphase.diagnose.learner import Seen, Trial
from sgdphase.diagram.cells import FloatArray
from sgdphase.errors import require

__all__ = ["Cell", "Search", "Searcher", "Told", "check_seeds", "check_sizes", "power_of_two"]

Cell = tuple[float, int]  # lr and batch
Search = Generator[tuple[Trial, ...], None, None]


@dataclass
class Told:
    """Runs by what determines them."""

    runs: dict[Trial, Seen] = field(default_factory=dict)

    def log(self, cell: Cell, seed: int) -> float:
        """`log2 m` of a run; NaN if it is not there, not fitted, or not positive."""
        seen = self.runs.get(Trial(*cell, seed))
        if seen is None or seen.status != "fitted" or not 0 < seen.value < math.inf:
            return math.nan
        return math.log2(seen.value)

    def share(self, cell: Cell, seed: int) -> float:
        """The first step's share of the alignment of a run; NaN where it is not known."""
        seen = self.runs.get(Trial(*cell, seed))
        known = seen is not None and 0 < seen.first_step < math.inf
        if seen is None or not known or math.isnan(self.log(cell, seed)):
            return math.nan
        return min(seen.first_step / seen.value, 1.0)

    def table(self, cells: Iterable[Cell], seeds: Iterable[int]) -> FloatArray:
        """`log2 m` as `[cell, seed]`."""
        seeds = list(seeds)
        rows = [[self.log(cell, seed) for seed in seeds] for cell in cells]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(seeds))

    def seeds(self, cells: Iterable[Cell]) -> list[int]:
        """Seeds with a run in one of some cells."""
        wanted = set(cells)
        return sorted({t.seed for t in self.runs if (t.lr, t.batch) in wanted})

    def batches(self, lr: float) -> list[int]:
        """Batches of the runs at a learning rate."""
        return sorted({t.batch for t in self.runs if t.lr == lr})


@dataclass
class Searcher(ABC):
    """A learner whose question is what its search finds missing."""

    told: Told = field(default_factory=Told, init=False, repr=False)

    @abstractmethod
    def search(self) -> Search:
        """Yields the runs it needs, most telling first, and goes on once they are told."""

    def ask(self) -> tuple[Trial, ...]:
        """The runs that it wants next; none if it is done."""
        return next(filter(None, map(self.missing, self.search())), ())

    def missing(self, wanted: tuple[Trial, ...]) -> tuple[Trial, ...]:
        """Those of some runs that were not told."""
        return tuple(t for t in dict.fromkeys(wanted) if t not in self.told.runs)

    def tell(self, trial: Trial, seen: Seen) -> None:
        """What came out of a run, asked for or not."""
        self.told.runs[trial] = seen


def power_of_two(x: float) -> int:
    """The nearest power of two of at least 1: batches on it are shared by many questions."""
    return int(2 ** max(round(math.log2(x)), 0))


def check_sizes(train_size: int, smallest_batch: int, **rates: float) -> None:
    """Raise `InputError` for sizes and learning rates that make no sense."""
    require("train size", train_size, lambda n: n >= 1, "an integer of at least 1")
    require(
        "smallest batch",
        smallest_batch,
        lambda b: 1 <= b <= train_size,
        f"an integer from 1 to the train size {train_size}",
    )
    for name, rate in rates.items():
        require(name.replace("_", " "), rate, lambda x: 0 < x < math.inf, "a number above 0")


def check_seeds(seeds: int, most_seeds: int) -> None:
    """Raise `InputError` for numbers of seeds that make no sense."""
    require("seeds", seeds, lambda n: n >= 1, "an integer of at least 1")
    require("most seeds", most_seeds, lambda n: n >= seeds, f"at least the {seeds} seeds")
