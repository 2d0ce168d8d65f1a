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
from dataclasses import KW_ONLY, dataclass

from sgdphase._diagnose.fitted.crossover import Crossover, Side, crossover
from sgdphase._diagnose.fitted.reasons import left_out
from sgdphase._diagnose.fitted.row import STEP, row_search
from sgdphase._diagnose.learner import Trial
from sgdphase._diagnose.observations import Search, Searcher, check_seeds, check_sizes, power_of_two
from sgdphase.errors import require
from sgdphase.stats import LEVEL, Estimate

__all__ = ["Critical", "CriticalBatch"]

DISTANCES = (4, 8, 16)  # from B*, of the cells that a side is measured at
NEAREST = 2  # the crossover is sharp: if need be, both laws are used at B*/2 and 2 B*
ROUNDS = 4  # of moving the cells or the large batch to the latest B*
PROBES = 8  # of batches on the way down to the noise-dominated side


@dataclass(frozen=True)
class Critical:
    """`B*`, if it is known, in the row `lr`, from `trials` observed runs.

    If small batches are of no use in the row (`too_noisy`), a row of lower lr may give it. `notes`
    say why it is not known, and what is needed.
    """

    critical_batch: Estimate | None
    lr: float | None
    trials: int
    notes: tuple[str, ...] = ()
    too_noisy: bool = False


@dataclass
class _State:
    """What the search knows so far."""

    lr: float | None = None
    large: int = 0  # the batch of the row search
    noise: tuple[int, ...] = ()
    first: tuple[int, ...] = ()
    too_noisy: bool = False
    why: str = "the search for the two sides of B* has not ended: it needs the runs it asks for"


@dataclass
class CriticalBatch(Searcher):
    """Asks for runs until `B*` has an interval of half width `tolerance` octaves, or seeds end.

    The row is `lr` or above. A `guess`, such as `B*` of another train size, only shortens the
    search.
    """

    lr: float
    train_size: int
    _: KW_ONLY
    smallest_batch: int = 1
    guess: float | None = None
    seeds: int = 3
    most_seeds: int = 12
    tolerance: float = 0.5
    level: float = LEVEL

    def __post_init__(self) -> None:
        guess = {} if self.guess is None else {"guess": self.guess}
        check_sizes(self.train_size, self.smallest_batch, lr=self.lr, **guess)
        check_seeds(self.seeds, self.most_seeds)
        require("tolerance", self.tolerance, lambda t: t > 0, "a number of octaves above 0")

    def search(self) -> Search:
        return self._search(_State())

    def answer(self) -> Critical:
        state = _State()
        for wanted in self._search(state):
            if self.missing(wanted):
                break
        trials = len(self.observations.runs)
        if state.lr is None or not state.noise or not state.first:
            return Critical(None, state.lr, trials, notes=(state.why,), too_noisy=state.too_noisy)
        fit = self._fit(state)
        if fit is None:
            reason = self._left_out(state.lr, (*state.noise, *state.first))
            why = f"at lr {state.lr:g} no seed can be used on both sides of B*: {reason}"
            return Critical(None, state.lr, trials, notes=(why,))
        if fit.missing_law:
            return Critical(None, state.lr, trials, notes=(fit.missing_law,))
        return Critical(fit.critical_batch, state.lr, trials, notes=self._notes(fit))

    def _search(self, state: _State) -> Search:
        # Without a guess: B* of the paper's model grows as the root of the train size at chi = 1.
        batch = self._allowed(8 * (self.guess or math.sqrt(self.train_size)))
        estimate: float | None = None
        for _ in range(ROUNDS):
            row = yield from row_search(self.observations, state.lr or self.lr, batch)
            if row.lr is None:
                state.lr, state.why = None, row.why
                return
            state.lr, state.large = row.lr, batch
            estimate = yield from self._noise_side(state, batch)
            if estimate is None:
                return
            if estimate <= batch / NEAREST or batch == self.train_size:
                break
            # m still falls with the batch up to the large one: it is not large enough.
            batch = self._allowed(max(8 * estimate, NEAREST * batch))
        if estimate is not None:
            yield from self._both_sides(state, estimate)

    def _noise_side(
        self, state: _State, large: int
    ) -> Generator[tuple[Trial, ...], None, float | None]:
        """A first `B* = batch m/m_large` from a batch at which `m` is well above the large one's.

        The power law of the noise makes it `B*` already; None if there is no such batch.
        """
        lr = _known(state.lr)
        start = self.guess / 8 if self.guess else large / 64
        batch = min(self._allowed(start), large)
        for _ in range(PROBES):
            yield (Trial(lr, batch, 0),)
            rise = self._level(state, batch) - self._level(state, large)
            lowest = self._lowest(state, large)
            if math.isnan(rise):
                batch = 4 * batch
                if batch > large / NEAREST:
                    state.too_noisy = True
                    reason = self._left_out(lr, self._batches_below(lr, large))
                    state.why = f"at lr {lr:g} no run below batch {large} can be used: {reason}"
                    return None
            elif rise >= 2 or batch <= lowest:
                break
            else:
                batch = max(self._allowed(batch / 16), lowest)
        if math.isnan(rise) or (rise < 1 and lowest > self.smallest_batch):
            state.too_noisy = True
            reason = self._left_out(lr, self._batches_below(lr, large))
            state.why = f"at lr {lr:g} batches small enough for noise cannot be used: {reason}"
            return None
        if rise < 1:
            state.why = self._bound_below(state, lowest)
            return None
        return float(batch * 2**rise)

    def _both_sides(self, state: _State, estimate: float) -> Search:
        """The cells around `B*`, first of one seed to see that they are well placed, then more."""
        lr = _known(state.lr)
        for _ in range(ROUNDS):
            centre = power_of_two(estimate)
            noise, first = self._around(centre, self._lowest(state, centre))
            if not first:
                state.noise = ()
                state.why = (
                    f"B* is above {self.train_size / NEAREST:g}, half of the train size: a larger "
                    "train size is needed"
                )
                return
            if not noise:
                state.noise = ()
                state.why = self._bound_below(state, self._lowest(state, centre))
                return
            yield tuple(Trial(lr, batch, 0) for batch in (*noise, *first))
            state.noise, state.first = noise, first
            if self._lowest(state, centre) > min(noise):
                continue
            fit = self._fit(state, only=(0,))
            if fit is None or abs(math.log2(fit.critical_batch.value / centre)) <= 1:
                break
            estimate = fit.critical_batch.value
        cells = [b for b in (*noise, *first) if not math.isnan(self._level(state, b))]
        done = 1
        while done < self.most_seeds:
            upto = min(done + 2, self.seeds) if done < self.seeds else done + 1
            wanted = tuple(Trial(lr, batch, s) for s in range(done, upto) for batch in cells)
            if done >= self.seeds and self.missing(wanted) and self._precise(state):
                return
            yield wanted
            done = upto

    def _precise(self, state: _State) -> bool:
        """Whether the answer is precise enough."""
        fit = self._fit(state)
        if fit is None or fit.seeds < 2:
            return False
        return fit.surely_misses_law if fit.missing_law else fit.half_width <= self.tolerance

    def _fit(self, state: _State, only: tuple[int, ...] = ()) -> Crossover | None:
        """The crossover from the cells between those asked for, runs of others included."""
        lr = _known(state.lr)
        sides = [self._cells(lr, side) for side in (state.noise, state.first)]
        seeds = only or self.observations.seeds((lr, b) for side in sides for b in side)
        noise, first = (
            Side(b, self.observations.table([(lr, x) for x in b], seeds)) for b in sides
        )
        # m grows with lr: GD's is at most that of the run below the row, which is seed 0's.
        bound = self.observations.log((lr / STEP, state.large), 0)
        return crossover(noise, first, bound if math.isfinite(bound) else -math.inf, self.level)

    def _cells(self, lr: float, side: tuple[int, ...]) -> list[int]:
        """Observed batches in the range of a side."""
        return [b for b in self.observations.batches(lr) if side and min(side) <= b <= max(side)]

    def _level(self, state: _State, batch: int) -> float:
        return self.observations.log((_known(state.lr), batch), 0)

    def _lowest(self, state: _State, below: float) -> int:
        """The lowest batch worth a run: twice the largest useless one of seed 0."""
        lr = _known(state.lr)
        useless = [
            batch
            for batch in self._batches_below(lr, below)
            if Trial(lr, batch, 0) in self.observations.runs
            and math.isnan(self.observations.log((lr, batch), 0))
        ]
        return max([self.smallest_batch, *(2 * b for b in useless)])

    def _batches_below(self, lr: float, below: float) -> list[int]:
        return [batch for batch in self.observations.batches(lr) if batch < below]

    def _left_out(self, lr: float, batches: Sequence[int]) -> str:
        return left_out(self.observations.outcomes((lr, batch) for batch in batches))

    def _allowed(self, batch: float) -> int:
        return min(max(power_of_two(batch), self.smallest_batch), self.train_size)

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

    def _bound_below(self, state: _State, lowest: int) -> str:
        lr = _known(state.lr)
        bound = f"B* is below {NEAREST * lowest}: at lr {lr:g}"
        if lowest == self.smallest_batch:
            return f"{bound} not even batch {lowest} is noise-dominated"
        reason = self._left_out(lr, self._batches_below(lr, lowest))
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


def _known(lr: float | None) -> float:
    if lr is None:
        raise RuntimeError("the row is not known yet")
    return lr
