"""What a learner is: it asks for runs, gets their outcomes, and answers.

A learner knows nothing of how runs are made, stored or timed. Its answer and its next question are
functions of the outcomes it got, in any order. So a new learner that gets the runs of a store
continues where the last one stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sgdphase._records import Outcome

__all__ = ["Learner", "Trial"]


@dataclass(frozen=True, order=True)
class Trial:
    """One run to make, at a fixed train size; without epochs it ends when all is fitted."""

    lr: float
    batch: int
    seed: int
    epochs: int | None = None


class Learner(Protocol):
    """Asks for runs until it has an answer or has used its bound of runs."""

    def ask(self) -> tuple[Trial, ...]:
        """The runs that it needs next, the most informative first; none if it is done."""
        ...

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        """Takes the outcome of a run, asked for or not."""
        ...
