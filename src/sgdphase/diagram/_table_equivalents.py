"""The table of equivalents from runs that exist: nothing can be run again at a matched rate.

At another batch, the learning rate that learns the same is where the smooth curve through its runs
has the value of the user's setting, on the same side of the valley; the bottom of the valley if
that is not as low. If the user's learning rate may be the best of its batch, it is the bottom.
"""

from __future__ import annotations

import math

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.diagram._batch_table import largest_batch, rule_through
from sgdphase.diagram._best_rates import valleys
from sgdphase.diagram._column_names import is_share
from sgdphase.diagram._equivalents import Equivalent, Equivalents
from sgdphase.diagram._run_table import RunTable
from sgdphase.diagram._verdict import TOLERANCE, part_of, verdict_of
from sgdphase.errors import InputError, require, require_type
from sgdphase.stats import LEVEL, Estimate, digits, interval
from sgdphase.stats._smooth import SmoothCurve


def table_equivalents(
    table: RunTable,
    *,
    lr: float | None = None,
    batch: float | None = None,
    tolerance: float = TOLERANCE,
    level: float = LEVEL,
) -> Equivalents:
    """For each batch of a table of runs, the learning rate that learns the same as yours.

    Parameters
    ----------
    table : RunTable
    lr : float, default the best of `batch`
        Your learning rate, within those that were run at your batch.
    batch : float, default the smallest
        Your batch, one that was run.
    tolerance : float, default 0.05
        Difference of the value that counts as the same, relative to yours.
    level : float, default 0.9; coverage of the intervals

    Examples
    --------
    >>> from sgdphase.diagram import run_table
    >>> lr, batch = np.meshgrid(0.01 * 2.0 ** np.arange(9), [8, 16])
    >>> loss = 1 + 0.1 * np.log(lr / 0.01 / batch) ** 2
    >>> runs = run_table({"lr": lr.ravel(), "batch": batch.ravel(), "loss": loss.ravel()})
    >>> [row] = table_equivalents(runs, lr=0.04, batch=8).rows
    >>> row.batch, round(row.lr.value, 3), row.verdict
    (16, 0.08, 'the same')
    """
    require_type("table", table, RunTable, "what `run_table` returns")
    require("tolerance", tolerance, lambda share: 0 < share < 1, "between 0 and 1")
    if lr is not None:
        require("lr", lr, lambda rate: rate > 0, "a number above 0")
    curves = valleys(table)
    batch = min(curves) if batch is None else batch
    if batch not in curves:
        known = ", ".join(digits(b, 6) for b in curves)
        raise InputError(f"batch {batch:g}: the runs have 3 learning rates or more at {known}")
    ours = curves[batch]
    lr = math.exp(ours.minimum()[0]) if lr is None else lr
    first, last = (math.exp(end) for end in (ours.x[0], ours.x[-1]))
    if not first * (1 - 1e-9) <= lr <= last * (1 + 1e-9):
        raise InputError(
            f"lr {lr:g}: at batch {batch:g} it must be from {first:g} to {last:g}: others were not "
            "run, or are far worse than the best"
        )
    compared = _Compared(table, ours, math.log(lr), tolerance, level)
    yours = compared.row(batch, ours, math.log(lr), Estimate(lr, lr, lr), yours=True)
    rows = tuple(compared.matched(b, curve) for b, curve in curves.items() if b != batch)
    bottom = ours.minimum()[0]
    better = compared.row(batch, ours, bottom, compared.bottom(ours))
    return Equivalents(
        yours=yours,
        rows=rows,
        metric=table.metric,
        maximize=table.maximize,
        tolerance=compared.tolerance,
        largest_batch=largest_batch(yours.batch, rows, compared.sign, compared.tolerance, level),
        rule=rule_through(lr, yours.batch, (row for row in rows if row.exists and row.bracketed)),
        observables=(table.metric,),
        better_lr=better if better.verdict == "better" else None,
    )


class _Compared:
    """Curves compared with the user's setting, all with the sign by which less is better."""

    def __init__(
        self, table: RunTable, ours: SmoothCurve, place: float, tolerance: float, level: float
    ) -> None:
        self.table, self.level = table, level
        self.sign = -1.0 if table.maximize else 1.0
        self.value, self.values = ours.at(place)
        share = table.maximize and is_share(table.metric)
        self.tolerance = part_of(tolerance, self.sign * self.value, share=share)
        if share and np.isfinite(self.values).all():
            # Next to nothing may be missing: then the noise of the value counts.
            self.tolerance = max(self.tolerance, float(self.values.std()))
        bottom, bottoms = ours.minimum()
        self.left = place <= bottom
        low, high = np.quantile(bottoms, [(1 - level) / 2, (1 + level) / 2])
        self.is_best = bool(abs(place - bottom) < 1e-9 or low <= place <= high)

    def matched(self, batch: float, curve: SmoothCurve) -> Equivalent:
        """The row of another batch."""
        if self.is_best:
            return self.row(batch, curve, curve.minimum()[0], self.bottom(curve))
        at = _match(curve.x, curve.y, self.value, left=self.left)
        many = np.array([
            _match(curve.x, row, value, left=self.left)
            for row, value in zip(curve.replicates, self.values, strict=True)
        ])  # fmt: skip
        return self.row(batch, curve, at, curve.place(at, many, self.level).mapped(math.exp))

    def bottom(self, curve: SmoothCurve) -> Estimate:
        return curve.place(*curve.minimum(), self.level).mapped(math.exp)

    def row(
        self, batch: float, curve: SmoothCurve, at: float, lr: Estimate, *, yours: bool = False
    ) -> Equivalent:
        value, values = curve.at(at)
        change = interval(value - self.value, values - self.values, self.level)
        verdict = verdict_of(change, self.tolerance, 1.0)
        bracketed = bool(np.isfinite([lr.low, lr.high]).all())
        exists = None if verdict == "cannot tell" else verdict != "worse"
        if verdict == "worse" and not bracketed:
            exists = None
        here = (self.table.batch == batch) & np.isfinite(self.table.value)
        return Equivalent(
            batch=int(batch) if float(batch).is_integer() else batch,  # type: ignore[arg-type]
            lr=lr,
            exists=True if yours else exists,
            verdict="the same" if yours else verdict,
            steps=0,
            seeds=int(here.sum()),
            metrics={self.table.metric: self._signed(interval(value, values, self.level))},
            difference=self._signed(change),
            by="best" if verdict == "worse" else "metric",
            bracketed=bracketed,
        )

    def _signed(self, estimate: Estimate) -> Estimate:
        return estimate.mapped(lambda value: self.sign * value)


def _match(x: FloatArray, y: FloatArray, target: float, *, left: bool) -> float:
    """Where a valley is at the height of `target`, on one side; its bottom if it is not as low."""
    bottom = int(y.argmin())
    side = np.arange(bottom, -1, -1) if left else np.arange(bottom, y.size)
    above = np.flatnonzero(y[side] >= target)
    if not above.size:
        return float(x[side[-1]])
    first = int(above[0])
    if first == 0:
        return float(x[bottom])
    near, far = side[first - 1], side[first]
    part = (target - y[near]) / (y[far] - y[near])
    return float(x[near] + part * (x[far] - x[near]))
