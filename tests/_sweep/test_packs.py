"""Which trainings go to a worker together."""

from __future__ import annotations

from collections.abc import Callable

from sgdphase._sweep import Plan
from sgdphase._sweep.packs import Job, packed

Toy = Callable[..., Plan]


def test_long_ones_first_short_ones_together_data_sets_apart(toy: Toy) -> None:
    plan = toy(seeds=5)
    jobs = [Job(t, 10.0 if t.batch == 8 else 0.04) for t in plan]
    packs = packed(jobs, 2)
    assert sorted(job.key for pack in packs for job in pack) == sorted(job.key for job in jobs)
    assert all(len(pack) == 1 and pack[0].cost == 10.0 for pack in packs[:10])
    assert len(packs) == 10 + 3
    sets_in = [len({job.training.seed for job in pack}) for pack in packs[10:]]
    assert max(sets_in) <= 3
    assert packed([], 2) == []
    assert packed([Job(plan[0], 0.0)], 2) == [(Job(plan[0], 0.0),)]
