"""The user's question: which learner asks what, at which size, in what order.

First `B*` at the smaller sizes, each telling the next where to look; then, at the largest size that
fits into the budget, the regime, `B*`, and last the GD line, whose trainings are the longest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from sgdphase.diagnose.answer import Diagnosis, Size
from sgdphase.diagnose.boundary import Critical, CriticalBatch
from sgdphase.diagnose.first_step import first_step_share
from sgdphase.diagnose.gd_line import GdLine
from sgdphase.diagnose.growth import growth
from sgdphase.diagnose.learner import Trial
from sgdphase.diagnose.limits import carried, limits, regime_at
from sgdphase.diagnose.schedule import Schedule
from sgdphase.diagnose.session import Session
from sgdphase.diagnose.slopes import Local, LocalSlopes
from sgdphase.diagnose.words import shown
from sgdphase.diagram import Estimate, LinePoint
from sgdphase.sweep import Run

__all__ = ["Question"]

# Over which the learning rate is divided where small batches are not fitted.
_ROWS = (1, 16, 256)


@dataclass(frozen=True)
class _Found:
    """The regime and the GD line at one size, and `B*` at some, which may reach further."""

    measured_at: int
    local: Local
    sizes: tuple[Size, ...]
    line: tuple[LinePoint, ...]
    unknown: tuple[str, ...]


@dataclass
class Question:
    """The user's point, the sizes that there are (all are looked at if they are `fixed`), and
    what was found on the way: sizes that were measured at, what stays unknown, the noise scales.
    """

    session: Session
    lr: float
    batch: int
    seeds: int
    ladder: tuple[int, ...]
    fixed: bool
    sizes: list[int] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    noise_scale: dict[str, float] = field(default_factory=dict)

    @property
    def row(self) -> float:
        """The power of 4 nearest to the learning rate: questions at others share its runs."""
        return float(4.0 ** round(math.log(self.lr, 4)))

    @property
    def _schedule(self) -> Schedule:
        return Schedule(self.session, self.lr, self.batch, self.ladder, self.fixed)

    @property
    def _common(self) -> dict[str, Any]:
        """What every learner is told of the trainings."""
        return {"smallest_batch": self.session.brought.smallest_batch, "seeds": self.seeds}

    def answered(self, started: float) -> Diagnosis:
        session, own = self.session, self.session.brought
        full = own.train_size or self.ladder[-1]
        found = self._found()
        largest, local = found.measured_at, found.local
        known = {s.train_size for s in found.sizes if s.critical_batch is not None}
        scaling = growth(found.sizes, sorted({full, 10 * full} - known))
        unknown = list(found.unknown)
        if scaling is None:
            unknown.append("how B* grows with the data: it takes B* at two train sizes")
        if session.is_over:
            unknown.insert(0, self._schedule.what_it_takes(self.sizes))
        at_full = found.sizes[-1].critical_batch
        if full not in known:
            at_full = None if scaling is None else scaling.extrapolated[full]
        expected, regimes, line = local.regime, local.between, found.line
        if largest < full:
            line = carried(found.line, at_full)
            expected = regime_at(local.regime, self.lr, self.batch, at_full, line)
            regimes = None
        temperature, rate = limits(regimes or (expected,), self.lr, self.batch, full, at_full, line)
        runs = session.used_runs()
        return Diagnosis(
            lr=self.lr,
            batch=self.batch,
            train_size=full,
            measured_at=largest,
            regime=local.regime,
            between=local.between,
            confidence=local.confidence,
            expected=expected,
            slopes={"lr": local.lr, "batch": local.batch},
            sizes=tuple(replace(s, trainings=len(session.used[s.train_size])) for s in found.sizes),
            gd_line=found.line,
            constant_temperature=temperature,
            constant_lr=rate,
            scaling=scaling,
            first_step_share=first_step_share(self._runs_here(largest)),
            noise_scale=self.noise_scale,
            warnings=own.warnings,
            unknown=tuple(dict.fromkeys(unknown)),
            trainings=len(runs),
            seconds=monotonic() - started,
            settings=own.settings(),
            runs=runs,
        )

    def _found(self) -> _Found:
        """At the sizes that were planned, and at larger ones while there is time.

        The cheap sizes come first: whatever happens, they are known, and tell where to look.
        """
        self.sizes, further = self._schedule.sizes()
        *smaller, largest = self.sizes
        sizes: list[Size] = []
        for size in smaller:
            sizes.append(self._critical_batch(size, sizes))
        local = self._local(largest)
        self.noise_scale = self._noise_scale(largest)
        sizes.append(self._critical_batch(largest, sizes))
        line = self._gd_line(largest, sizes[-1].critical_batch)
        found = _Found(largest, local, tuple(sizes), line, tuple(self.unknown))
        for size in further:
            if not self._schedule.fits(size, self.sizes[-1]):
                break
            found = self._further(found, size)
        return found

    def _further(self, found: _Found, size: int) -> _Found:
        """`B*` at a larger size, and all the rest if there is time; what was complete stands."""
        self.sizes.append(size)
        more = self._critical_batch(size, found.sizes)
        if more.critical_batch is None:
            return found
        found = replace(found, sizes=(*found.sizes, more))
        self.unknown.clear()
        local = self._local(size)
        line = self._gd_line(size, more.critical_batch)
        if self.session.is_over:
            return found
        return _Found(size, local, found.sizes, line, tuple(self.unknown))

    def _local(self, size: int) -> Local:
        learner = LocalSlopes(self.lr, self.batch, size, **self._common)
        done = self.session.learn(learner, size, "the regime at your point")
        local = learner.answer()
        self._note("the regime at your point", local.notes, done)
        said: str = {"missing": "not fitted", "unclear": "not clear"}.get(
            local.regime, local.regime
        )
        if local.between is not None:
            said = f"between {' and '.join(local.between)}"
        self.session.report(f"your point at {size} points: {said}")
        return local

    def _critical_batch(self, size: int, smaller: Sequence[Size]) -> Size:
        """`B*` at a size; that of the size below tells where to look."""
        known = [s.critical_batch.value for s in smaller if s.critical_batch is not None]
        answer, done = self._critical(size, known[-1] if known else None)
        here, what = answer.critical_batch, f"B* at {size} points"
        if here is None:
            self._note(what, answer.notes, done)
        else:
            if not done:
                self.unknown.append(f"{what} more closely: the budget was spent")
            self.session.report(f"{what}: {shown(here)}")
        return Size(size, here, notes=answer.notes)

    def _critical(self, size: int, guess: float | None) -> tuple[Critical, bool]:
        """In the row of the user's learning rate, or in one below if that is too noisy."""
        for lower in _ROWS:
            learner = CriticalBatch(self.row / lower, size, guess=guess, **self._common)
            done = self.session.learn(learner, size, f"B* at {size} points")
            answer = learner.answer()
            if not done or not answer.too_noisy:
                break
        return answer, done

    def _gd_line(self, size: int, critical: Estimate | None) -> tuple[LinePoint, ...]:
        if critical is None:
            self.unknown.append(f"the GD line at {size} points: it takes B* there")
            return ()
        learner = GdLine(self.row, critical.value, size, **self._common)
        done = self.session.learn(learner, size, "the GD line")
        answer = learner.answer()
        self._note("the GD line", answer.notes, done)
        return answer.points

    def _note(self, what: str, notes: Sequence[str], done: bool) -> None:
        if not done:
            self.unknown.append(f"{what}: the budget was spent")
        else:
            self.unknown.extend(f"{what}: {note}" for note in notes)

    def _runs_here(self, size: int) -> list[Run]:
        """Of this question, at the user's point."""
        here = (self.lr, self.batch)
        return [
            self.session.runs[size][trial]
            for trial in sorted(self.session.used[size])
            if (trial.lr, trial.batch) == here
        ]

    def _noise_scale(self, size: int) -> dict[str, float]:
        if self.session.brought.train_size is None or self.session.is_over:
            return {}
        from sgdphase.networks.own import noise_scales

        trial = Trial(self.lr, min(self.batch, size), 0)
        return noise_scales(self.session.brought.training(trial, size))
