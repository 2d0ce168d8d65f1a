"""Predictions compared with new trainings: intervals, verdicts, and the lr that a grid finds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import t as student

# How far a training got: the sign says whether more of it is further.
PROGRESS = {"train_loss": -1, "alignment": 1, "weight_change": 1}
# A training loss below this part of that at the start is next to zero and matches nothing.
NEXT_TO_ZERO = 0.01
# The least tolerance, as a part of the reference.
TOLERANCE = 0.05


def pooled(rows: Sequence[Sequence[float]]) -> tuple[float, int]:
    """The standard deviation within rows, and its degrees of freedom; diverged rows are left out.

    >>> pooled([[1.0, 3.0], [5.0, 7.0], [math.nan, 1.0]])
    (1.4142135623730951, 2)
    """
    whole = [np.asarray(row) for row in rows if len(row) > 1 and all(map(math.isfinite, row))]
    freedom = sum(len(row) - 1 for row in whole)
    squares = sum(float(((row - row.mean()) ** 2).sum()) for row in whole)
    return (math.sqrt(squares / freedom), freedom) if freedom else (math.nan, 0)


def half_width(deviation: float, freedom: int, count: int) -> float:
    """Of the 90 % Student interval of a mean."""
    if not freedom:
        return math.inf
    return float(student.ppf(0.95, freedom)) * deviation / math.sqrt(count)


def inside(mean: float, noise: float, predicted: Mapping[str, float]) -> bool:
    """Whether a fresh mean agrees with the prediction, both noises counted.

    The half width of the predicted interval is that of the side on which the mean lies.

    >>> inside(1.4, 0.0, {"value": 1.0, "low": 0.9, "high": 1.3})
    False
    >>> inside(1.4, 0.3, {"value": 1.0, "low": 0.9, "high": 1.3})
    True
    """
    value = predicted["value"]
    half = predicted["high"] - value if mean > value else value - predicted["low"]
    return math.isfinite(mean) and abs(mean - value) <= math.hypot(half, noise)


def verdict(difference: float, noise: float, tolerance: float) -> str:
    """Of a difference to the user's own row in a metric of which less is better."""
    if not math.isfinite(difference) or difference - noise > tolerance:
        return "worse"
    if difference + noise < -tolerance:
        return "better"
    if abs(difference) + noise <= tolerance:
        return "the same"
    return "not worse" if difference + noise <= tolerance else "cannot tell"


def confirmed(predicted: str, fresh: str) -> str:
    """`open` where either of the two cannot tell."""
    if "cannot tell" in (predicted, fresh):
        return "open"
    fine = ("the same", "better", "not worse")
    both = {predicted, fresh}
    agree = predicted == fresh or ("not worse" in both and both <= {*fine})
    return "confirmed" if agree else "contradicted"


Values = Mapping[str, np.ndarray]


def matched_by(reference: Values) -> list[str]:
    """The metrics by which an lr is matched: those of progress that are there and not next to 0."""
    names = [name for name in PROGRESS if name in reference]
    if "initial_loss" in reference:
        least = NEXT_TO_ZERO * float(np.mean(reference["initial_loss"]))
        names = [n for n in names if n != "train_loss" or float(reference[n].mean()) > least]
    return names


def crossings(grid: Mapping[float, Values], reference: Values) -> dict[str, float]:
    """Per metric the lr at which the training first gets as far as the reference does.

    Mean differences are interpolated in log lr, from the smallest lr on, up to the first that
    diverges. The value is 0 if the smallest lr is too large already, inf if none gets there.

    >>> grid = {lr: {"alignment": np.array([lr])} for lr in (1.0, 2.0, 4.0)}
    >>> round(crossings(grid, {"alignment": np.array([3.0])})["alignment"], 3)
    2.828
    """
    found = {}
    for name in matched_by(reference):
        found[name] = math.inf
        before: tuple[float, float] | None = None
        for lr in sorted(grid):
            ahead = PROGRESS[name] * float(np.mean(grid[lr][name] - reference[name]))
            if not math.isfinite(ahead):
                break
            if ahead >= 0:
                found[name] = 0.0 if before is None else _between(before, (lr, ahead))
                break
            before = lr, ahead
    return found


def _between(left: tuple[float, float], right: tuple[float, float]) -> float:
    part = -left[1] / (right[1] - left[1])
    return math.exp((1 - part) * math.log(left[0]) + part * math.log(right[0]))


def middle(matches: Mapping[str, float]) -> float | None:
    """The median, in log lr, of the matches that exist."""
    logs = [math.log(lr) for lr in matches.values() if 0 < lr < math.inf]
    return math.exp(float(np.median(logs))) if logs else None


def noise_of_middle(grid: Mapping[float, Values], reference: Values) -> tuple[float, float] | None:
    """The 90 % bootstrap interval, over seeds, of the middle."""
    random = np.random.default_rng(0)
    count = len(next(iter(reference.values())))
    found = []
    for _ in range(200):
        chosen = random.integers(count, size=count)
        again = {lr: {n: v[chosen] for n, v in row.items()} for lr, row in grid.items()}
        lr = middle(crossings(again, {n: v[chosen] for n, v in reference.items()}))
        if lr is not None:
            found.append(lr)
    if not found:
        return None
    low, high = np.quantile(found, (0.05, 0.95))
    return float(low), float(high)
