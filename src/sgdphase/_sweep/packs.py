"""The order of trainings, and how they are grouped.

A worker takes one pack at a time. A long training is a pack by itself. Short ones share a pack, so
that the cost of sending it is shared; trainings on the same data set are together, since the
trainer then draws it once. Long packs go first: a long one that starts last keeps all other workers
waiting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sgdphase._records import Training

# Sending a pack costs about a millisecond, writing it a few; a second is soon enough to stop.
_LONGEST, _SHORTEST = 0.5, 0.02
_PARTS = 8


@dataclass(frozen=True)
class Job:
    """A training to run, with its expected cost in seconds, and whether that is known."""

    training: Training
    cost: float
    is_foreseen: bool = True

    @property
    def key(self) -> str:
        return self.training.key


Pack = tuple[Job, ...]


def packed(jobs: Iterable[Job], slots: int) -> list[Pack]:
    """The jobs in packs for `slots` workers, in the order in which to start them."""
    jobs = list(jobs)
    # Small sweeps are cut finer, so that every worker has something to do.
    total = sum(job.cost for job in jobs)
    wanted = min(_LONGEST, max(_SHORTEST, total / (4 * max(slots, 1))))
    place: dict[object, int] = {}
    for job in jobs:
        place.setdefault(_data_set(job), len(place))
    jobs.sort(key=lambda job: (place[_data_set(job)], -job.cost))
    # By factors of two only, so that packs of about one length stay in the order of data sets.
    return sorted(_filled(jobs, wanted), key=lambda pack: -_magnitude(pack))


def split(pack: Pack) -> list[Pack]:
    """The parts of a pack whose worker died; after a few rounds they are single trainings."""
    size = math.ceil(len(pack) / _PARTS)
    return [pack[start : start + size] for start in range(0, len(pack), size)]


def _filled(jobs: Iterable[Job], wanted: float) -> Iterator[Pack]:
    pack: list[Job] = []
    cost = 0.0
    for job in jobs:
        if job.cost >= wanted:
            yield (job,)
            continue
        pack.append(job)
        cost += job.cost
        if cost >= wanted:
            yield tuple(pack)
            pack, cost = [], 0.0
    if pack:
        yield tuple(pack)


def _data_set(job: Job) -> tuple[object, ...]:
    training = job.training
    return training.model, training.problem, training.train_size, training.seed


def _magnitude(pack: Pack) -> int:
    return math.floor(math.log2(max(sum(job.cost for job in pack), 1e-9)))
