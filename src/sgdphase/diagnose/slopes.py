"""The regime at one learning rate and batch, from runs at it and times and over two of it.

The slopes of `log m` in `log lr` and `log batch` are taken within each seed, so that what
multiplies all runs of a seed drops out, between the two sides, or between one side and the middle
where the other is out of range or not fitted. Their means over seeds are compared with the targets
of `diagram.regimes` by the rules of a whole diagram: the nearest of them, if it is within `REACH`
and the nearest in a share `confidence` of the replicates.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import KW_ONLY, dataclass
from itertools import combinations

import numpy as np

from sgdphase.diagnose.learner import Trial
from sgdphase.diagnose.told import Cell, Search, Searcher, check_seeds, check_sizes
from sgdphase.diagram.bootstrap import (
    LEVEL,
    REPLICATES,
    Estimate,
    interval,
    seed_means,
    seed_replicates,
)
from sgdphase.diagram.cells import FloatArray
from sgdphase.diagram.regimes import CONFIDENCE, REACH, TARGETS, Regime, nearest_target
from sgdphase.errors import require

__all__ = ["Local", "LocalSlopes"]

NAMES = tuple(TARGETS)


@dataclass(frozen=True)
class Local:
    """The regime at a point, how sure, the slopes in `log lr` and `log batch`, and on what seeds.

    `confidence` is the share of replicates that are nearest to the same target; None without two
    seeds. `notes` say what could not be told, and what it would take. A point that is surely in a
    crossover is `between` two regimes.
    """

    regime: Regime
    confidence: float | None
    lr: Estimate | None
    batch: Estimate | None
    seeds: int
    notes: tuple[str, ...] = ()
    between: tuple[Regime, Regime] | None = None


@dataclass(frozen=True)
class _Verdict:
    regime: Regime
    confidence: float
    decided: bool
    between: tuple[Regime, Regime]  # the two regimes whose crossover has the nearest slopes
    gap: float  # how near


@dataclass
class LocalSlopes(Searcher):
    """Asks for the runs around a point, a few seeds first, until its regime is decided.

    It is decided if it has a name, or if so few replicates (`1 - level`) are within reach of any
    target that it is a crossover.
    """

    lr: float
    batch: int
    train_size: int
    _: KW_ONLY
    smallest_batch: int = 1
    seeds: int = 3
    most_seeds: int = 12
    confidence: float = CONFIDENCE
    level: float = LEVEL

    def __post_init__(self) -> None:
        check_sizes(self.train_size, self.smallest_batch, lr=self.lr)
        check_seeds(self.seeds, self.most_seeds)
        low, high = self.smallest_batch, self.train_size
        require("batch", self.batch, lambda b: low <= b <= high, f"from {low} to {high}")

    @property
    def middle(self) -> Cell:
        return (self.lr, self.batch)

    @property
    def rates(self) -> tuple[Cell, Cell]:
        """The cells below and above in learning rate."""
        return (self.lr / 2, self.batch), (self.lr * 2, self.batch)

    @property
    def batches(self) -> tuple[Cell, Cell]:
        """The cells below and above in batch; the middle itself where the range ends."""
        low = max(round(self.batch / 2), self.smallest_batch)
        return (self.lr, low), (self.lr, min(2 * self.batch, self.train_size))

    def search(self) -> Search:
        cells = dict.fromkeys((self.middle, *self.batches, *self.rates))
        done = 0
        while done < self.most_seeds:
            upto = min(done + 2, self.seeds if done < self.seeds else self.most_seeds)
            wanted = tuple(Trial(*cell, seed) for seed in range(done, upto) for cell in cells)
            if done >= self.seeds and self.missing(wanted) and self._settled():
                return
            yield wanted
            done = upto

    def answer(self) -> Local:
        slopes, sides = self._slopes()
        both = np.isfinite(slopes).all(axis=0)
        rng = np.random.default_rng(0)
        in_lr: Estimate | None
        in_batch: Estimate | None
        if both.any():
            copies = seed_replicates(slopes[:, both], rng, REPLICATES)
            means = seed_means(slopes[:, both])
            in_lr, in_batch = (interval(float(means[k]), copies[:, k], self.level) for k in (0, 1))
        else:
            in_lr, in_batch = (self._alone(slopes[k], rng) for k in (0, 1))
        regime: Regime = "unclear"
        between: tuple[Regime, Regime] | None = None
        confidence, notes = None, _side_notes(sides)
        verdict, unfitted = self._verdict(slopes), self._unfitted()
        if unfitted is not None:
            regime, notes = unfitted, (self._why(), *notes)
        elif verdict is None:
            notes = (_lacking(slopes), *notes)
        else:
            regime, confidence = verdict.regime, verdict.confidence
            if regime == "unclear" and verdict.decided and verdict.gap <= REACH / 2:
                between = verdict.between
            elif regime == "unclear" and verdict.decided:
                notes = ("its slopes are none that regimes or crossovers have", *notes)
            elif regime == "unclear":
                notes = (self._unclear(verdict, int(both.sum())), *notes)
        return Local(regime, confidence, in_lr, in_batch, int(both.sum()), notes, between)

    def _slopes(self) -> tuple[FloatArray, dict[str, set[str]]]:
        """Slopes `[lr or batch, seed]`, and which sides they lack, by the name of the slope."""
        cells = (self.middle, *self.rates, *self.batches)
        seeds = self.told.seeds(cells)
        middle, *around = self.told.table(cells, seeds)
        out, lacking = np.full((2, len(seeds)), np.nan), {}
        for k, (name, places) in enumerate((("lr", self.rates), ("batch", self.batches))):
            x = [math.log2(place[k] / self.middle[k]) for place in places]
            below, above = (np.where(x[i] != 0, around[2 * k + i], np.nan) for i in (0, 1))
            lower, upper = np.isfinite(below), np.isfinite(above)
            left, right = np.where(lower, below, middle), np.where(upper, above, middle)
            span = np.where(upper, x[1], 0.0) - np.where(lower, x[0], 0.0)
            np.divide(right - left, span, out=out[k], where=span > 0)
            # A point that is not fitted itself has no regime, whatever lies around it.
            out[k][~np.isfinite(middle)] = np.nan
            missing = {"below"} if x[0] != 0 and (np.isfinite(middle) & ~lower).any() else set()
            if x[1] != 0 and (np.isfinite(middle) & ~upper).any():
                missing.add("above")
            lacking[name] = missing
        return out, lacking

    def _alone(self, slopes: FloatArray, rng: np.random.Generator) -> Estimate | None:
        there = slopes[np.isfinite(slopes)]
        if there.size == 0:
            return None
        copies = seed_replicates(there[None], rng, REPLICATES)[:, 0]
        return interval(float(there.mean()), copies, self.level)

    def _verdict(self, slopes: FloatArray) -> _Verdict | None:
        """What the slopes say; None with fewer than two seeds that have both."""
        both = np.isfinite(slopes).all(axis=0)
        if both.sum() < 2:
            return None
        copies = seed_replicates(slopes[:, both], np.random.default_rng(0), REPLICATES)
        mean = seed_means(slopes[:, both])
        index, distance = nearest_target(mean)
        near, far = nearest_target(copies)
        share = float(np.mean(near == index))
        named = bool(share >= self.confidence and distance <= REACH)
        outside = bool(np.mean(far <= REACH) <= 1 - self.level)
        return _Verdict(
            NAMES[int(index)] if named else "unclear",
            share,
            named or outside,
            *_between(mean),
        )

    def _settled(self) -> bool:
        verdict = self._verdict(self._slopes()[0])
        return self._unfitted() is not None or (verdict is not None and verdict.decided)

    def _statuses(self) -> Counter[str]:
        seeds = self.told.seeds([self.middle])
        return Counter(self.told.runs[Trial(*self.middle, seed)].status for seed in seeds)

    def _unfitted(self) -> Regime | None:
        """The regime of a point whose runs mostly diverge, or are never fitted."""
        statuses = self._statuses()
        if statuses["diverged"] > statuses["fitted"]:
            return "diverged"
        return "missing" if statuses and not statuses["fitted"] else None

    def _why(self) -> str:
        counts = ", ".join(f"{n} {status}" for status, n in sorted(self._statuses().items()))
        return (
            f"the runs at lr {self.lr:g} and batch {self.batch} are not fitted ({counts}): regimes "
            "are those of trainings that fit every point; a lower lr or a larger budget may"
        )

    def _unclear(self, verdict: _Verdict, seeds: int) -> str:
        first, second = verdict.between
        return (
            f"{seeds} seeds leave open whether it is {first}, {second} or between them: "
            "it would take more seeds"
        )


def _between(slopes: FloatArray) -> tuple[tuple[Regime, Regime], float]:
    """The two targets that span the nearest line, and how near: crossovers move along it."""

    def gap(pair: tuple[Regime, Regime]) -> float:
        start, end = (np.array(TARGETS[name]) for name in pair)
        along = np.clip((slopes - start) @ (end - start) / np.sum((end - start) ** 2), 0, 1)
        return float(np.linalg.norm(start + along * (end - start) - slopes))

    pair = min(combinations(NAMES, 2), key=gap)
    return pair, gap(pair)


def _lacking(slopes: FloatArray) -> str:
    """Why there is no verdict."""
    seeds = np.isfinite(slopes).sum(axis=1)
    for name, n in zip(("lr", "batch"), seeds, strict=True):
        if n < seeds.max():
            return f"no slope in {name} in {seeds.max() - n} seeds: their runs beside it are needed"
    return f"{seeds.max()} seeds: it takes two to tell a slope from noise"


def _side_notes(sides: dict[str, set[str]]) -> tuple[str, ...]:
    return tuple(
        f"the slope in {name} is one-sided in some seeds: their runs {side} are not fitted"
        for name, lacking in sides.items()
        for side in sorted(lacking)
    )
