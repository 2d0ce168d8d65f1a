"""From runs to the table of equivalents: for each batch, the learning rate that learns the same.

A pure function of runs and of the user's setting; it knows nothing of how runs were made.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from sgdphase._display import Columns, Shown
from sgdphase.diagram._comparison import Comparison, Verdict
from sgdphase.diagram._training_runs import Setting, TrainingRun
from sgdphase.stats import LEVEL, Estimate, curve_end, shown

__all__ = [
    "NEAR", "Equivalent", "Equivalents", "LargestBatch", "Rule", "equivalents", "matched_lr",
    "mean", "row_of", "verified",
]  # fmt: skip

# Seeds with which a setting can be called the best of its batch.
ENOUGH = 5
# A setting stands for a learning rate this near to it, in log lr: a twelfth of an octave.
NEAR = math.log(2) / 12
_NOTHING = Estimate(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Equivalent:
    """A row of the table: what a batch learns at `lr`.

    `exists`: some lr is the same in the deciding metric (None: cannot tell); else `lr` is the best
    of all that were tried. It was found `by` progress (training loss, alignment, change of the
    weights) or, where that is worse, by the deciding metric alone, or it is the best. `differs` are
    other metrics that are clearly not the same there, as relative changes.
    """

    batch: int
    lr: Estimate
    exists: bool | None
    verdict: Verdict
    steps: int
    seeds: int
    metrics: Mapping[str, Estimate]
    difference: Estimate
    differs: Mapping[str, float] = field(default_factory=dict)
    by: Literal["progress", "metric", "best"] = "progress"
    bracketed: bool = True

    def seeds_needed(self, tolerance: float) -> float:
        """About how many seeds would decide an open verdict, if means stay as they are."""
        half = (self.difference.high - self.difference.low) / 2
        room = abs(tolerance - abs(self.difference.value))
        return math.ceil(self.seeds * (half / room) ** 2) if room > 0 else math.inf

    def as_dict(self) -> dict[str, Any]:
        return {
            "batch": self.batch,
            "exists": self.exists,
            "verdict": self.verdict,
            "lr": self.lr.as_dict(),
            "steps": self.steps or None,
            "seeds": self.seeds,
            "metrics": {name: value.as_dict() for name, value in self.metrics.items()},
            "differs": list(self.differs),
        }


@dataclass(frozen=True)
class LargestBatch:
    """The largest batch at which some learning rate learns the same; no `high` if none ends it."""

    batch: Estimate
    reason: str

    def as_dict(self) -> dict[str, Any]:
        return {**self.batch.as_dict(), "reason": self.reason}


@dataclass(frozen=True)
class Rule:
    """`lr ~ batch^exponent` through the user's point, for batches up to `up_to_batch`."""

    exponent: Estimate
    up_to_batch: int

    def as_dict(self) -> dict[str, Any]:
        return {"exponent": self.exponent.as_dict(), "up_to_batch": self.up_to_batch}


@dataclass(frozen=True, repr=False)
class Equivalents(Shown):
    """The table: the user's own training, and a row for each other batch, by rising batch."""

    yours: Equivalent
    rows: tuple[Equivalent, ...]
    metric: str
    maximize: bool
    tolerance: float
    largest_batch: LargestBatch | None
    rule: Rule | None
    observables: tuple[str, ...]
    better_lr: Equivalent | None = None

    def _lines(self) -> list[str]:
        end = "unknown" if self.largest_batch is None else f"{self.largest_batch.batch}"
        return [
            f"Batches that learn the same as batch {self.yours.batch} at lr {self.yours.lr.value:g}"
            f" ({self.metric} within {self.tolerance:.3g}); largest such batch: {end}"
        ]

    def _summary(self) -> Columns:
        rows = [self.yours, *self.rows]
        return {
            "batch": [row.batch for row in rows],
            "lr": [shown(row.lr) for row in rows],
            self.metric: [shown(row.metrics.get(self.metric)) for row in rows],
            "verdict": ["yours", *(row.verdict for row in self.rows)],
            "seeds": [row.seeds for row in rows],
        }

    def _table(self) -> Columns:
        """One row per batch, the user's training first."""
        rows = [self.yours, *self.rows]
        table: dict[str, list[Any]] = {
            name: [getattr(row, name) for row in rows]
            for name in ("batch", "exists", "verdict", "steps", "seeds", "by")
        }
        estimates = {"lr": [row.lr for row in rows]} | {
            name: [row.metrics.get(name, _NOTHING) for row in rows] for name in self.yours.metrics
        }
        for name, column in estimates.items():
            table[name] = [estimate.value for estimate in column]
            table[f"{name}_low"] = [estimate.low for estimate in column]
            table[f"{name}_high"] = [estimate.high for estimate in column]
        return table


def equivalents(
    runs: Iterable[TrainingRun],
    *,
    lr: float,
    batch: int,
    epochs: int,
    metric: str,
    maximize: bool = False,
    batches: Collection[int] | None = None,
    level: float = LEVEL,
) -> Equivalents | None:
    """The table of equivalents of the training at `lr`, `batch` and `epochs`.

    `metric` decides whether two trainings are the same (lower is better, unless `maximize`). Rows
    are those of `batches`, by default of every other batch that has runs. None without runs of the
    user's own training that all ended.

    >>> def run(lr, batch, seed):
    ...     p = lr / batch * (1 + 0.01 * ((3 * seed + batch) % 4))
    ...     metrics = {"test_error": 0.01 / (0.1 + p), "train_loss": 0.02 / (0.1 + p)}
    ...     return TrainingRun(Setting(lr, batch, epochs=5), seed, metrics)
    >>> places = [(0.1, 8), (0.05, 8), (0.1, 16), (0.2, 16), (0.3, 16)]
    >>> runs = [run(lr, batch, seed) for lr, batch in places for seed in range(5)]
    >>> found = equivalents(runs, lr=0.1, batch=8, epochs=5, metric="test_error")
    >>> [(row.batch, row.lr.value, row.verdict) for row in found.rows]
    [(16, 0.2, 'the same')]
    """
    yours = Setting(lr, batch, epochs)
    compared = Comparison(runs, yours, metric=metric, maximize=maximize, level=level)
    if compared.estimate(yours, metric) is None:
        return None
    there = {s.batch for s in compared.settings if s.epochs == epochs} - {batch}
    wanted = sorted(there if batches is None else there.intersection(batches))
    found = (row_of(compared, other) for other in wanted)
    rows = tuple(row for row in found if row is not None)
    return Equivalents(
        yours=_row(compared, yours, Estimate(lr, lr, lr), exists=True),
        rows=rows,
        metric=metric,
        maximize=maximize,
        tolerance=compared.tolerance(metric),
        largest_batch=_largest(compared, rows),
        rule=_rule(compared, rows),
        observables=tuple(compared.observables),
        better_lr=_better(compared),
    )


def row_of(compared: Comparison, batch: int) -> Equivalent | None:
    """The row of a batch: at the lr that matches, or else at the best that there is.

    If what matches is worse, another lr may still be the same in the deciding metric.
    """
    by: Literal["progress", "metric"]
    for by in ("progress", "metric"):
        lr = matched_lr(compared, batch, by)
        setting = None if lr is None else verified(compared, batch, lr)
        if lr is not None and setting is not None and compared.verdict(setting) != "worse":
            low, high = min(lr.low, setting.lr), max(lr.high, setting.lr)
            return _row(compared, setting, Estimate(setting.lr, low, high), by=by)
    best = best_setting(compared, batch)
    return None if best is None else _row(compared, best, _bracket(compared, best), by="best")


def matched_lr(
    compared: Comparison, batch: int, by: Literal["progress", "metric"]
) -> Estimate | None:
    """The learning rate that gets as far as the user's, or that has the same deciding metric."""
    return compared.matched_lr(batch) if by == "progress" else compared.metric_match(batch).lr


def verified(compared: Comparison, batch: int, lr: Estimate) -> Setting | None:
    """The setting that stands for a matched lr: the one with the most seeds next to it."""
    near = [
        s
        for s in compared.row(batch)
        if abs(math.log(s.lr / lr.value)) <= NEAR or lr.low <= s.lr <= lr.high
    ]
    if not near:
        return None
    return max(near, key=lambda s: (compared.seeds(s), -abs(math.log(s.lr / lr.value))))


def best_setting(compared: Comparison, batch: int) -> Setting | None:
    """The one with the best deciding metric, of those that have seeds enough to tell."""
    row = compared.row(batch)
    if not row:
        return None
    enough = min(ENOUGH, max(compared.seeds(s) for s in row))
    return min((s for s in row if compared.seeds(s) >= enough), key=lambda s: mean(compared, s))


def mean(compared: Comparison, setting: Setting) -> float:
    """How much worse than the user's training a setting is, on average."""
    found = compared.difference(setting, compared.metric)
    return math.inf if found is None else compared.worse * found.value


def _least(compared: Comparison, row: Sequence[Setting]) -> float:
    return min(mean(compared, setting) for setting in row)


def _bracket(compared: Comparison, best: Setting) -> Estimate:
    """The learning rates on both sides of the best one; NaN on a side that has none."""
    row = compared.row(best.batch, stable=False)
    place = row.index(best)
    low = row[place - 1].lr if place else math.nan
    high = row[place + 1].lr if place + 1 < len(row) else math.nan
    return Estimate(best.lr, low, high)


def _row(
    compared: Comparison,
    setting: Setting,
    lr: Estimate,
    *,
    exists: bool | None = None,
    by: Literal["progress", "metric", "best"] = "progress",
) -> Equivalent:
    verdict = compared.verdict(setting)
    bracketed = bool(np.isfinite([lr.low, lr.high]).all())
    if exists is None and verdict != "cannot tell":
        exists = verdict != "worse"
        # A better learning rate may lie outside of what was tried, or have too few seeds yet.
        rates = compared.row(setting.batch)
        if not exists and not (bracketed and mean(compared, setting) <= _least(compared, rates)):
            exists = None
    metrics = {name: compared.estimate(setting, name) for name in compared.names}
    unknown = Estimate(math.nan, math.nan, math.nan)
    return Equivalent(
        batch=setting.batch,
        lr=lr,
        exists=exists,
        verdict=verdict,
        steps=compared.steps(setting),
        seeds=compared.seeds(setting),
        metrics={
            name: value
            for name, value in metrics.items()
            if value is not None and name != "initial_loss"
        },
        difference=compared.difference(setting, compared.metric) or unknown,
        differs=compared.differs(setting),
        by=by,
        bracketed=bracketed,
    )


def _better(compared: Comparison) -> Equivalent | None:
    """Another learning rate at the user's own batch that is clearly better."""
    others = [s for s in compared.row(compared.yours.batch) if s != compared.yours]
    better = [s for s in others if compared.verdict(s) == "better"]
    if not better:
        return None
    chosen = min(better, key=lambda s: mean(compared, s))
    return _row(compared, chosen, _bracket(compared, chosen), by="best")


def _largest(compared: Comparison, rows: Sequence[Equivalent]) -> LargestBatch | None:
    """Where one curve through all rows leaves the tolerance."""
    above = [row for row in rows if row.batch > compared.yours.batch]
    known = [row for row in above if math.isfinite(row.difference.low)]
    if not known:
        return None
    end = curve_end(
        np.array([compared.yours.batch, *(row.batch for row in known)], dtype=np.float64),
        np.array([compared.worse * row.difference.value for row in known]),
        np.array([(row.difference.high - row.difference.low) / 2 for row in known]),
        compared.tolerance(compared.metric),
        level=compared.level,
    )
    reason = "there the curve through all rows leaves the tolerance"
    if math.isinf(end.high) and end.value >= known[-1].batch:
        reason = f"no batch up to {known[-1].batch} leaves the tolerance"
    return LargestBatch(end, reason)


def _rule(compared: Comparison, rows: Sequence[Equivalent]) -> Rule | None:
    """A line through the user's point in log batch and log lr, over rows that learn the same.

    It goes as far from the user's batch as it lies within the intervals of all rows on the way.
    """
    yours = compared.yours
    same = [row for row in rows if row.exists and row.by == "progress"]
    same.sort(key=lambda row: abs(math.log(row.batch / yours.batch)))
    for count in range(len(same), 0, -1):
        exponent = _exponent(yours, same[:count])
        if all(_holds(yours, row, exponent.value) for row in same[:count]):
            return Rule(exponent, max([yours.batch, *(row.batch for row in same[:count])]))
    return None


def _holds(yours: Setting, row: Equivalent, exponent: float) -> bool:
    """Whether a rule gives the lr of a row, up to its interval or what counts as the same lr."""
    foretold = yours.lr * (row.batch / yours.batch) ** exponent
    near = abs(math.log(foretold / row.lr.value)) <= NEAR
    return near or row.lr.low <= foretold <= row.lr.high


def _exponent(yours: Setting, rows: Sequence[Equivalent]) -> Estimate:
    """Least squares, in which rows count by how well their lr is known.

    They share the noise of the user's own training, so that all may be off the same way: the
    interval is that of all low ends, and of all high ends.
    """
    x = np.log([row.batch / yours.batch for row in rows])
    low, middle, high = (
        np.log([getattr(row.lr, edge) / yours.lr for row in rows])
        for edge in ("low", "value", "high")
    )
    weight = 1 / np.maximum(high - low, NEAR) ** 2

    def slope(y: Any) -> float:
        return float((weight * x * y).sum() / (weight * x * x).sum())

    ends = sorted((slope(np.where(x > 0, low, high)), slope(np.where(x > 0, high, low))))
    return Estimate(slope(middle), ends[0], ends[1])
