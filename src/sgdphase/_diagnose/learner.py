"""What a learner is: it says which runs it wants, is told what came out, and answers.

A learner knows nothing of how runs are made, stored or timed. Its answer and its next question are
functions of what it was told, in whatever order: one that is told again what a store holds goes on
where it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sgdphase._records import Outcome

__all__ = ["Learner", "Trial"]


@dataclass(frozen=True, order=True)
class Trial:
    """A run that is wanted, at a fixed train size; without epochs it ends when all is fitted."""

    lr: float
    batch: int
    seed: int
    epochs: int | None = None


class Learner(Protocol):
    """Asks for runs until it knows, or has asked for as many as it may."""

    def ask(self) -> tuple[Trial, ...]:
        """The runs that it wants next, most telling first; none if it is done."""
        ...

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        """What came out of a run, asked for or not."""
        ...
