"""Which other batches can be asked about, and which have been."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from sgdphase._diagnose.cost import EFFORTS, Effort
from sgdphase._diagnose.ending import last_batch
from sgdphase._diagnose.runner import TrainingError
from sgdphase.diagram import Equivalent

REACH = 16  # the first table ends at this many times the user's batch


@dataclass
class Candidates:
    """The batches beside the user's, `start`.

    They are those `asked` for, or (None) go up by factors of two to the `largest`, the number of
    training points, if that is known. `alike` is a batch that trains exactly as the largest of
    those `done`. At the batches of `failed` a training failed, for no reason of its lr.
    """

    start: int
    largest: int | None = None
    asked: tuple[int, ...] | None = None
    done: list[int] = field(default_factory=list)
    alike: int | None = None
    failed: list[TrainingError] = field(default_factory=list)

    def works(self, batch: int) -> bool:
        """Whether no training failed at this batch, or at one between it and the user's."""
        return not any(
            self.start < each.batch <= batch or batch <= each.batch < self.start
            for each in self.failed
        )

    def fail(self, failure: TrainingError) -> None:
        """Nothing is asked of this batch any more, nor of those beyond it."""
        if self.works(failure.batch):
            self.failed.append(failure)
        self.done = [batch for batch in self.done if self.works(batch)]

    def wanted(self, effort: Effort) -> list[int]:
        """Those of the first table."""
        start = self.start
        if self.asked is not None:
            others = filter(self.works, set(self.asked) - {start})
            return sorted(others, key=lambda batch: abs(math.log(batch / start)))
        limit = REACH * start if self.largest is None else min(REACH * start, self.largest)
        return [batch for batch in effort.batches(start, limit) if self.works(batch)]

    def left(self, wanted: Sequence[int]) -> list[int]:
        """Those of some that are neither done nor known to fail."""
        return [batch for batch in wanted if batch not in self.done and self.works(batch)]

    @property
    def is_open(self) -> bool:
        """Whether they go up to no known end."""
        return self.largest is None and self.asked is None

    @property
    def reach(self) -> int:
        """The largest batch at which the regime may be looked at."""
        if any(each.batch > self.start for each in self.failed):
            return max([*self.done, self.start])
        return self.largest or 2 * self.start

    @property
    def failures(self) -> list[str]:
        """The batches that fail, the nearest on each side, with the reason."""
        nearest = {each.batch > self.start: each for each in self.failed}
        return [
            f"batch {each.batch} and {'larger' if larger else 'smaller'}: {each}"
            for larger, each in nearest.items()
        ]

    @property
    def next(self) -> int:
        """The smallest one above all that are done, if they go on by factors of two."""
        return 2 * max(self.done, default=self.start)

    @property
    def skipped(self) -> list[int]:
        """Those of the whole table that a smaller effort left out."""
        top = max(self.done, default=0)
        return [batch for batch in self.left(self.wanted(EFFORTS[0])) if batch < top]

    def end(self, rows: Sequence[Equivalent | None]) -> str:
        """Why no larger batch is tried, from the rows of the two largest; empty if one can be."""
        if self.asked is not None:
            return "no other batch was asked for"
        if not self.works(self.next):
            return f"at batch {self.failed[-1].batch} your training fails"
        top = self.next // 2
        return last_batch(self.start, top, self.largest, rows, alike=self.alike)
