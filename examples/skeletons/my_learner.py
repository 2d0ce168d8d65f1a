"""A learner of `diagnose`: it asks for runs, gets their outcomes, and answers.

Its `search` yields the runs it needs and then reads them. It is replayed from the start whenever
there are new runs, so it must be a function of the observations. Bound the number of runs, so that
it ends.
"""

from __future__ import annotations

from dataclasses import dataclass

from sgdphase._diagnose.learner import Search, Searcher, Trial


@dataclass
class LargestStableRate(Searcher):
    """The largest learning rate `lr 2^k` whose training does not diverge, at one batch."""

    lr: float
    batch: int
    most: int = 16

    def search(self) -> Search:
        for trial in self._trials():
            yield (trial,)
            # From here on the run is there, made now or before.
            if self.observations.runs[trial].status == "diverged":
                return

    def answer(self) -> float | None:
        """None if every rate so far diverged."""
        runs = self.observations.runs
        stable = [t.lr for t in self._trials() if t in runs and runs[t].status != "diverged"]
        return max(stable, default=None)

    def _trials(self) -> list[Trial]:
        return [Trial(self.lr * 2**k, self.batch, seed=0) for k in range(self.most)]
