"""The user's question: which learner runs at which size, in what order.

First `B*` at the smaller sizes, each with the last one as its guess; then, at the largest size that
fits the budget, the regime, `B*`, and last the GD line, whose trainings are the longest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import numpy as np

from sgdphase._diagnose.fitted.answer import FittedDiagnosis, Size
from sgdphase._diagnose.fitted.boundary import CriticalBatchSearch
from sgdphase._diagnose.fitted.gd_line_search import GdLineSearch
from sgdphase._diagnose.fitted.growth import growth
from sgdphase._diagnose.fitted.limits import carried, limits, regime_at
from sgdphase._diagnose.fitted.reasons import left_out, unusable
from sgdphase._diagnose.fitted.schedule import Schedule
from sgdphase._diagnose.fitted.slopes import Local, LocalSlopes
from sgdphase._diagnose.learner import Searcher
from sgdphase._diagnose.runner import Runner
from sgdphase._sweep import Run
from sgdphase.diagram import LinePoint
from sgdphase.stats import REPLICATES, Estimate, interval, seed_means, seed_replicates, shown

# The learning rate is divided by these in turn if small batches are of no use.
_ROWS = (1, 16, 256)
# Per point, if it does not start with more.
_MOST_SEEDS = 12
_REGIME, _LINE = "the regime of your training", "the GD line"


@dataclass
class Question:
    """The user's point, the ladder of sizes (all are measured if it is `fixed`), and the state.

    The state: the measured sizes, notes by topic and size, the noise scales, and whether the budget
    `cut` it short.
    """

    runner: Runner
    lr: float
    batch: int
    seeds: int
    ladder: tuple[int, ...]
    fixed: bool
    sizes: list[int] = field(default_factory=list)
    notes: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    noise_scale: dict[str, float] = field(default_factory=dict)
    cut: bool = False

    @property
    def row(self) -> float:
        """The power of 4 nearest to the learning rate: questions at others share its runs."""
        return float(4.0 ** round(math.log(self.lr, 4)))

    @property
    def _schedule(self) -> Schedule:
        return Schedule(self.runner, self.lr, self.batch, self.ladder, self.fixed)

    @property
    def _common(self) -> dict[str, Any]:
        return {
            "smallest_batch": self.runner.user.smallest_batch,
            "seeds": self.seeds,
            "most_seeds": max(self.seeds, _MOST_SEEDS),
        }

    def answered(self, started: float) -> FittedDiagnosis:
        """The answer, `started` at a time of `time.monotonic`."""
        runner, user = self.runner, self.runner.user
        full = user.train_size or self.ladder[-1]
        sizes, at, local, lines = self._measured()
        known = {s.train_size: s.critical_batch for s in sizes if s.critical_batch}
        scaling = growth(sizes, sorted({full, 10 * full} - known.keys()))
        at_full = known.get(full) or (scaling.extrapolated[full] if scaling else None)
        line = lines.get(full, ())
        if not line and lines:
            line = carried(lines[max(lines)], at_full)
        expected, regimes = local.regime, local.between
        point: Any = {"lr": self.lr, "batch": self.batch, "critical": at_full, "line": line}
        if at < full:
            expected, regimes = regime_at(local.regime, **point), None
        temperature, rate = limits(regimes or (expected,), train_size=full, **point)
        runs = runner.used_runs()
        named = local.regime not in ("unclear", "diverged", "missing") or local.between is not None
        return FittedDiagnosis(
            lr=self.lr,
            batch=self.batch,
            train_size=full,
            measured_at=at,
            regime=local.regime,
            between=local.between,
            confidence=local.confidence,
            expected=expected,
            slopes={"lr": local.lr, "batch": local.batch},
            sizes=tuple(
                replace(s, trainings=len(runner.used.get(s.train_size, ()))) for s in sizes
            ),
            gd_line=lines.get(at, ()),
            constant_temperature=temperature,
            constant_lr=rate,
            scaling=scaling,
            first_step_share=self._first_step_share(at),
            noise_scale=self.noise_scale,
            warnings=(*user.warnings, *_warnings(runs)),
            unknown=self._unknown(at, grows=scaling is not None),
            trainings=len(runs),
            seconds=monotonic() - started,
            reason="" if named else next(iter(self.notes.get((_REGIME, at), ())), ""),
            settings=user.settings(),
            runs=runs,
        )

    def _unknown(self, measured_at: int, *, grows: bool) -> tuple[str, ...]:
        """What is not known, and why: of the regime and the GD line where they were measured."""
        lines = [self._schedule.what_it_takes(self.sizes)] if self.cut else []
        for (what, size), notes in self.notes.items():
            if size >= measured_at or what not in (_REGIME, _LINE):
                lines += [f"{what} at {size} points: {note}" for note in notes]
        if not grows:
            lines.append("how B* grows with the data: it takes B* at two train sizes")
        return tuple(dict.fromkeys(lines))

    def _measured(self) -> tuple[list[Size], int, Local, dict[int, tuple[LinePoint, ...]]]:
        """`B*` by size, the largest size that has a regime and that regime, and GD lines by size.

        The cheap sizes come first: whatever happens, they are known, and tell where to look. Then
        the other sizes that were planned, and larger ones while there is time.
        """
        self.sizes, further = self._schedule.sizes()
        *smaller, at = self.sizes
        sizes: list[Size] = []
        for size in smaller:
            sizes.append(self._critical_batch(size, sizes))
        local = self._local(at)
        self.noise_scale = self._noise_scale(at)
        sizes.append(self._critical_batch(at, sizes))
        lines = self._gd_line(sizes[-1])
        for size in further:
            if reason := self._schedule.too_long(size, self.sizes[-1]):
                self.notes[_REGIME, size] = (reason,)
                break
            self.sizes.append(size)
            sizes.append(self._critical_batch(size, sizes))
            there = self._local(size)
            # The regime at the smaller size stands where that at the larger one is not known.
            if there.regime != "unclear" or there.between is not None:
                local, at = there, size
            lines |= self._gd_line(sizes[-1])
        return sizes, at, local, lines

    def _learn(self, learner: Searcher, size: int, what: str) -> bool:
        done = self.runner.learn(learner, size, what)
        self.cut |= not done
        return done

    def _note(self, what: str, size: int, notes: Sequence[str], done: bool) -> None:
        self.notes[what, size] = tuple(notes) if done else ("the budget was spent",)

    def _local(self, size: int) -> Local:
        learner = LocalSlopes(self.lr, self.batch, size, **self._common)
        done = self._learn(learner, size, _REGIME)
        local = learner.answer()
        # Runs that are not fitted are a reason, whatever else the budget would have bought.
        self._note(_REGIME, size, local.notes, done or local.regime in ("missing", "diverged"))
        text = {"missing": "not fitted", "unclear": "not clear"}.get(local.regime, local.regime)
        if local.between is not None:
            text = f"between {' and '.join(local.between)}"
        self.runner.report(f"your point at {size} points: {text}")
        return local

    def _critical_batch(self, size: int, smaller: Sequence[Size]) -> Size:
        """`B*` at a size; the search starts from that of the size below.

        In the row of the user's learning rate, or in one below if that is too noisy.
        """
        known = [s.critical_batch.value for s in smaller if s.critical_batch is not None]
        guess = known[-1] if known else None
        for lower in _ROWS:
            learner = CriticalBatchSearch(self.row / lower, size, guess=guess, **self._common)
            done = self._learn(learner, size, f"B* at {size} points")
            answer = learner.answer()
            if not done or not answer.too_noisy:
                break
        if answer.critical_batch is None:
            self._note("B*", size, answer.notes, done)
        else:
            if not done:
                self.notes["B* more closely", size] = ("the budget was spent",)
            self.runner.report(f"B* at {size} points: {shown(answer.critical_batch)}")
        return Size(size, answer.critical_batch, notes=answer.notes)

    def _gd_line(self, size: Size) -> dict[int, tuple[LinePoint, ...]]:
        """Its points, if any, under the size."""
        points, critical = size.train_size, size.critical_batch
        if critical is None:
            self.notes[_LINE, points] = ("B* at this size is needed",)
            return {}
        learner = GdLineSearch(self.row, critical.value, points, **self._common)
        done = self._learn(learner, points, _LINE)
        answer = learner.answer()
        self._note(_LINE, points, answer.notes, done)
        return {points: answer.points} if answer.points else {}

    def _first_step_share(self, size: int) -> Estimate | None:
        """The alignment after one step over that at the end; the mean over the user's fitted runs.

        There is one run per seed; None if no run has it.
        """
        shares = []
        for trial in sorted(self.runner.used.get(size, ())):
            outcome = self.runner.runs[size][trial].outcome
            last = outcome.observables.get("alignment", math.nan)
            first = outcome.observables.get("first_step_alignment", math.nan)
            is_here = (trial.lr, trial.batch) == (self.lr, self.batch)
            if is_here and outcome.status == "fitted" and math.isfinite(first) and last > 0:
                shares.append(first / last)
        if not shares:
            return None
        copies = seed_replicates([shares], np.random.default_rng(0), REPLICATES)
        return interval(float(seed_means([shares])[0]), copies[:, 0])

    def _noise_scale(self, size: int) -> dict[str, float]:
        if self.runner.user.train_size is None or self.runner.is_over:
            return {}
        from sgdphase._own.fitted import noise_scales

        batch = min(self.batch, size)
        training = self.runner.user.training(lr=self.lr, batch=batch, seed=0, train_size=size)
        return noise_scales(training)


def _warnings(runs: Sequence[Run]) -> list[str]:
    """Of runs that are of no use, unless they only diverged: that is how far a search goes."""
    reasons = {unusable(run.outcome) for run in runs}
    if reasons <= {"", "diverged"}:
        return []
    waited = [run.seconds for run in runs if unusable(run.outcome) == "given up"]
    return [f"left out: {left_out((run.outcome for run in runs), waited)}"]
