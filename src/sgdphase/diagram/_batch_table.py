"""From runs to the table of equivalents: for each batch, the learning rate that learns the same.

A pure function of runs and of the user's setting; it knows nothing of how runs were made.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from sgdphase.diagram._comparison import Comparison
from sgdphase.diagram._equivalents import UNKNOWN, Equivalent, Equivalents, LargestBatch, Rule
from sgdphase.diagram._training_runs import Setting, TrainingRun
from sgdphase.diagram._verdict import ACCEPTED
from sgdphase.stats import LEVEL, Estimate, curve_end

# Seeds that a setting needs to be called the best of its batch.
ENOUGH = 5
# Rows further apart than this factor do not tell where between them the tolerance is left.
WIDE = 4
# A setting represents a learning rate this near to it, in log lr: a twelfth of an octave.
NEAR = math.log(2) / 12


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
    """For each batch, the learning rate that learns the same as the user's training.

    None without runs of the user's training, or if one of them diverged.

    Parameters
    ----------
    runs : iterable of TrainingRun; several seeds per setting
    lr : float; of the user's training
    batch, epochs : int; of the user's training
    metric : str
        Decides whether two trainings are the same.
    maximize : bool, default False
        Whether more of the metric is better.
    batches : collection of int, default all that have runs; the rows
    level : float, default 0.9; coverage of the intervals

    Examples
    --------
    >>> def run(lr, batch, seed):
    ...     p = lr / batch * (1 + 0.01 * ((3 * seed + batch) % 4))
    ...     metrics = {"test_error": 0.01 / (0.1 + p), "train_loss": 0.02 / (0.1 + p)}
    ...     return TrainingRun(Setting(lr, batch, epochs=5), seed, metrics)
    >>> places = [(0.1, 8), (0.05, 8), (0.1, 16), (0.2, 16), (0.3, 16)]
    >>> runs = [run(lr, batch, seed) for lr, batch in places for seed in range(5)]
    >>> table = equivalents(runs, lr=0.1, batch=8, epochs=5, metric="test_error")
    >>> [(row.batch, row.lr.value, row.verdict) for row in table.rows]
    [(16, 0.2, 'the same')]
    """
    yours = Setting(lr, batch, epochs)
    compared = Comparison(runs, yours, metric=metric, maximize=maximize, level=level)
    if compared.estimate(yours, metric) is None:
        return None
    there = {s.batch for s in compared.settings if s.epochs == epochs} - {batch}
    wanted = sorted(there if batches is None else there.intersection(batches))
    rows = tuple(row for other in wanted if (row := row_of(compared, other)) is not None)
    tolerance = compared.tolerance(metric)
    better_lr, better_batch = (
        None if s is None else _row(compared, s, _bracket(compared, s), by="best")
        for s in better_settings(compared)
    )
    return Equivalents(
        yours=_row(compared, yours, Estimate(lr, lr, lr), exists=True),
        rows=rows,
        metric=metric,
        maximize=maximize,
        tolerance=tolerance,
        largest_batch=largest_batch(batch, rows, compared.worse, tolerance, level),
        rule=rule_through(lr, batch, (row for row in rows if row.exists and row.by == "progress")),
        observables=tuple(compared.observables),
        better_lr=better_lr,
        better_batch=better_batch,
    )


def row_of(compared: Comparison, batch: int) -> Equivalent | None:
    """The row of a batch: at the lr that matches, or else at one that was tried.

    If the lr that matches in progress is not known to be as good, another may match in the deciding
    metric, or one that was tried may learn the same. If none does, the row is that of the match if
    more seeds may decide it, and else that of the best one tried.
    """
    by: Literal["progress", "metric"]
    open_rows = []
    for by in ("progress", "metric"):
        lr = compared.matched_lr(batch, by)
        setting = None if lr is None else verified(compared, batch, lr)
        if lr is None or setting is None or (verdict := compared.verdict(setting)) == "worse":
            continue
        low, high = min(lr.low, setting.lr), max(lr.high, setting.lr)
        row = _row(compared, setting, Estimate(setting.lr, low, high), by=by)
        if verdict in ACCEPTED:
            return row
        open_rows.append(row)
    tried = known_settings(compared, batch)
    if same := [setting for setting in tried if compared.verdict(setting) in ACCEPTED]:
        near = open_rows[0].lr.value if open_rows else None
        best = min(same, key=lambda s: abs(math.log(s.lr / near)) if near else mean(compared, s))
        return _row(compared, best, _not_worse(compared, best), by="best")
    if open_rows and compared.worse * open_rows[0].difference.value <= half_tolerance(compared):
        return open_rows[0]
    if not tried:
        return None
    best = min(tried, key=lambda s: mean(compared, s))
    return _row(compared, best, _bracket(compared, best), by="best")


def half_tolerance(compared: Comparison) -> float:
    """A setting that is worse by no more than this on average needs seeds, not another lr."""
    return compared.tolerance(compared.metric) / 2


def verified(compared: Comparison, batch: int, lr: Estimate) -> Setting | None:
    """The setting that represents a matched lr: the one with the most seeds near it."""
    near = [
        s
        for s in compared.row(batch)
        if abs(math.log(s.lr / lr.value)) <= NEAR or lr.low <= s.lr <= lr.high
    ]
    if not near:
        return None
    return max(near, key=lambda s: (compared.seeds(s), -abs(math.log(s.lr / lr.value))))


def known_settings(compared: Comparison, batch: int) -> list[Setting]:
    """The settings of a batch with enough seeds to be called the best of it."""
    row = compared.row(batch)
    enough = min(ENOUGH, max(map(compared.seeds, row), default=0))
    return [setting for setting in row if compared.seeds(setting) >= enough]


def mean(compared: Comparison, setting: Setting) -> float:
    """How much worse than the user's training a setting is, on average."""
    difference = compared.difference(setting, compared.metric)
    return math.inf if difference is None else compared.worse * difference.value


def _bracket(compared: Comparison, best: Setting) -> Estimate:
    """The learning rates on both sides of the best one; NaN on a side that has none."""
    row = compared.row(best.batch, stable=False)
    place = row.index(best)
    low = row[place - 1].lr if place else math.nan
    high = row[place + 1].lr if place + 1 < len(row) else math.nan
    return Estimate(best.lr, low, high)


def _not_worse(compared: Comparison, best: Setting) -> Estimate:
    """Between which rates those lie that may learn the same: the nearest that are worse.

    NaN on a side where none is.
    """
    row = compared.row(best.batch, stable=False)
    worse = [s.lr for s in row if s in compared.unstable or compared.verdict(s) == "worse"]
    low = max((lr for lr in worse if lr < best.lr), default=math.nan)
    high = min((lr for lr in worse if lr > best.lr), default=math.nan)
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
    row = compared.row(setting.batch)
    among = len(row) if by == "best" else 1
    least = min(row, key=lambda other: mean(compared, other))
    rival = least.lr if mean(compared, least) < mean(compared, setting) else None
    if exists is None and verdict != "cannot tell":
        exists = verdict in ACCEPTED
        # A better learning rate may lie outside of what was tried, or have too few seeds yet.
        if not exists and (rival is not None or not bracketed):
            exists = None
    return Equivalent(
        batch=setting.batch,
        lr=lr,
        exists=exists,
        verdict=verdict,
        steps=compared.steps(setting),
        seeds=compared.seeds(setting),
        metrics={
            name: value
            for name in compared.names
            if name != "initial_loss"
            and (value := compared.estimate(setting, name, among if name == compared.metric else 1))
        },
        difference=compared.difference(setting, compared.metric) or UNKNOWN,
        differs=compared.differs(setting),
        by=by,
        bracketed=bracketed,
        tried=len(compared.row(setting.batch, stable=False)),
        rival=rival,
    )


def better_settings(compared: Comparison) -> tuple[Setting | None, Setting | None]:
    """What is clearly better than the user's setting: another lr at its batch, another batch.

    A batch has to be clearly better than that lr, too.
    """
    epochs, yours = compared.yours.epochs, compared.yours
    batches = sorted({s.batch for s in compared.settings if s.epochs == epochs})
    others = [s for batch in batches for s in compared.row(batch) if s != yours]
    better = sorted(
        (s for s in others if compared.is_better(s, len(others))), key=lambda s: mean(compared, s)
    )
    own = next((s for s in better if s.batch == yours.batch), None)
    limit = 0.0 if own is None else mean(compared, own)
    least = limit - compared.five_percent(compared.metric)
    away = (s for s in better if s.batch != yours.batch and mean(compared, s) < least)
    return own, next(away, None)


def largest_batch(
    batch: int, rows: Sequence[Equivalent], worse: float, tolerance: float, level: float
) -> LargestBatch | None:
    """The batch at which one curve through all rows leaves the tolerance; `batch` is the user's.

    More of the metric, times `worse`, is worse.
    """
    known = [row for row in rows if row.batch > batch and math.isfinite(row.difference.low)]
    if not known:
        return None
    end = curve_end(
        np.array([batch, *(row.batch for row in known)], dtype=np.float64),
        np.array([worse * row.difference.value for row in known]),
        np.array([(row.difference.high - row.difference.low) / 2 for row in known]),
        tolerance,
        level=level,
    )
    below = max(b for b in (batch, *(row.batch for row in known)) if b <= end.value)
    above = min((row.batch for row in known if row.batch > end.value), default=below)
    if above > WIDE * below:  # what happens in between is not known
        end = Estimate(end.value, min(end.low, below), max(end.high, above))
    reason = "there the curve through all rows leaves the tolerance"
    if math.isinf(end.high) and end.value >= known[-1].batch:
        reason = f"no batch up to {known[-1].batch} leaves the tolerance"
    return LargestBatch(end, reason)


def rule_through(lr: float, batch: int, rows: Iterable[Equivalent]) -> Rule | None:
    """A line through the user's point in log batch and log lr, over rows that learn the same.

    It extends as far from the user's batch as it lies within the intervals of all rows up to there.
    """
    same = sorted(rows, key=lambda row: abs(math.log(row.batch / batch)))
    for count in range(len(same), 0, -1):
        exponent = _exponent(lr, batch, same[:count])
        if all(_holds(lr, batch, row, exponent.value) for row in same[:count]):
            return Rule(exponent, max([batch, *(row.batch for row in same[:count])]))
    return None


def _holds(lr: float, batch: int, row: Equivalent, exponent: float) -> bool:
    """Whether a rule gives the lr of a row, up to its interval or what counts as the same lr."""
    expected = lr * (row.batch / batch) ** exponent
    near = abs(math.log(expected / row.lr.value)) <= NEAR
    return near or row.lr.low <= expected <= row.lr.high


def _exponent(lr: float, batch: int, rows: Sequence[Equivalent]) -> Estimate:
    """Least squares, weighted by how well the lr of each row is known.

    Rows share the noise of the user's training, so that all may be off in the same direction: the
    interval goes from the fit through all low ends to that through all high ends.
    """
    x = np.log([row.batch / batch for row in rows])
    low, middle, high = (
        np.log([getattr(row.lr, edge) / lr for row in rows]) for edge in ("low", "value", "high")
    )
    weight = 1 / np.maximum(high - low, NEAR) ** 2

    def slope(y: Any) -> float:
        return float((weight * x * y).sum() / (weight * x * x).sum())

    ends = sorted((slope(np.where(x > 0, low, high)), slope(np.where(x > 0, high, low))))
    return Estimate(slope(middle), ends[0], ends[1])
