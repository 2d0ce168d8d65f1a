"""The answer to "which learning rate do I use at another batch, and when is there none?"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from sgdphase._display import Columns, Shown
from sgdphase._sweep import Run
from sgdphase.diagram import Equivalent, Equivalents
from sgdphase.diagram._four_regimes import TrainingRegime
from sgdphase.stats import plain


@dataclass(frozen=True, repr=False)
class Diagnosis(Shown):
    """The answer about a training, returned by `diagnose`; `docs/the-answer.md` explains it.

    Attributes
    ----------
    lr, batch, epochs, train_size : float, int, int or None, int or None
        The user's training; None if unknown.
    metric : str
        Decides whether two trainings are the same.
    table : Equivalents or None
        The user's training, a row for each other batch, the largest batch that can learn the same,
        and the rule for the learning rate. None if no training ended.
    regime : TrainingRegime
        Its `name`, or why that is unknown.
    warnings, unknown : tuple of str
        What to be careful about; what is unknown, and what it takes to know it.
    seconds : float; duration
    settings : mapping
        The other parameters of the training, by name.
    estimated_seconds, table_seconds : float or None
        Estimated and real duration of the table. The rest of the budget goes to open verdicts and
        larger batches.
    ended : str; why the search ended, empty if it was none
    runs : tuple of Run; all runs behind the answer
    """

    lr: float
    batch: int
    epochs: int | None
    train_size: int | None
    metric: str
    table: Equivalents | None
    regime: TrainingRegime
    warnings: tuple[str, ...]
    unknown: tuple[str, ...]
    seconds: float
    settings: Mapping[str, Any] = field(default_factory=dict)
    estimated_seconds: float | None = None
    table_seconds: float | None = None
    ended: str = ""
    runs: tuple[Run, ...] = ()

    @property
    def trainings(self) -> int:
        """Number of trainings behind the answer."""
        return len(self.runs)

    @property
    def equivalents(self) -> tuple[Equivalent, ...]:
        """The rows of the other batches, increasing."""
        return () if self.table is None else self.table.rows

    @property
    def rows(self) -> list[Equivalent]:
        """All rows, with the user's training, by rising batch."""
        yours = () if self.table is None else (self.table.yours,)
        return sorted((*yours, *self.equivalents), key=lambda row: row.batch)

    @property
    def is_sgd(self) -> bool:
        """Whether the optimizer is SGD, for which regimes have names; assumed of a function."""
        return bool(self.settings.get("optimizer", "sgd") == "sgd")

    @property
    def recommended(self) -> Equivalent | None:
        """The largest batch that learns the same, within the range of `largest_batch`."""
        limit = None if self.table is None else self.table.largest_batch
        end = math.inf if limit is None else limit.batch.value * (1 + 1e-9)
        same = [r for r in self.equivalents if r.exists and self.batch < r.batch <= end]
        return max(same, key=lambda row: row.batch, default=None)

    @property
    def first_none(self) -> Equivalent | None:
        """The smallest batch from which no row learns the same."""
        larger = [row for row in self.equivalents if row.batch > self.batch]
        none = list(takewhile(lambda row: row.exists is False, reversed(larger)))
        return none[-1] if none else None

    def changed_decay(self, row: Equivalent) -> float | None:
        """By which factor the total weight decay of `row` differs; None if by less than 10 %."""
        if not self.settings.get("weight decay") or self.table is None or not row.steps:
            return None
        ours = self.table.yours
        ratio = row.lr.value * row.steps / (ours.lr.value * max(ours.steps, 1))
        return ratio if abs(math.log(ratio)) > math.log(1.1) else None

    def _lines(self) -> list[str]:
        from sgdphase._diagnose.text import answer_lines  # which is made of answers

        return answer_lines(self)

    def _table(self) -> Columns:
        return {} if self.table is None else self.table._table()

    def _repr_html_(self) -> str:
        from sgdphase._diagnose.text import answer_html

        return answer_html(self)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; None where there is no number."""
        table, regime = self.table, self.regime
        ours = None if table is None else table.yours
        values: dict[str, Any] = {
            "yours": {
                "lr": self.lr,
                "batch": self.batch,
                "epochs": self.epochs,
                "steps": None if ours is None else ours.steps or None,
                "seeds": 0 if ours is None else ours.seeds,
                "metrics": {} if ours is None else ours.metrics,
            },
            "metric": self.metric,
            "tolerance": None if table is None else table.tolerance,
            "better": () if table is None else table.better,
            "equivalents": self.equivalents,
            "largest_batch": None if table is None else table.largest_batch,
            "rule": None if table is None else table.rule,
            "regime": regime.name,
            "between": regime.between,
            "confidence": regime.confidence,
            "slopes": regime.slopes,
            "warnings": self.warnings,
            "unknown": self.unknown,
            "ended": self.ended,
            "trainings": self.trainings,
            "seconds": self.seconds,
            "estimated_seconds": self.estimated_seconds,
            "table_seconds": self.table_seconds,
            "settings": {"train size": self.train_size, **self.settings},
        }
        return {name: plain(value) for name, value in values.items()}
