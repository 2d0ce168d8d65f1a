"""The train sizes to measure at: enough to see how `B*` grows, and within the budget."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sgdphase.errors import InputError

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
    fitting = [n for n in range(len(sizes)) if _total(sizes[: n + 1], seconds) <= available]
    holding = [n for n, size in enumerate(sizes) if size >= 2 * batch]
    top = max(fitting[-1] if fitting else 0, holding[0] if holding else len(sizes) - 1)
    return list(sizes[max(top + 1 - _MOST, 0) : top + 1])


def total_seconds(sizes: Sequence[int], foot: int, seconds: float) -> float:
    """Of all trainings at these sizes, if one at `foot` points takes `seconds`."""
    last = seconds_for_one(sizes[-1], foot, seconds) * _AT_LARGEST / _AT_OTHERS
    return last + sum(seconds_for_one(size, foot, seconds) for size in sizes[:-1])


def seconds_for_one(size: int, foot: int, seconds: float) -> float:
    """Of the trainings that `B*` at one size takes, if one at `foot` points takes `seconds`."""
    return _AT_OTHERS * max(seconds * growth_factor(size, foot), _LEAST)


def growth_factor(size: int, foot: int) -> float:
    """How many times as long a training at a size takes as one at another."""
    return math.pow(size / foot, _GROWTH)


def missing_trainings(done: int, *, last: bool) -> int:
    """About how many are still to come at a size, the largest of them or another."""
    return max((_AT_LARGEST if last else _AT_OTHERS) - done, _AT_OTHERS // 3 if last else 0)


def _total(sizes: Sequence[int], seconds: float) -> float:
    return total_seconds(sizes[-_MOST:], sizes[0], seconds)


def given(sizes: Sequence[int], batch: int, full: int | None) -> list[int]:
    """The sizes that the user asked for, checked."""
    wanted = sorted(set(sizes))
    if not wanted or wanted[0] < 2:
        raise InputError(f"train sizes = {list(sizes)}: must be integers of at least 2")
    if full is not None and wanted[-1] > full:
        raise InputError(f"train size = {wanted[-1]}: must be at most {full}, the number of points")
    if batch > wanted[-1]:
        raise InputError(f"batch = {batch}: must be at most the largest train size {wanted[-1]}")
    return wanted
