"""The train sizes to measure at: enough to see how `B*` grows, and within the budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sgdphase._diagnose.learner import Once, Trial
from sgdphase._diagnose.runner import Runner
from sgdphase.errors import InputError
from sgdphase.stats import duration

# Share of the budget that is planned: some trainings take longer than the first one.
_PLANNED = 0.7
# The ratio of neighbouring sizes, and the largest number of sizes.
_RATIO, _MOST = 4, 3
_SMALLEST = 64
# A training's seconds grow somewhat faster than its points: as on images at 512 to 4096.
_GROWTH = 1.3
# The least seconds per training, with its overhead.
_LEAST = 0.2
# Trainings at the largest size (regime, B*, GD line; the last take longer than others) and at each
# smaller one (B*), about.
_AT_LARGEST, _AT_OTHERS = 90, 30


@dataclass(frozen=True)
class Schedule:
    """Of the user's point; if the ladder of sizes is `fixed`, all of them are measured."""

    runner: Runner
    lr: float
    batch: int
    ladder: tuple[int, ...]
    fixed: bool

    def sizes(self) -> tuple[list[int], list[int]]:
        """The sizes to measure at, and larger ones for when time is left.

        Two trainings at the smallest size measure how long they take.
        """
        runner, foot = self.runner, self.ladder[0]
        # One after the other: the first that a worker runs also loads the data.
        for seed in (0, 1):
            once = Once((Trial(self.lr, min(self.batch, foot), seed),))
            runner.learn(once, foot, "the first trainings")
        took = self._seconds(foot)
        sizes = list(self.ladder) if self.fixed else self._affordable(took)
        if took is not None:
            total = total_seconds(sizes, foot, took) / runner.workers.parallel
            runner.report(
                f"one training at {foot} points took {duration(took)}; to measure at "
                f"{', '.join(map(str, sizes))} points takes about {duration(total)}, "
                "minus what the store has"
            )
        return sizes, [size for size in self.ladder if size > sizes[-1]]

    def too_long(self, size: int, after: int) -> str:
        """Why `B*` at a further size does not fit, by trainings at one before; "" if it does."""
        took, left = self._seconds(after), self.runner.left
        if took is None or left <= 0:
            return "the budget was spent"
        total = seconds_for_one(size, after, took) / self.runner.workers.parallel
        if total <= left:
            return ""
        return (
            f"B* there takes about {duration(total)}, and {duration(left)} of the budget was left"
        )

    def what_it_takes(self, sizes: Sequence[int]) -> str:
        """How much longer the whole would take, by what trainings took so far.

        The same command goes on from here if the store is kept and a single training leaves time
        for others: not if none ended now, or if one that was under way had most of the budget.
        """
        runner = self.runner
        if not runner.used_runs():
            return "no training ended within the budget: a larger one is needed"
        left, each, before = 0.0, 0.0, sizes[0]
        for size in sizes:
            took = [run.seconds for run in runner.runs.get(size, {}).values()]
            each = float(np.mean(took)) if took else each * math.pow(size / before, _GROWTH)
            used = len(runner.used.get(size, ()))
            most, least = (_AT_LARGEST, _AT_OTHERS // 3) if size == sizes[-1] else (_AT_OTHERS, 0)
            left += each * max(most - used, least)
            before = size
        rest = duration(left / runner.workers.parallel)
        text = f"the budget was spent; the rest takes about {rest}"
        if not runner.has_room:
            return f"{text}, but a single training may take all of it: a larger budget is needed"
        return f"{text}, and the same command goes on from here" if runner.goes_on else text

    def _affordable(self, took: float | None) -> list[int]:
        runner = self.runner
        available = _PLANNED * max(runner.left, 0.0) * runner.workers.parallel
        sizes = chosen(self.ladder, self.batch, took or runner.left, available)
        # Runs in the store cost nothing: a size whose regime was measured before is used again.
        have = [n for n, size in enumerate(self.ladder) if self._was_asked(size)]
        if have and self.ladder[have[-1]] > sizes[-1]:
            return list(self.ladder[max(have[-1] - 3, 0) : have[-1] + 1])
        return sizes

    def _was_asked(self, size: int) -> bool:
        """Whether the store has the regime at the user's point and a size."""
        known = self.runner.runs.get(size, {})
        places = [(self.lr, self.batch), (2 * self.lr, self.batch), (self.lr / 2, self.batch)]
        return all(Trial(*place, seed) in known for place in places for seed in range(2))

    def _seconds(self, size: int) -> float | None:
        """What a training at the user's point takes, without the one that loaded the data."""
        place = (self.lr, min(self.batch, size))
        known = self.runner.runs.get(size, {})
        took = sorted(
            run.seconds for trial, run in known.items() if (trial.lr, trial.batch) == place
        )
        return float(np.mean(took[:-1] or took)) if took else None


def ladder(full: int) -> list[int]:
    """The full size and smaller ones, rising by factors of 4.

    >>> ladder(60000), ladder(1000), ladder(100)
    ([234, 937, 3750, 15000, 60000], [250, 1000], [100])
    """
    sizes = [full]
    while sizes[0] // _RATIO >= _SMALLEST:
        sizes.insert(0, sizes[0] // _RATIO)
    return sizes


def chosen(sizes: Sequence[int], batch: int, seconds: float, available: float) -> list[int]:
    """The largest sizes of a ladder that fit, if one training at the smallest takes `seconds`.

    The largest is at least twice the user's batch, whatever it costs: slopes are measured there.
    """
    ends = range(1, len(sizes) + 1)
    costs = [total_seconds(sizes[max(end - _MOST, 0) : end], sizes[0], seconds) for end in ends]
    fitting = [n for n, cost in enumerate(costs) if cost <= available]
    holding = [n for n, size in enumerate(sizes) if size >= 2 * batch]
    top = max(fitting[-1] if fitting else 0, holding[0] if holding else len(sizes) - 1)
    return list(sizes[max(top + 1 - _MOST, 0) : top + 1])


def total_seconds(sizes: Sequence[int], foot: int, seconds: float) -> float:
    """Of all trainings at these sizes, if one at `foot` points takes `seconds`."""
    last = seconds_for_one(sizes[-1], foot, seconds) * _AT_LARGEST / _AT_OTHERS
    return last + sum(seconds_for_one(size, foot, seconds) for size in sizes[:-1])


def seconds_for_one(size: int, foot: int, seconds: float) -> float:
    """Of the trainings that `B*` at one size takes, if one at `foot` points takes `seconds`."""
    return _AT_OTHERS * max(seconds * math.pow(size / foot, _GROWTH), _LEAST)


def given(sizes: Sequence[int], batch: int, full: int | None) -> list[int]:
    wanted = sorted(set(sizes))
    if not wanted or wanted[0] < 2:
        raise InputError(f"train sizes = {list(sizes)}: must be integers of at least 2")
    if full is not None and wanted[-1] > full:
        raise InputError(f"train size = {wanted[-1]}: must be at most {full}, the number of points")
    if batch > wanted[-1]:
        raise InputError(f"batch = {batch}: must be at most the largest train size {wanted[-1]}")
    return wanted
