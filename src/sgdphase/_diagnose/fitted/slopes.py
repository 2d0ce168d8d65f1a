"""The regime at one learning rate and batch, from runs there and at half and twice of each.

The slopes of `log m` in `log lr` and `log batch` are taken within each seed, so that what
multiplies all runs of a seed drops out, between the two sides, or between one side and the middle
where the other is out of range or of no use. Their means over seeds are compared with the targets
of `diagram.regimes` by the rules of a whole diagram: the nearest of them, if it is within `REACH`
and the nearest in a share `CONFIDENCE` of the replicates.

Slopes `(u, v)` that are surely of none are those of a crossover. There `m` is a sum of the laws
`lr/batch`, `lr` and a constant, and the slopes are the mean of those of the three regimes, weighted
by their parts of the sum: `-v` (noise), `u + v` (first step) and `1 - u` (GD). A point is between
the two regimes of the largest weights if the third is at most a quarter, either way, and if these
are the two in a share `CONFIDENCE` of the replicates. (Distance to the lines between targets would
not do: (0.78, -0.50), with weights 0.50, 0.28 and 0.22, is as far from noise as from the first
step, and yet nearest to the line from noise to GD.)
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from sgdphase._diagnose.fitted.reasons import left_out
from sgdphase._diagnose.learner import Cell, PlaneSearcher, Search
from sgdphase._typing import FloatArray
from sgdphase.diagram._regimes import CONFIDENCE, REACH, TARGETS, Regime, nearest_target
from sgdphase.stats import LEVEL, REPLICATES, Estimate, interval, seed_means, seed_replicates

NAMES = tuple(TARGETS)
# The third weight of a crossover between two regimes is below it: one of all three has a third.
THIRD = 0.25


@dataclass(frozen=True)
class Local:
    """The regime at a point, how sure, the slopes in `log lr` and `log batch`, and on what seeds.

    `confidence` is the share of replicates that are nearest to the same target; None without two
    seeds. `notes` say what is not known, and why. A point that is surely in a crossover is
    `between` two regimes.
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
    largest: tuple[Regime, Regime]  # those of the two largest weights
    third: float  # the weight of the other
    share: float  # of the replicates, that have the same two


@dataclass
class LocalSlopes(PlaneSearcher):
    """Asks for the runs around a point, a few seeds first, until its regime is decided.

    It is decided if it has a name, or if so few replicates (`1 - LEVEL`) are within reach of any
    target that it is a crossover.
    """

    lr: float
    batch: int
    train_size: int

    @property
    def middle(self) -> Cell:
        return (self.lr, self.batch)

    @property
    def rates(self) -> tuple[Cell, Cell]:
        return (self.lr / 2, self.batch), (self.lr * 2, self.batch)

    @property
    def batches(self) -> tuple[Cell, Cell]:
        """The cells below and above in batch; the middle itself where the range ends."""
        low = max(round(self.batch / 2), self.smallest_batch)
        return (self.lr, low), (self.lr, min(2 * self.batch, self.train_size))

    def search(self) -> Search:
        cells = dict.fromkeys((self.middle, *self.batches, *self.rates))
        yield from self.add_seeds(cells, 0, at_once=(2, 2))

    def answer(self) -> Local:
        slopes, sides = self._slopes()
        both = np.isfinite(slopes).all(axis=0)
        rng = np.random.default_rng(0)
        in_lr: Estimate | None
        in_batch: Estimate | None
        if both.any():
            copies = seed_replicates(slopes[:, both], rng, REPLICATES)
            means = seed_means(slopes[:, both])
            in_lr, in_batch = (interval(float(means[k]), copies[:, k]) for k in (0, 1))
        else:
            in_lr, in_batch = (self._alone(slopes[k], rng) for k in (0, 1))
        regime: Regime = "unclear"
        between: tuple[Regime, Regime] | None = None
        confidence, notes = None, self._side_notes(sides)
        verdict, unfitted = self._verdict(slopes), self._unfitted()
        if unfitted is not None:
            reason = left_out(self.observations.outcomes([self.middle]))
            at = f"at lr {self.lr:g} and batch {self.batch}: {reason}"
            regime = unfitted
            notes = (f"{at}; regimes are those of trainings that fit every point",)
        elif verdict is None:
            notes = (self._lacking(slopes), *notes)
        else:
            regime, confidence = verdict.regime, verdict.confidence
            is_between = abs(verdict.third) <= THIRD and verdict.share >= CONFIDENCE
            if regime == "unclear" and verdict.decided and is_between:
                between = verdict.largest
            elif regime == "unclear":
                notes = (self._unclear(verdict, int(both.sum())), *notes)
        return Local(
            regime=regime,
            confidence=confidence,
            lr=in_lr,
            batch=in_batch,
            seeds=int(both.sum()),
            notes=notes,
            between=between,
        )

    def _slopes(self) -> tuple[FloatArray, dict[str, set[str]]]:
        """Slopes `[lr or batch, seed]`, and which sides they lack, by the name of the slope."""
        cells = (self.middle, *self.rates, *self.batches)
        seeds = self.observations.seeds(cells)
        middle, *around = self.observations.table(cells, seeds)
        out, lacking = np.full((2, len(seeds)), np.nan), {}
        for k, (name, places) in enumerate((("lr", self.rates), ("batch", self.batches))):
            x = [math.log2(place[k] / self.middle[k]) for place in places]
            below, above = (np.where(x[i] != 0, around[2 * k + i], np.nan) for i in (0, 1))
            lower, upper = np.isfinite(below), np.isfinite(above)
            left, right = np.where(lower, below, middle), np.where(upper, above, middle)
            span = np.where(upper, x[1], 0.0) - np.where(lower, x[0], 0.0)
            np.divide(right - left, span, out=out[k], where=span > 0)
            # A point that is of no use itself has no regime, whatever lies around it.
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
        return interval(float(there.mean()), copies)

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
        named = bool(share >= CONFIDENCE and distance <= REACH)
        outside = bool(np.mean(far <= REACH) <= 1 - LEVEL)
        weights = _weights(mean)
        third = int(weights.argmin())
        first, second = (NAMES[k] for k in range(len(NAMES)) if k != third)
        return _Verdict(
            regime=NAMES[int(index)] if named else "unclear",
            confidence=share,
            decided=named or outside,
            largest=(first, second),
            third=float(weights[third]),
            share=float(np.mean(_weights(copies).argmin(axis=-1) == third)),
        )

    def is_precise(self) -> bool:
        slopes, _ = self._slopes()
        if self._unfitted() is not None or not np.isfinite(slopes).any():
            return True
        verdict = self._verdict(slopes)
        return verdict is not None and verdict.decided

    def _unfitted(self) -> Regime | None:
        """The regime of a point whose runs mostly diverge, or are never fitted."""
        statuses = Counter(run.status for run in self.observations.outcomes([self.middle]))
        if statuses["diverged"] > statuses["fitted"]:
            return "diverged"
        return "missing" if statuses and not statuses["fitted"] else None

    def _lacking(self, slopes: FloatArray) -> str:
        seeds = np.isfinite(slopes).sum(axis=1)
        reason = left_out(self.observations.outcomes((self.middle, *self.rates, *self.batches)))
        if reason:
            enough = int(np.isfinite(slopes).all(axis=0).sum())
            return f"seeds with both slopes: {enough}, two are needed: {reason}"
        if set(self.batches) == {self.middle}:
            return f"no slope in batch: {self.batch} is the only batch there is"
        if seeds[0] != seeds[1]:
            return "runs next to it are missing"
        return f"{seeds.max()} seeds: two are needed to separate a slope from noise"

    def _side_notes(self, sides: dict[str, set[str]]) -> tuple[str, ...]:
        notes = []
        for (name, lacking), cells in zip(sides.items(), (self.rates, self.batches), strict=True):
            for side, cell in zip(("below", "above"), cells, strict=True):
                if side in lacking:
                    reason = left_out(self.observations.outcomes([cell]))
                    at = f"at lr {cell[0]:g} and batch {cell[1]}, {reason or 'runs are missing'}"
                    notes.append(f"the slope in {name} is one-sided in some seeds: {at}")
        return tuple(notes)

    def _unclear(self, verdict: _Verdict, seeds: int) -> str:
        first, second = verdict.largest
        if not verdict.decided:
            return (
                f"{seeds} seeds leave open whether it is {first}, {second} or between them: "
                "more seeds are needed"
            )
        if verdict.third < -THIRD:
            return "no regime and no crossover has such slopes"
        if verdict.third > THIRD:
            return "its slopes lie between all three regimes"
        return f"it is a crossover, and {seeds} seeds leave open between which regimes"


def _weights(slopes: FloatArray) -> FloatArray:
    """Of the regimes in slopes `[..., lr or batch]`, which are their mean: they add up to 1.

    >>> _weights(np.array([0.78, -0.50])).round(2).tolist(), NAMES
    ([0.5, 0.28, 0.22], ('noise-dominated', 'first-step-dominated', 'GD'))
    """
    in_lr, in_batch = slopes[..., 0], slopes[..., 1]
    return np.stack([-in_batch, in_lr + in_batch, 1 - in_lr], axis=-1)
