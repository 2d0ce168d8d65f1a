"""Records of the table of equivalents: its rows, the largest batch, the rule for the lr."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sgdphase._display import Columns, Shown
from sgdphase.diagram._verdict import Verdict
from sgdphase.stats import Estimate, plain, shown, shown_whole

UNKNOWN = Estimate(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Equivalent:
    """A row of the table returned by `equivalents`: what a batch learns at `lr`.

    Attributes
    ----------
    batch : int
    lr : Estimate
        The learning rate that learns the same or, if none does, the best of those tried.
    exists : bool or None
        Whether some learning rate is the same in the deciding metric; None: cannot tell.
    verdict : {"the same", "better", "not worse", "worse", "cannot tell"}
        The deciding metric at `lr`, compared with the user's.
    steps, seeds : int
        Steps of a training (0: unknown), and seeds shared with the user's setting. From a table,
        whose steps are unknown, all runs of the batch.
    metrics : mapping of str to Estimate; means over seeds
    difference : Estimate
        Of the deciding metric to the user's, within seeds.
    differs : mapping of str to float
        Other metrics that are clearly not the same, as relative changes.
    by : {"progress", "metric", "best"}
        How `lr` was chosen: by progress (training loss, alignment, change of the weights); by the
        deciding metric, if progress gives a worse one; or as the best.
    bracketed : bool
        Whether learning rates on both sides of `lr` were tried.
    tried : int
        Learning rates that were tried at this batch; 0 if unknown.
    rival : float or None
        A learning rate that was tried and is better on average, with fewer seeds.
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
    tried: int = 0
    rival: float | None = None

    def seeds_needed(self, tolerance: float) -> float:
        """About how many seeds decide an open verdict at this `tolerance`, if means stay."""
        half = (self.difference.high - self.difference.low) / 2
        room = abs(tolerance - abs(self.difference.value))
        return math.ceil(self.seeds * (half / room) ** 2) if room > 0 else math.inf

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("batch", "exists", "verdict", "lr", "by", "tried", "rival", "steps", "seeds",
                 "metrics", "differs")  # fmt: skip
        values = {name: plain(getattr(self, name)) for name in names}
        return values | {"steps": self.steps or None, "differs": list(self.differs)}


@dataclass(frozen=True)
class LargestBatch:
    """The largest batch at which some lr learns the same; `high` is infinite if none is worse."""

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
    """The table returned by `equivalents`.

    Attributes
    ----------
    yours : Equivalent; the user's training
    rows : tuple of Equivalent
        The other batches, increasing.
    metric : str; decides whether two trainings are the same
    maximize : bool; whether more of the metric is better
    tolerance : float
        Difference in the metric that counts as the same.
    largest_batch : LargestBatch or None
        Up to which batch some learning rate learns the same.
    rule : Rule or None
        `lr ~ batch^exponent`, as far as it holds.
    observables : tuple of str
        What measures the progress of a training.
    better_lr, better_batch : Equivalent or None
        A learning rate at the user's batch that is clearly better; a setting of another batch.
    """

    yours: Equivalent
    rows: tuple[Equivalent, ...]
    metric: str
    maximize: bool
    tolerance: float
    largest_batch: LargestBatch | None
    rule: Rule | None
    observables: tuple[str, ...]
    better_lr: Equivalent | None = None
    better_batch: Equivalent | None = None

    @property
    def better(self) -> tuple[Equivalent, ...]:
        """What is clearly better than the user's training."""
        return tuple(row for row in (self.better_lr, self.better_batch) if row is not None)

    def _lines(self) -> list[str]:
        end = "unknown" if self.largest_batch is None else shown_whole(self.largest_batch.batch)
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
            "seeds" if self.yours.steps else "runs": [row.seeds for row in rows],
        }

    def _table(self) -> Columns:
        """One row per batch, the user's training first."""
        rows = [self.yours, *self.rows]
        table: dict[str, list[Any]] = {
            name: [getattr(row, name) for row in rows]
            for name in ("batch", "exists", "verdict", "steps", "seeds", "by")
        }
        estimates = {"lr": [row.lr for row in rows]} | {
            name: [row.metrics.get(name, UNKNOWN) for row in rows] for name in self.yours.metrics
        }
        for name, column in estimates.items():
            table[name] = [estimate.value for estimate in column]
            table[f"{name}_low"] = [estimate.low for estimate in column]
            table[f"{name}_high"] = [estimate.high for estimate in column]
        return table
