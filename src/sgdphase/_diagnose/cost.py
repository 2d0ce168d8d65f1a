"""How long the trainings of a table take, and what a budget can buy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

# Learning rates that a row tries on average, besides the one that matches.
_RATES = 2.5
# Overhead per training in seconds.
_AROUND = 0.02


@dataclass(frozen=True)
class Effort:
    """How much to measure: the factor in batch from row to row, and the numbers of seeds."""

    factor: int
    seeds: int
    scouts: int

    def batches(self, start: int, limit: int) -> list[int]:
        """Those of its rows.

        >>> Effort(4, 5, 3).batches(8, 200)
        [32, 128]
        """
        batches, batch = [], start * self.factor
        while batch <= limit:
            batches.append(batch)
            batch *= self.factor
        return batches


# The largest effort first.
EFFORTS = (Effort(2, 5, 3), Effort(4, 5, 2), Effort(4, 3, 2), Effort(16, 3, 2), Effort(16, 2, 2))


@dataclass(frozen=True)
class TrainingTime:
    """Seconds of a training: a part for its points, and a part for its steps.

    `fixed + per_step / batch`, from one training at the user's batch and one at a larger one.
    """

    fixed: float
    per_step: float

    @classmethod
    def of(cls, batch: int, seconds: float, large: int, large_seconds: float) -> TrainingTime:
        """From two trainings; a larger batch is never assumed to cost more."""
        if large <= batch:
            return cls(seconds, 0.0)
        per_step = max(seconds - large_seconds, 0.0) / (1 / batch - 1 / large)
        return cls(max(seconds - per_step / batch, 0.0), per_step)

    def __call__(self, batch: int) -> float:
        return self.fixed + self.per_step / batch + _AROUND


def trainings_of(effort: Effort) -> tuple[float, float]:
    """The number of trainings at the user's batch, and per row."""
    # The user's point, half and twice its lr, half its epochs (which cost half).
    return effort.seeds + 2.5 * effort.scouts, _RATES * effort.scouts + effort.seeds


def table_seconds(
    effort: Effort, batch: int, batches: Sequence[int], time: TrainingTime, parallel: int
) -> float:
    here, row = trainings_of(effort)
    return (here * time(batch) + row * sum(map(time, batches))) / max(parallel, 1)


def affordable(
    batch: int,
    rows: Sequence[Sequence[int]],
    time: TrainingTime,
    parallel: int,
    budget: float,
    efforts: Sequence[Effort] = EFFORTS,
) -> tuple[Effort, float, bool]:
    """The largest effort that fits a budget, its seconds, and whether it fits.

    `rows` are the batches of each effort.
    """
    for effort, batches in zip(efforts, rows, strict=True):
        seconds = table_seconds(effort, batch, batches, time, parallel)
        if seconds <= budget:
            return effort, seconds, True
    return effort, seconds, False


def efforts_of(seeds: int | None, parallel: int) -> tuple[Effort, ...]:
    """The efforts with the seeds that the user asks for, or with some more to fill all workers.

    Workers that would wait for the last seeds train some more instead.
    """
    if seeds is not None:
        return tuple(replace(e, seeds=seeds, scouts=min(e.scouts, seeds)) for e in EFFORTS)
    return tuple(
        replace(e, seeds=rounded(e.seeds, parallel), scouts=rounded(e.scouts, parallel))
        for e in EFFORTS
    )


def rounded(seeds: int, parallel: int) -> int:
    """Rounded up to a multiple of the parallel trainings, if that adds at most two.

    >>> rounded(5, 2), rounded(3, 4), rounded(5, 64)
    (6, 4, 5)
    """
    up = -(-seeds // max(parallel, 1)) * max(parallel, 1)
    return up if up <= seeds + 2 else seeds
