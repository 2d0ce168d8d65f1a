"""Why a search ends: at which batch, and with which rows open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sgdphase._diagnose.batch_search import BatchSearch
from sgdphase._diagnose.learner import Search, Trial
from sgdphase._diagnose.unknown import named
from sgdphase.diagram import Equivalent

FURTHEST = 1024  # no row goes beyond this many times the user's batch


@dataclass
class Alike(BatchSearch):
    """Whether `batch` trains exactly as the smaller `below`: then it takes no more points.

    Metrics of few digits may agree by chance in one seed, hardly in three.
    """

    lr: float
    below: int
    batch: int
    found: bool = field(default=False, init=False)

    def search(self) -> Search:
        self.found = False
        for seed in range(3):
            pair = [Trial(self.lr, b, seed, self.point.epochs) for b in (self.below, self.batch)]
            yield tuple(pair)
            here, there = (self.observations.runs[trial].observables for trial in pair)
            if here != there:
                return
        self.found = True


def last_batch(
    batch: int,
    top: int,
    largest: int | None,
    rows: Sequence[Equivalent | None],
    *,
    alike: int | None = None,
) -> str:
    """Why no batch above `top` is tried; empty if one can be.

    `batch` is the user's, `rows` are those of the largest batches, `largest` is the number of
    training points if that is known, and `alike` a batch that trains exactly as `top` does.
    """
    if alike is not None:
        return (
            f"batch {alike} trains exactly as batch {top}: there are no more points, or your code "
            "does not use the batch"
        )
    if len(rows) == 2 and all(row is not None and row.exists is False for row in rows):
        return "at the two largest batches no lr is as good"
    if largest is not None and 2 * top > largest:
        return f"twice batch {top} is more than the {largest} training points"
    if 2 * top > FURTHEST * batch:
        return f"batch {top} is {FURTHEST} times yours"
    return ""


def finished(rows: Sequence[Equivalent], most_seeds: int, last: str) -> str:
    """Why the search ended before its budget; `last` is what `last_batch` says."""
    undecided = [row for row in rows if row.exists is None]
    seeds = named([row.batch for row in undecided if row.verdict == "cannot tell"])
    rates = named([row.batch for row in undecided if row.verdict != "cannot tell"])
    limits = [
        f"{seeds}: the limit of {most_seeds} seeds is reached" if seeds else "",
        f"{rates}: the limit of tried learning rates is reached" if rates else "",
    ]
    return "; ".join([*filter(None, limits), last] if undecided else ["every row is decided", last])
