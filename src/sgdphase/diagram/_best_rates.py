"""The best learning rate of each batch, the law they follow, and the best batch.

A loss against the learning rate has a valley. For each batch a smooth curve in log lr goes through
the runs (`stats.smooth_curves`); its minimum is the best learning rate. A line through the minima,
`lr ~ batch^x`, weighs each by its uncertainty. If two lines that meet at a *bend* describe them
clearly better, there are two exponents. A second smooth curve goes through the best values of all
batches: its minimum is the best batch. Which larger batches are as good is the question of
`table_equivalents`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sgdphase._display import Columns, Shown
from sgdphase._typing import FloatArray
from sgdphase.diagram._rate_law import RateLaw, rate_laws
from sgdphase.diagram._run_table import RunTable
from sgdphase.errors import InputError, require_type
from sgdphase.stats import LEVEL, Estimate, Plain, digits, interval
from sgdphase.stats._smooth import Points, SmoothCurve, pure_deviation, smooth_curves

Place = Literal["inside", "below the range", "above the range", "largest stable", "too few runs"]
# Learning rates that a curve needs.
_FEWEST = 3
# Logarithms above which values are cut.
_LARGEST = 700.0


@dataclass(frozen=True)
class BestRate(Plain):
    """The best learning rate of a batch: a row of the table returned by `rule`.

    Attributes
    ----------
    batch : float
    lr : Estimate
        An end of its interval is NaN if it lies outside the range that was run.
    value : Estimate; of the metric, at `lr`
    place : str
        "inside" the range of learning rates that was run; "below the range" or "above the range":
        the best one tried is the smallest or the largest; "largest stable": larger ones diverge, or
        are far worse;
        "too few runs": fewer than three learning rates have a value.
    runs, diverged : int
    """

    batch: float
    lr: Estimate
    value: Estimate
    place: Place
    runs: int
    diverged: int

    @property
    def known(self) -> bool:
        """Whether the best learning rate was found."""
        return self.place in ("inside", "largest stable")


@dataclass(frozen=True, repr=False)
class BestRates(Shown, Plain):
    """The best learning rates of a table of runs, returned by `rule`.

    Attributes
    ----------
    metric, maximize, by : of the table
    rows : tuple of BestRate, by rising batch
    law : RateLaw or None
        One law through all best learning rates.
    bend : Estimate or None
        The batch at which it bends, if two laws are clearly better.
    pieces : tuple of RateLaw
        The laws below and above the bend; `law` alone without one.
    best_batch : Estimate or None
        With the best value of all; an end of its interval is NaN if outside the batches that were
        run.
    notes : tuple of str
    """

    metric: str
    maximize: bool
    by: Mapping[str, Any]
    rows: tuple[BestRate, ...]
    law: RateLaw | None
    bend: Estimate | None
    pieces: tuple[RateLaw, ...]
    best_batch: Estimate | None
    notes: tuple[str, ...]

    def _lines(self) -> list[str]:
        from sgdphase.diagram._best_rates_text import rule_lines  # which is made of this

        return rule_lines(self)

    def _table(self) -> Columns:
        table: dict[str, list[Any]] = {"batch": [row.batch for row in self.rows]}
        for name in ("lr", "value"):
            for edge in ("value", "low", "high"):
                key = (self.metric if name == "value" else name) + f"_{edge}" * (edge != "value")
                table[key] = [getattr(getattr(row, name), edge) for row in self.rows]
        return table | {
            n: [getattr(r, n) for r in self.rows] for n in ("place", "runs", "diverged")
        }


def rule(table: RunTable, *, level: float = LEVEL) -> BestRates:
    """The best learning rate of each batch, and the law `lr ~ batch^x` that they follow.

    Parameters
    ----------
    table : RunTable
    level : float, default 0.9; coverage of the intervals

    Examples
    --------
    >>> from sgdphase.diagram import run_table
    >>> lr, batch = np.meshgrid(0.01 * 2.0 ** np.arange(9), [8, 16, 32, 64])
    >>> loss = 1 + 0.1 * np.log(lr / 0.16 / (batch / 32) ** 0.5) ** 2
    >>> best = rule(run_table({"lr": lr.ravel(), "batch": batch.ravel(), "loss": loss.ravel()}))
    >>> round(best.law.exponent.value, 2), [round(row.lr.value, 3) for row in best.rows]
    (0.5, [0.08, 0.113, 0.16, 0.226])
    """
    require_type("table", table, RunTable, "what `run_table` returns")
    fitted = valleys(table)
    rows = tuple(_row(table, batch, fitted.get(batch), level) for batch in np.unique(table.batch))
    inside = {row.batch: fitted[row.batch] for row in rows if row.place == "inside"}
    known = {row.batch: fitted[row.batch] for row in rows if row.place != "too few runs"}
    law, bend, pieces = rate_laws([*inside], [*inside.values()], level)
    best = _bounded(_best_batch([*known], [*known.values()], level), rows, table.maximize)
    return BestRates(
        table.metric, table.maximize, table.by, rows, law, bend, pieces, best,
        (*table.notes, *_remarks(rows)),
    )  # fmt: skip


def valleys(table: RunTable) -> dict[float, SmoothCurve]:
    """A smooth curve of the value (less is better) in log lr, for each batch that has enough."""
    # A loss may span orders of magnitude, and its noise with it: then its logarithm is smoothed.
    log = bool(np.nanmin(table.worse, initial=np.inf) > 0)
    value = np.log(table.worse) if log else table.worse
    cells: dict[float, list[tuple[float, FloatArray]]] = {}
    for batch in np.unique(table.batch):
        here = (table.batch == batch) & np.isfinite(table.value)
        lost = (table.batch == batch) & np.isnan(table.value)
        # Where half of the seeds diverged, the others are survivors.
        lrs = np.array([
            lr for lr in np.unique(table.lr[here])
            if (here & (table.lr == lr)).sum() > (lost & (table.lr == lr)).sum()
        ])  # fmt: skip
        if lrs.size >= _FEWEST:
            cells[float(batch)] = [(lr, value[here & (table.lr == lr)]) for lr in lrs]
    points = [
        Points(
            np.log([lr for lr, _ in row]),
            np.array([runs.mean() for _, runs in row]),
            np.array([float(runs.size) for _, runs in row]),
        )
        for row in cells.values()
    ]
    if not points:
        raise InputError(
            f"no batch has {_FEWEST} learning rates with a value: a valley needs that many"
        )
    pure = pure_deviation([[runs for _, runs in row] for row in cells.values()])
    return dict(zip(cells, _smooth(points, pure, log=log), strict=True))


def _smooth(
    points: Sequence[Points], pure: tuple[float, int] = (0.0, 0), *, log: bool,
    copies: FloatArray | None = None,
) -> list[SmoothCurve]:  # fmt: skip
    """Smooth curves of values, of which the logarithms are smoothed if `log`."""
    curves = smooth_curves(points, pure, copies=copies)
    if not log:
        return curves
    # A line through the ends of a steep valley may leave the range of floats.
    return [SmoothCurve(c.x, *(np.exp(np.minimum(v, _LARGEST)) for v in (c.y, c.replicates)))
            for c in curves]  # fmt: skip


def _row(table: RunTable, batch: float, curve: SmoothCurve | None, level: float) -> BestRate:
    here = table.batch == batch
    counts = int(here.sum()), int((here & np.isnan(table.value)).sum())
    nothing = Estimate(math.nan, math.nan, math.nan)
    if curve is None:
        return BestRate(float(batch), nothing, nothing, "too few runs", *counts)
    at, many = curve.minimum()
    best = interval(curve.at(at)[0], curve.at(many)[1], level)
    best = best.mapped(lambda value: -value) if table.maximize else best
    lr = curve.place(at, many, level)
    # Others were run, and diverged or lie behind a cliff: they end the range, and are worse.
    tried = np.log(table.lr[here])
    smaller, larger = tried[tried < curve.x[0] - 1e-9], tried[tried > curve.x[-1] + 1e-9]
    place: Place = "inside"
    if at <= curve.x[0] and not smaller.size:
        place = "below the range"
    elif at >= curve.x[-1]:
        place = "largest stable" if larger.size else "above the range"
    low = smaller.max() if smaller.size and math.isnan(lr.low) else lr.low
    high = larger.min() if larger.size and math.isnan(lr.high) else lr.high
    return BestRate(float(batch), Estimate(at, low, high).mapped(math.exp), best, place, *counts)


def _best_batch(
    batches: Sequence[float], curves: Sequence[SmoothCurve], level: float
) -> Estimate | None:
    """The batch of the best value."""
    if len(batches) < _FEWEST or np.isnan(curves[0].replicates).any():
        return None
    x = np.log(batches)
    minima = [curve.minimum() for curve in curves]
    # Where the best lr is outside the range, the best value of those that were run counts.
    y = np.array([np.interp(at, c.x, c.y) for (at, _), c in zip(minima, curves, strict=True)])
    copies = np.stack([c.at(many)[1] for (_, many), c in zip(minima, curves, strict=True)], axis=1)
    log = bool(min(y.min(), copies.min()) > 0)
    y, copies = (np.log(y), np.log(copies)) if log else (y, copies)
    [spread] = _smooth([Points(x, y, np.ones(x.size))], log=log, copies=copies)
    if np.ptp(spread.y) == 0:  # no batch is better than another
        return None
    return spread.place(*spread.minimum(), level).mapped(math.exp)


def _bounded(best: Estimate | None, rows: Sequence[BestRate], maximize: bool) -> Estimate | None:
    """The best batch without an open end where batches are clearly worse than the best one."""
    worse = [
        (row.batch, -row.value.high, -row.value.low) if maximize
        else (row.batch, row.value.low, row.value.high)
        for row in rows if math.isfinite(row.value.low)
    ]  # fmt: skip
    if best is None or not worse:
        return best
    highest = min(high for _, _, high in worse)
    rivals = [batch for batch, low, _ in worse if low <= highest]
    # A batch that was run and is worse ends it, the last one before the rivals.
    below = [b for b, _, _ in worse if b < min(rivals[0], best.value)]
    above = [b for b, _, _ in worse if b > max(rivals[-1], best.value)]
    low = best.low if math.isfinite(best.low) or not below else below[-1]
    high = best.high if math.isfinite(best.high) or not above else above[0]
    return Estimate(best.value, low, high)


def _remarks(rows: Sequence[BestRate]) -> list[str]:
    """Batches whose best learning rate is not known, and which runs would give it."""
    texts = {
        "below the range": "the smallest learning rate tried is the best: run smaller ones",
        "above the range": "the largest learning rate tried is the best: run larger ones",
        "largest stable": "the best learning rate is the largest before those that diverge or fail",
        "too few runs": f"fewer than {_FEWEST} learning rates have a value",
    }
    notes = []
    for place, text in texts.items():
        batches = [digits(row.batch, 6) for row in rows if row.place == place]
        if batches:
            notes.append(f"batch {', '.join(batches)}: {text}")
    return notes
