"""`B*` near a learning rate, by a search instead of a grid.

In a row of fixed `lr`, high enough that large batches are first-step-dominated, `m/lr` is `a/batch`
at small batches and `b` at large ones, and `B* = a/b` is where the two laws cross. So: find such a
row; go down in batch until `m` is well above `b lr`; then run where both laws are clean but near
(`B*/16` to `B*/4`, and `4 B*` to `16 B*`), and take `log a - log b` over those cells within seeds,
as for a whole diagram (`diagram._boundaries.critical_batch`). Seeds are added as needed.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import KW_ONLY, dataclass, field

from sgdphase._diagnose.fitted.crossover import Crossover, Side, crossover
from sgdphase._diagnose.fitted.reasons import left_out
from sgdphase._diagnose.fitted.row import STEP, row_search
from sgdphase._diagnose.learner import PlaneSearcher, Search, Trial
from sgdphase.stats import Estimate, nearest_power

DISTANCES = (4, 8, 16)  # from B*, of the cells that a side is measured at
NEAREST = 2  # the crossover is sharp: if need be, both laws are used at B*/2 and 2 B*
ROUNDS = 4  # of moving the cells or the large batch to the latest B*
PROBES = 8  # of batches on the way down to the noise-dominated side


@dataclass(frozen=True)
class Critical:
    """`B*`, if it is known, in the row `lr`.

    If small batches are of no use in the row (`too_noisy`), a row of lower lr may give it. `notes`
    say why it is not known, and what is needed.
    """

    critical_batch: Estimate | None
    lr: float | None
    notes: tuple[str, ...] = ()
    too_noisy: bool = False


@dataclass
class _State:
    lr: float = math.nan  # of the row, once it is known
    large: int = 0  # the batch of the row search
    noise: tuple[int, ...] = ()
    first: tuple[int, ...] = ()
    too_noisy: bool = False
    why: str = "the search for the two sides of B* has not ended: it needs the runs it asks for"


@dataclass
class CriticalBatchSearch(PlaneSearcher):
    """Asks for runs until `B*` has an interval of half width `tolerance` octaves, or seeds end.

    The row is `lr` or above. A `guess`, such as `B*` of another train size, only shortens the
    search.
    """

    lr: float
    train_size: int
    _: KW_ONLY
    guess: float | None = None
    tolerance: float = 0.5
    _state: _State = field(default_factory=_State, init=False, repr=False)

    def answer(self) -> Critical:
        self.ask()
        state = self._state
        lr = None if math.isnan(state.lr) else state.lr
        if not state.noise or not state.first:
            return Critical(None, lr, (state.why,), state.too_noisy)
        fit = self._fit()
        if fit is None:
            reason = self._left_out((*state.noise, *state.first))
            why = f"at lr {lr:g} no seed can be used on both sides of B*: {reason}"
            return Critical(None, lr, (why,))
        if fit.missing_law:
            return Critical(None, lr, (fit.missing_law,))
        return Critical(fit.critical_batch, lr, self._notes(fit))

    def search(self) -> Search:
        self._state = state = _State()
        # Without a guess: B* of the paper's model grows as the root of the train size at chi = 1.
        batch = self._allowed(8 * (self.guess or math.sqrt(self.train_size)))
        lr, estimate = self.lr, None
        for _ in range(ROUNDS):
            row, why = yield from row_search(self.observations, lr, batch)
            if row is None:
                state.lr, state.why = math.nan, why
                return
            state.lr, state.large, lr = row, batch, row
            estimate = yield from self._noise_side(batch)
            if estimate is None:
                return
            if estimate <= batch / NEAREST or batch == self.train_size:
                break
            # m still falls with the batch up to the large one: it is not large enough.
            batch = self._allowed(max(8 * estimate, NEAREST * batch))
        if estimate is not None:
            yield from self._both_sides(estimate)

    def _noise_side(self, large: int) -> Generator[tuple[Trial, ...], None, float | None]:
        """A first `B* = batch m/m_large` from a batch at which `m` is well above the large one's.

        The power law of the noise makes it `B*` already; None if there is no such batch.
        """
        state, lr = self._state, self._state.lr
        start = self.guess / 8 if self.guess else large / 64
        batch = min(self._allowed(start), large)
        for _ in range(PROBES):
            yield (Trial(lr, batch, 0),)
            rise = self._level(batch) - self._level(large)
            lowest = self._lowest(large)
            if math.isnan(rise):
                batch = 4 * batch
                if batch > large / NEAREST:
                    self._too_noisy(large, f"no run below batch {large} can be used")
                    return None
            elif rise >= 2 or batch <= lowest:
                break
            else:
                batch = max(self._allowed(batch / 16), lowest)
        if math.isnan(rise) or (rise < 1 and lowest > self.smallest_batch):
            self._too_noisy(large, "batches small enough for noise cannot be used")
            return None
        if rise < 1:
            state.why = self._bound_below(lowest)
            return None
        return float(batch * 2**rise)

    def _too_noisy(self, large: int, what: str) -> None:
        reason = self._left_out(self._batches_below(large))
        self._state.too_noisy, self._state.why = True, f"at lr {self._state.lr:g} {what}: {reason}"

    def _both_sides(self, estimate: float) -> Search:
        """The cells around `B*`, first of one seed to see that they are well placed, then more."""
        state, lr = self._state, self._state.lr
        for _ in range(ROUNDS):
            centre = nearest_power(estimate)
            noise, first = self._around(centre, self._lowest(centre))
            if not first or not noise:
                above = f"B* is above {self.train_size / NEAREST:g}, half of the train size"
                state.noise, state.why = (), f"{above}: a larger train size is needed"
                if first:
                    state.why = self._bound_below(self._lowest(centre))
                return
            yield tuple(Trial(lr, batch, 0) for batch in (*noise, *first))
            state.noise, state.first = noise, first
            if self._lowest(centre) > min(noise):
                continue
            fit = self._fit(only=(0,))
            if fit is None or abs(math.log2(fit.critical_batch.value / centre)) <= 1:
                break
            estimate = fit.critical_batch.value
        cells = [(lr, b) for b in (*noise, *first) if not math.isnan(self._level(b))]
        yield from self.add_seeds(cells, 1, at_once=(2, 1))

    def is_precise(self) -> bool:
        fit = self._fit()
        if fit is None or fit.seeds < 2:
            return False
        return fit.surely_misses_law if fit.missing_law else fit.half_width <= self.tolerance

    def _fit(self, only: tuple[int, ...] = ()) -> Crossover | None:
        """The crossover from the cells between those asked for, runs of others included."""
        lr, batches = self._state.lr, self.observations.batches(self._state.lr)
        sides = [
            [b for b in batches if side and min(side) <= b <= max(side)]
            for side in (self._state.noise, self._state.first)
        ]
        seeds = only or self.observations.seeds((lr, b) for side in sides for b in side)
        noise, first = (
            Side(b, self.observations.table([(lr, x) for x in b], seeds)) for b in sides
        )
        # m grows with lr: GD's is at most that of the run below the row, which is seed 0's.
        bound = self.observations.log((lr / STEP, self._state.large), 0)
        return crossover(noise, first, bound if math.isfinite(bound) else -math.inf)

    def _level(self, batch: int) -> float:
        return self.observations.log((self._state.lr, batch), 0)

    def _lowest(self, below: float) -> int:
        """The lowest batch worth a run: twice the largest useless one of seed 0."""
        useless = [
            batch
            for batch in self._batches_below(below)
            if Trial(self._state.lr, batch, 0) in self.observations.runs
            and math.isnan(self._level(batch))
        ]
        return max([self.smallest_batch, *(2 * b for b in useless)])

    def _batches_below(self, below: float) -> list[int]:
        return [batch for batch in self.observations.batches(self._state.lr) if batch < below]

    def _left_out(self, batches: Sequence[int]) -> str:
        return left_out(self.observations.outcomes((self._state.lr, batch) for batch in batches))

    def _allowed(self, batch: float) -> int:
        return min(max(nearest_power(batch), self.smallest_batch), self.train_size)

    def _around(self, centre: int, lowest: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Batches at which to measure the two laws, fewer where the range ends."""
        noise = [centre // d for d in DISTANCES if centre // d >= lowest]
        first = [centre * d for d in DISTANCES if centre * d <= self.train_size]
        if len(noise) < 2 and centre // NEAREST >= lowest:
            noise.append(centre // NEAREST)
        if len(noise) < 2 and lowest <= centre // NEAREST:
            noise.append(lowest)
        if len(first) < 2 and centre * NEAREST <= self.train_size:
            first = [centre * NEAREST, *first, self.train_size]
        return tuple(sorted(set(noise))), tuple(sorted(set(first)))

    def _bound_below(self, lowest: int) -> str:
        bound = f"B* is below {NEAREST * lowest}: at lr {self._state.lr:g}"
        if lowest == self.smallest_batch:
            return f"{bound} not even batch {lowest} is noise-dominated"
        reason = self._left_out(self._batches_below(lowest))
        return f"{bound} batch {lowest} is not noise-dominated, and below it {reason}"

    def _notes(self, fit: Crossover) -> tuple[str, ...]:
        notes = []
        if fit.seeds < 2:
            notes.append("one seed gives no interval: at least two are needed")
        elif fit.half_width > self.tolerance:
            notes.append(
                f"B* is known to +-{fit.half_width:.1f} octaves from {fit.seeds} seeds: "
                "more seeds are needed for a narrower interval"
            )
        for name, slope in (("noise-dominated", fit.noise), ("first-step-dominated", fit.first)):
            if slope is None:
                notes.append(f"the {name} side is a single batch: its law could not be checked")
        return tuple(notes)
