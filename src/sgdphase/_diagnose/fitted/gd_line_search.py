"""The search of the GD line at a batch below `B*` and one above: where `m` is twice GD's.

At small `lr` the alignment does not depend on it: `m = m_gd`. Runs there cost most, as `batch/lr`,
so the plateau is searched once, at the smaller batch, by factors of 4 in `lr` down to where `log m`
is about flat, and both batches are compared with it within seeds. Just above the plateau, about
`m = m_gd + c lr`; so the two lowest runs give `m_gd` without the rest of that rise. The law is not
exact: half of this correction counts as an error that all seeds share.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from sgdphase._diagnose.fitted.reasons import left_out
from sgdphase._diagnose.learner import Cell, PlaneSearcher, Search, Trial
from sgdphase.diagram import LinePoint
from sgdphase.diagram._boundaries import crossing
from sgdphase.stats import REPLICATES, interval, nearest_power, seed_means, seed_replicates

STEP = 4.0
STEPS = 10  # of that size at most, in each direction
# Slope of log m over a step. m = m_gd + c lr is then within 9 % of m_gd at the lower end.
FLAT = 0.15
AWAY = 4  # from B*, of the batches at which the line is measured
LINE = 1.0  # octaves of m over m_gd
TOLERANCE = 0.5
# Octaves of m between the line and the ends of a bracket, so that it still is one under noise: few
# at the lower end, where runs cost most, and many at the upper end.
BELOW, ABOVE = 0.25, 0.75


@dataclass(frozen=True)
class GdPoints:
    """Points of the GD line, and why there are no more."""

    points: tuple[LinePoint, ...]
    notes: tuple[str, ...] = ()


@dataclass
class _State:
    """The two lowest learning rates of the plateau, and those around the line by batch."""

    plateau: tuple[float, float] | None = None
    brackets: dict[int, tuple[float, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    ended: bool = False


@dataclass
class GdLineSearch(PlaneSearcher):
    """Asks for runs until each point is known to `TOLERANCE` octaves of `lr`, or seeds end."""

    lr: float
    critical_batch: float
    train_size: int
    _state: _State = field(default_factory=_State, init=False, repr=False)

    @property
    def batches(self) -> tuple[int, ...]:
        """About `B*/4` and `4 B*`, the cheaper first; many questions share powers of two."""
        wanted = (self.critical_batch / AWAY, self.critical_batch * AWAY)
        low, high = self.smallest_batch, self.train_size
        return tuple(dict.fromkeys(min(max(nearest_power(b), low), high) for b in wanted))

    def answer(self) -> GdPoints:
        self.ask()
        state = self._state
        notes = list(state.notes)
        points = []
        for batch in state.brackets:
            point = self._point(batch)
            if point is None:
                notes.append(f"at batch {batch} the mean over seeds does not cross the GD line")
                continue
            points.append(point)
            if not self._narrow(point):
                notes.append(
                    f"the GD line at batch {batch} is not known well: more seeds are needed"
                )
        if not state.ended:
            notes.append("the search for the GD line has not ended: it needs the runs it asks for")
        return GdPoints(tuple(points), tuple(notes))

    def search(self) -> Search:
        self._state = state = _State()
        yield from self._find_plateau()
        if state.plateau is None:
            state.ended = True
            return
        start = state.plateau[1]
        for batch in self.batches:
            start = yield from self._bracket(batch, start)
        if state.brackets:
            yield from self.add_seeds(self._cells(), 1, at_once=(1, 1))
        state.ended = True

    def _find_plateau(self) -> Search:
        batch, x = self.batches[0], self.lr
        for _ in range(STEPS):
            low = x / STEP
            yield (Trial(x, batch, 0), Trial(low, batch, 0))
            upper, lower = (self.observations.log((lr, batch), 0) for lr in (x, low))
            if math.isfinite(upper) and math.isnan(lower):
                self._state.notes.append(
                    f"no GD plateau at batch {batch} down to lr {x:g}, and at lr {low:g}: "
                    f"{self._left_out([(low, batch)])}"
                )
                return
            if (upper - lower) / math.log2(STEP) < FLAT:
                self._state.plateau = (low, x)
                return
            x = low
        tried = [(self.lr / STEP**k, batch) for k in range(STEPS + 1)]
        reason = self._left_out(tried) or "the alignment still falls with lr"
        self._state.notes.append(f"no GD plateau at batch {batch} down to lr {x:g}: {reason}")

    def _bracket(self, batch: int, start: float) -> Generator[tuple[Trial, ...], None, float]:
        """Learning rates around the line, a factor 4 apart and one between; where to start next."""
        low = yield from self._below(batch, start)
        if low is None:
            tried = [(trial.lr, batch) for trial in self.observations.runs if trial.batch == batch]
            reason = self._left_out(tried) or "all are above it"
            self._state.notes.append(f"no run at batch {batch} is below the GD line: {reason}")
            return start
        rates = [low]
        while self._rise((rates[-1], batch)) < LINE + ABOVE and len(rates) <= STEPS:
            for step in (STEP, STEP / 2):  # the smaller one where the larger is too much
                yield (Trial(rates[-1] * step, batch, 0),)
                if math.isfinite(self._rise((rates[-1] * step, batch))):
                    rates.append(rates[-1] * step)
                    break
            else:
                break
        rises = [self._rise((x, batch)) for x in rates]
        if rises[-1] < LINE:
            reason = self._left_out((rates[-1] * step, batch) for step in (STEP, STEP / 2))
            ends = f", and above it {reason}: there the line ends" if reason else ""
            self._state.notes.append(
                f"at batch {batch} the alignment is below {2**LINE:g} times GD's up to lr "
                f"{rates[-1]:g}{ends}"
            )
            return start
        upper = next(i for i, rise in enumerate(rises) if rise >= LINE)
        lower = max(i for i in range(upper) if rises[i] <= LINE - BELOW)
        kept = rates[lower:]
        if batch == self.batches[0]:
            kept += self._state.plateau or ()  # run anyway, and low enough for any noise
        if rates[upper] == STEP * rates[upper - 1]:
            kept.append(rates[upper] / 2)
            yield (Trial(rates[upper] / 2, batch, 0),)
        self._state.brackets[batch] = tuple(sorted(set(kept)))
        # The line rises with the batch, and runs far below it cost most.
        return rates[upper]

    def _below(self, batch: int, start: float) -> Generator[tuple[Trial, ...], None, float | None]:
        """A learning rate below the line: down from `start`, or up if that is not fitted."""
        x, step = start, 1 / STEP
        for _ in range(STEPS):
            yield (Trial(x, batch, 0),)
            rise = self._rise((x, batch))
            if rise <= LINE - BELOW:
                return x
            if math.isnan(rise):
                # Lower rates are no better on the way down, and cost more.
                if x < start:
                    return None
                step = STEP
            elif step > 1:
                return None
            x *= step
        return None

    def _left_out(self, cells: Iterable[Cell]) -> str:
        """Why runs of seed 0 in some cells are of no use."""
        trials = [Trial(*cell, 0) for cell in cells]
        runs = self.observations.runs
        return left_out(runs[trial] for trial in dict.fromkeys(trials) if trial in runs)

    def _cells(self) -> list[Cell]:
        plateau = [(lr, self.batches[0]) for lr in self._state.plateau or ()]
        around = [(lr, b) for b, rates in self._state.brackets.items() for lr in rates]
        return list(dict.fromkeys([*plateau, *around]))

    def _plateau(self, seed: int) -> tuple[float, float]:
        """`log2 m_gd` of a seed from its two lowest runs, and the correction to the lowest."""
        plateau = self._state.plateau or ()
        low, high = (self.observations.log((lr, self.batches[0]), seed) for lr in plateau)
        ratio = min(2.0 ** (high - low), STEP / 2)  # noise must not turn m_gd negative
        left = math.log2((STEP - 1) / (STEP - ratio))
        return low - left, left

    def _rise(self, cell: Cell) -> float:
        """`log2 m/m_gd` of seed 0."""
        return self.observations.log(cell, 0) - self._plateau(0)[0]

    def _point(self, batch: int) -> LinePoint | None:
        """Where the mean over seeds of `log(m/m_gd)`, interpolated in `log lr`, meets the line."""
        rates = self._state.brackets[batch]
        seeds = self.observations.seeds(self._cells())
        gd, left = np.array([self._plateau(seed) for seed in seeds]).T
        rise = self.observations.table([(lr, batch) for lr in rates], seeds) - gd
        there = np.isfinite(rise)
        rise = rise[:, there.any(axis=0)]
        known = there.sum(axis=1) >= max(there.sum(axis=1).max(initial=0) / 2, 1)
        if known.sum() < 2:
            return None
        x = np.log2(rates)[known]
        rng = np.random.default_rng(0)
        copies = seed_replicates(rise[known], rng, REPLICATES)
        copies += np.nanmean(left) / 2 * rng.standard_normal((REPLICATES, 1))
        place = float(crossing(x, seed_means(rise[known])[None], LINE)[0])
        if not x[0] < place < x[-1]:
            return None
        estimate = interval(place, crossing(x, copies, LINE))
        # Replicates that cross beyond the runs are put at their end: no bound is known there.
        low = estimate.low if estimate.low > x[0] else math.nan
        high = estimate.high if estimate.high < x[-1] else math.nan
        return LinePoint(
            float(batch), replace(estimate, low=low, high=high).mapped(lambda x: 2.0**x)
        )

    def _narrow(self, point: LinePoint) -> bool:
        return bool(point.lr.high / point.lr.low <= 4.0**TOLERANCE)

    def is_precise(self) -> bool:
        points = [self._point(batch) for batch in self._state.brackets]
        return all(point is not None and self._narrow(point) for point in points)
