"""Trainings compared with the user's training, seed by seed.

A seed determines a split of the data, an initialisation and an order of batches, so that two
settings are compared within seeds. The progress of a training is measured by *observables*: the
training loss (unless it is next to zero), the alignment, the change of the weights. At another
batch the learning rate that *matches* an observable is where its mean difference to the user's
training crosses zero, on the branch that is continuous with small learning rates: near
instability the training loss rises again, and a second crossing there is another training.

Intervals are Student's. A setting of five seeds or more has its own deviation, or the median of all
settings if that is larger; one of fewer has that of all together: a few numbers do not determine a
deviation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.diagram._column_names import is_share
from sgdphase.diagram._training_runs import Setting, TrainingRun, went_up
from sgdphase.diagram._verdict import TOLERANCE, Verdict, part_of, verdict_of
from sgdphase.stats import LEVEL, Estimate, crossing, pooled, quantile

PROGRESS = ("train_loss", "alignment", "weight_change")
# A training loss below this part of that at the start is next to zero: it is the noise of the last
# steps, and does not measure progress.
_NEXT_TO_ZERO = 0.01
# With this many seeds or more the deviation of a setting itself counts, too.
_OWN_DEVIATION = 5
# Sign of the change of each as a training progresses. At a learning rate where one has the other
# sign, steps are too large for it, and it matches nothing.
_FURTHER = {"train_loss": -1.0, "alignment": 1.0, "weight_change": 1.0}
# Deviations are taken together if the metric is within this factor of the user's: near instability
# they are larger.
_ALIKE = 2.0
# An observable that leaves the learning rate uncertain by more than this factor is not used.
_OPEN = math.log(4)


@dataclass(frozen=True)
class Match:
    """The learning rate at which an observable is as in the user's training.

    *matched*: at `lr`. *short*: every lr so far has less progress; `ended` if larger ones do not
    have more. *beyond*: every lr so far has more progress. *flat*: it hardly depends on lr.
    """

    state: Literal["matched", "short", "beyond", "flat"]
    lr: Estimate | None = None
    ended: bool = False


class Comparison:
    """Runs by setting and seed, compared with those at `yours`; `metric` is the deciding one.

    A setting in which a seed diverged, or ended with a higher loss than it started with, is
    unstable, and has no numbers.
    """

    def __init__(
        self,
        runs: Iterable[TrainingRun],
        yours: Setting,
        *,
        metric: str,
        maximize: bool = False,
        level: float = LEVEL,
    ) -> None:
        self.yours, self.metric, self.level = yours, metric, level
        self.worse = -1.0 if maximize else 1.0
        self._runs: dict[Setting, dict[int, TrainingRun]] = {}
        for run in runs:
            self._runs.setdefault(run.setting, {})[run.seed] = run
        self.unstable = {
            setting
            for setting, by_seed in self._runs.items()
            if any(not run.metrics or went_up(run.metrics) for run in by_seed.values())
        }
        # Runs do not change any more, and a search asks for the same numbers again and again.
        for name in ("row", "values", "tolerance", "_scatter", "_mean", "_crossed"):
            setattr(self, name, cache(getattr(self, name)))

    # Settings and seeds

    @cached_property
    def settings(self) -> list[Setting]:
        """All settings with runs, sorted, unstable ones included."""
        return sorted(self._runs)

    def row(self, batch: int, *, stable: bool = True) -> list[Setting]:
        """The settings of a batch, for the user's epochs, by rising learning rate."""
        return [
            s
            for s in self.settings
            if (s.batch, s.epochs) == (batch, self.yours.epochs)
            and not (stable and (s in self.unstable or self.seeds(s) == 0))
        ]

    def seeds(self, setting: Setting) -> int:
        """Number of seeds that a setting shares with the user's."""
        ours = self._runs.get(self.yours, {})
        return sum(seed in ours for seed in self._runs.get(setting, {}))

    def steps(self, setting: Setting) -> int:
        """Steps of a training, 0 if unknown."""
        return max((run.steps for run in self._runs.get(setting, {}).values()), default=0)

    @cached_property
    def names(self) -> list[str]:
        """Every metric of the user's training."""
        runs = self._runs.get(self.yours, {}).values()
        return list(dict.fromkeys(name for run in runs for name in run.metrics))

    @cached_property
    def observables(self) -> dict[str, float]:
        """What measures progress: the metrics in `PROGRESS` that depend on lr, with their slopes.

        A training that has none of them is matched by all its other metrics, or by the only one.
        """
        named = [name for name in PROGRESS if name in self.names]
        start, end = (self.estimate(self.yours, name) for name in ("initial_loss", "train_loss"))
        if start and end and end.value < _NEXT_TO_ZERO * start.value:
            named.remove("train_loss")
        others = [name for name in self.names if name not in (self.metric, "initial_loss")]
        chosen = named or [n for n in others if n not in PROGRESS] or [self.metric]
        slopes = {name: self.slope(name) or 0.0 for name in chosen}
        return {name: s for name, s in slopes.items() if s * _FURTHER.get(name, s) > 0}

    # Numbers

    def values(self, setting: Setting, name: str) -> dict[int, float]:
        """A metric by seed; empty for an unstable setting."""
        if setting in self.unstable:
            return {}
        by_seed = self._runs.get(setting, {}).items()
        return {seed: run.metrics[name] for seed, run in by_seed if name in run.metrics}

    def _array(self, setting: Setting, name: str) -> FloatArray:
        return np.array(list(self.values(setting, name).values()), dtype=np.float64)

    def estimate(self, setting: Setting, name: str, among: int = 1) -> Estimate | None:
        """The mean of a metric, with an interval; None without values.

        Of a setting that was chosen `among` several for its mean, the interval is wider.
        """
        return self._mean(setting, name, False, among)

    def difference(self, setting: Setting, name: str, among: int = 1) -> Estimate | None:
        """The mean of a metric minus the user's, within seeds."""
        return self._mean(setting, name, True, among)

    def tolerance(self, name: str) -> float:
        """The difference in a metric that counts as the same: 5 %, or the deviation of the seeds.

        For a fraction of which more is better, as an accuracy, 5 % of what is missing to one. If
        both are zero, the smallest difference that occurs.
        """
        y = self._array(self.yours, name)
        if not y.size:
            return math.nan
        deviation = float(y.std(ddof=1)) if y.size > 1 else 0.0
        every = sorted({v for s in self.settings for v in self.values(s, name).values()})
        smallest = min((b - a for a, b in pairwise(every)), default=0.0)
        return max(self.five_percent(name), deviation) or smallest

    def five_percent(self, name: str) -> float:
        """Of the user's value; of an accuracy, of what is missing to one."""
        ours = self._array(self.yours, name)
        mean = float(ours.mean()) if ours.size else math.nan
        share = name == self.metric and self.worse < 0 and is_share(name)
        return part_of(TOLERANCE, mean, share=share)

    def is_better(self, setting: Setting, among: int) -> bool:
        """Whether a setting is clearly better than the user's, though it is the best `among` some.

        Better by 5 %, and not by chance; seeds may scatter by more than that.
        """
        change = self.difference(setting, self.metric, among)
        if change is None or not math.isfinite(change.low):
            return False
        high = max(self.worse * change.low, self.worse * change.high)
        return high < 0 and self.worse * change.value < -self.five_percent(self.metric)

    def verdict(self, setting: Setting) -> Verdict:
        """Whether the deciding metric is the same as the user's."""
        change, tolerance = self.difference(setting, self.metric), self.tolerance(self.metric)
        own = setting == self.yours
        return "the same" if own else verdict_of(change, tolerance, self.worse)

    def _numbers(self, setting: Setting, name: str, compared: bool) -> FloatArray:
        return self._differences(setting, name) if compared else self._array(setting, name)

    def _scatter(self, name: str, compared: bool) -> tuple[float, int, float]:
        """Of settings that are alike: squared deviations, degrees of freedom, usual deviation."""
        ours, alike = self._array(self.yours, name).mean(), list[FloatArray]()
        for s in self.settings:
            y = self._array(s, name)
            if not y.size or s == self.yours or s.epochs != self.yours.epochs:
                continue
            if ours <= 0 or 1 / _ALIKE <= y.mean() / ours <= _ALIKE:
                alike.append(self._numbers(s, name, compared))
        usual = [pooled([y])[0] for y in alike if y.size > 1]
        return *_squares(alike), float(np.median(usual or [0]))

    def _mean(self, setting: Setting, name: str, compared: bool, among: int) -> Estimate | None:
        """The mean of the numbers of a setting; no interval if the deviation is unknown."""
        y = self._numbers(setting, name, compared)
        if not y.size:
            return None
        squares, freedom = _squares([y])
        others, more, usual = self._scatter(name, compared)
        if y.size < _OWN_DEVIATION:
            squares, freedom, usual = squares + others, freedom + more, 0.0
        # Few seeds that scatter little do so by chance, and would be the first to be accepted.
        deviation = max(math.sqrt(squares / freedom), usual) if freedom else math.nan
        tail = (1 - self.level) / 2 / among
        half = quantile(freedom, 1 - tail) * deviation / math.sqrt(y.size)
        mean = float(y.mean())
        return Estimate(mean, mean - half, mean + half)

    def _differences(self, setting: Setting, name: str, *, log: bool = False) -> FloatArray:
        here, ours = self.values(setting, name), self.values(self.yours, name)
        pairs = [(here[seed], ours[seed]) for seed in sorted(here) if seed in ours]
        if log:
            return np.array([math.log(a / b) for a, b in pairs])
        return np.array([a - b for a, b in pairs])

    @cached_property
    def _positive(self) -> set[str]:
        """The metrics of which every value has a logarithm."""
        return {
            name
            for name in self.names
            if all(y > 0 for s in self.settings for y in self.values(s, name).values())
        }

    # Matching

    def slope(self, name: str) -> float | None:
        """Slope of an observable (of its logarithm if it has one) in log lr, below the user's lr.

        None if it is zero within the scatter of the seeds.
        """
        lower = [s for s in self.row(self.yours.batch) if s.lr < self.yours.lr]
        if not lower:
            return None
        log = name in self._positive
        span = math.log(self.yours.lr / lower[-1].lr)
        per_seed = -self._differences(lower[-1], name, log=log) / span
        beside = (self._differences(s, name, log=log) / span for s in self.row(self.yours.batch))
        deviation, freedom = pooled([d for d in beside if d.any()])
        if freedom == 0:
            # No scatter at all: any difference counts.
            return float(per_seed.mean()) if per_seed.size > 1 and per_seed.any() else None
        mean = float(per_seed.mean())
        error = deviation / math.sqrt(per_seed.size)
        return mean if abs(mean) > quantile(freedom, 0.95) * error and mean != 0 else None

    def distance(self, setting: Setting, name: str) -> float:
        """Mean distance of an observable (of its logarithm if it has one) from the user's."""
        differences = self._differences(setting, name, log=name in self._positive)
        return float(differences.mean()) if differences.size else math.nan

    def _crossed(self, name: str, batch: int, sign: float) -> Match:
        """Where a metric times `sign` crosses the user's from below."""
        row = self.row(batch)
        if not row:
            return Match("flat")
        log, sign = name in self._positive, math.copysign(1.0, sign)
        by_seed = [sign * self._differences(s, name, log=log) for s in row]
        u = np.log([s.lr for s in row])
        ahead = np.array([d.mean() for d in by_seed])
        if ahead[0] >= 0:
            return Match("beyond")
        crossings = np.flatnonzero((ahead[:-1] < 0) & (ahead[1:] >= 0))
        if not crossings.size:
            return Match("short", ended=self._has_ended(batch, by_seed, ahead))
        first = int(crossings[0])
        n = np.array([d.size for d in by_seed], dtype=np.float64)
        middle = (u[first] + u[first + 1]) / 2
        near = [d for d, x in zip(by_seed, u, strict=True) if abs(x - middle) <= math.log(2) + 1e-9]
        deviation, freedom = pooled(near)
        if freedom == 0:
            return Match("flat")
        noise = quantile(freedom, (1 + self.level) / 2) * deviation
        at = crossing(u, ahead, n, first, noise)
        if at is None or at.high - at.low > 2 * _OPEN:
            return Match("flat")
        # If the curve is flat, rates that were tried may be as good as the match.
        same = u[np.abs(ahead) <= noise / np.sqrt(n)]
        same = same[np.abs(same - at.value) <= _OPEN]
        low, high = min(at.low, *same, at.value), max(at.high, *same, at.value)
        return Match("matched", Estimate(*(math.exp(x) for x in (at.value, low, high))))

    def _has_ended(self, batch: int, by_seed: Sequence[FloatArray], ahead: FloatArray) -> bool:
        """Whether larger learning rates have no more progress: unstable, or past the best."""
        highest = self.row(batch, stable=False)[-1]
        if highest in self.unstable:
            return True
        best = int(ahead.argmax())
        if best == len(ahead) - 1:
            return False
        deviation, freedom = pooled([by_seed[best], by_seed[-1]])
        noise = deviation / math.sqrt(by_seed[-1].size) if freedom else math.inf
        return bool(ahead[best] - ahead[-1] > noise) or len(ahead) - best > 2

    def matches(self, batch: int) -> dict[str, Match]:
        """The learning rate at which each observable is as in the user's training."""
        return {name: self._crossed(name, batch, s) for name, s in self.observables.items()}

    def matched_lr(self, batch: int, by: Literal["progress", "metric"]) -> Estimate | None:
        """The learning rate with the progress, or with the deciding metric, of the user's training.

        Of progress it is the middle of the matches; the interval spans them and their noise.
        """
        if by == "metric":  # where it ceases to be worse than the user's
            return self._crossed(self.metric, batch, -self.worse).lr
        rates = [match.lr for match in self.matches(batch).values() if match.lr is not None]
        if not rates:
            return None
        middle = math.exp(float(np.median(np.log([lr.value for lr in rates]))))
        return Estimate(middle, min(lr.low for lr in rates), max(lr.high for lr in rates))

    def differs(self, setting: Setting) -> dict[str, float]:
        """Metrics other than the deciding one that are clearly not the same: relative changes."""
        changes = {}
        for name in self.names:
            if name in (self.metric, "initial_loss") or setting == self.yours:
                continue
            change, ours = self.difference(setting, name), self.estimate(self.yours, name)
            if change is None or ours is None or not math.isfinite(change.low) or not ours.value:
                continue
            tolerance = self.tolerance(name)
            if change.low > tolerance or change.high < -tolerance:
                changes[name] = change.value / abs(ours.value)
        return changes


def _squares(groups: Sequence[FloatArray]) -> tuple[float, int]:
    """The squared deviations within groups, and their degrees of freedom."""
    deviation, freedom = pooled(groups)
    return (deviation**2 * freedom if freedom else 0.0), freedom
