"""From what the user brought to the answer: which learner asks what, at which size, in what order.

The regime comes first, at the largest size that fits into the budget. Then `B*`, from the smallest
size up, each telling the next where to look; last the GD line, whose trainings are the longest.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from sgdphase.diagnose.answer import Diagnosis, Size
from sgdphase.diagnose.boundary import Critical, CriticalBatch
from sgdphase.diagnose.brought import brought
from sgdphase.diagnose.gd_line import GdLine
from sgdphase.diagnose.growth import growth
from sgdphase.diagnose.learner import Seen, Trial
from sgdphase.diagnose.limits import limits, regime_at
from sgdphase.diagnose.session import Session
from sgdphase.diagnose.sizes import chosen, given, ladder, total_seconds
from sgdphase.diagnose.slopes import Local, LocalSlopes
from sgdphase.diagnose.words import shown
from sgdphase.diagram import Estimate, LinePoint
from sgdphase.diagram.bootstrap import LEVEL, REPLICATES, interval, seed_means, seed_replicates
from sgdphase.errors import InputError, require
from sgdphase.sweep import Store, Workers
from sgdphase.sweep.progress import duration
from sgdphase.sweep.workers import Kept, workers_of

__all__ = ["diagnose"]

_BUDGET = 600.0
# Of the budget, for what is planned: some trainings take longer than the first one.
_PLANNED = 0.7
# Over which the learning rate is divided where small batches are not fitted.
_ROWS = (1, 16, 256)


def diagnose(
    model: Any = None,
    data: Any = None,
    *,
    lr: float,
    batch: int,
    train: Callable[..., Any] | None = None,
    test_data: Any = None,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    loss: str = "hinge",
    margin: float | None = None,
    sampler: str = "fresh",
    budget: float = _BUDGET,
    seeds: int = 3,
    train_sizes: Sequence[int] | None = None,
    workers: int | Callable[[], Workers] | None = None,
    store: Store | str | Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Diagnosis:
    """Which regime the training of a model is in, and how far its batch may be raised.

    `model` is a function that makes a fresh module and `data` one that gives `x, y` or a map-style
    Dataset; or `model` is the path of a file with both. For other frameworks,
    `train(lr, batch, train_size, seed)` returns the alignment, and `train_sizes` says at which
    sizes to ask. The loss is "hinge" or "cross-entropy", the sampler "fresh" or "epoch".

    `budget` is in seconds; `seeds` are those of each point to begin with. Functions are run in this
    process, a file by `workers`, a number of processes (by default one a core) or a function that
    makes workers. Runs are kept in `store`, if there is one, and what it has is not run again.
    `say` takes lines of progress.
    """
    started = monotonic()
    require("budget", budget, lambda s: s > 0, "a number of seconds above 0")
    require("seeds", seeds, lambda n: n >= 2 and n == int(n), "an integer of at least 2")
    require("lr", lr, lambda x: 0 < x < np.inf, "a finite number above 0")
    require("batch", batch, lambda b: b >= 1 and b == int(b), "an integer of at least 1")
    if model is None and train is None:
        raise InputError("nothing to diagnose: give a model with its data, a file, or train")
    own = brought(
        model, data, test_data=test_data, train=train, loss=loss, margin=margin,
        momentum=momentum, weight_decay=weight_decay, sampler=sampler,
    )  # fmt: skip
    if own.train_size is None and not train_sizes:
        raise InputError(
            f"{own.problem.code.name} trains by itself: say at which train sizes, as "
            "256,1024,4096; the largest is the one that is asked about"
        )
    sizes = given(train_sizes or ladder(own.train_size or 0), batch, own.train_size)
    if batch < own.smallest_batch:
        raise InputError(f"batch = {batch}: must be at least {own.smallest_batch} with BatchNorm")
    if not own.problem.path:
        workers = 0
    with _kept(workers) as kept, _placed(store) as place:
        session = Session(own, place, kept, started + budget, say)
        question = _Question(session, float(lr), int(batch), seeds, sizes, bool(train_sizes))
        return question.answered(started)


@contextmanager
def _kept(workers: int | Callable[[], Workers] | None) -> Iterator[Kept]:
    kept = Kept(workers if callable(workers) else lambda: workers_of(workers))
    try:
        yield kept
    finally:
        kept.close()


@contextmanager
def _placed(store: Store | str | Path | None) -> Iterator[Store]:
    if store is not None:
        yield store if isinstance(store, Store) else Store(store)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Store(Path(folder) / "runs.sqlite")


@dataclass
class _Question:
    """The user's point, and the sizes to look at: all of them if they are `fixed`."""

    session: Session
    lr: float
    batch: int
    seeds: int
    sizes: list[int]
    fixed: bool
    unknown: list[str] = field(default_factory=list)

    def answered(self, started: float) -> Diagnosis:
        session, own = self.session, self.session.brought
        full = own.train_size or self.sizes[-1]
        rest = self._choose_sizes()
        while True:
            self.unknown.clear()
            largest = self.sizes[-1]
            local = self._local(largest)
            found = self._critical_batches()
            line = self._gd_line(largest, found[-1].critical_batch)
            if not rest or not self._fits(rest[0]):
                break
            # There was more time than the first training made one think.
            self.sizes.append(rest.pop(0))
        scaling = growth(found, sorted({full, 10 * full}))
        if scaling is None:
            self.unknown.append("how B* grows with the data: it takes B* at two train sizes")
        at_full, expected, regimes = found[-1].critical_batch, local.regime, local.between
        if largest < full:
            at_full = None if scaling is None else scaling.extrapolated[full]
            expected = regime_at(local.regime, self.lr, self.batch, at_full, line)
            regimes = None
        temperature, rate = limits(regimes or (expected,), self.lr, self.batch, full, at_full, line)
        if session.is_over:
            self._say_what_it_takes()
        runs = tuple(run for known in session.runs.values() for run in known.values())
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
            sizes=tuple(replace(s, trainings=len(session.runs[s.train_size])) for s in found),
            gd_line=line,
            constant_temperature=temperature,
            constant_lr=rate,
            scaling=scaling,
            first_step_share=self._first_step_share(largest),
            noise_scale=self._noise_scale(largest),
            warnings=own.warnings,
            unknown=tuple(dict.fromkeys(self.unknown)),
            trainings=len(runs),
            seconds=monotonic() - started,
            settings=own.settings(),
            runs=runs,
        )

    def _choose_sizes(self) -> list[int]:
        """Two trainings, at the smallest size, tell how long they take; the sizes that are left."""
        session, foot = self.session, self.sizes[0]
        batch = min(self.batch, foot)
        # One after the other: the first that a worker runs also loads the data.
        for seed in (0, 1):
            session.learn(_Once(Trial(self.lr, batch, seed)), foot, "the first trainings")
        took = self._seconds(foot)
        if took is None:
            self.sizes = self.sizes if self.fixed else chosen(self.sizes, self.batch, 1.0, 0.0)
            return []
        ladder, cores = self.sizes, session.workers.parallel
        if not self.fixed:
            available = _PLANNED * max(session.left, 0.0) * cores
            self.sizes = chosen(ladder, self.batch, took, available)
        total = total_seconds(self.sizes, foot, took) / cores
        session.report(
            f"one training at {foot} points took {duration(took)}; to measure at "
            f"{', '.join(map(str, self.sizes))} points takes about {duration(total)}"
        )
        return [size for size in ladder if size > self.sizes[-1]]

    def _fits(self, size: int) -> bool:
        """Whether all that is asked at a further size fits into what is left of the budget."""
        took = self._seconds(self.sizes[-1])
        if took is None:
            return False
        total = total_seconds([size], self.sizes[-1], took) / self.session.workers.parallel
        return total <= self.session.left

    def _say_what_it_takes(self) -> None:
        """First of what could not be told: how long the whole would take."""
        foot = self.sizes[0]
        took = self._seconds(foot)
        if took is None:
            said = "not one training ended within the budget: it takes a far larger one"
        else:
            total = total_seconds(self.sizes, foot, took) / self.session.workers.parallel
            said = (
                f"the budget was spent; all of it takes about {duration(total)}, and the same "
                "command goes on from here"
            )
        self.unknown.insert(0, said)

    def _seconds(self, size: int) -> float | None:
        """What a training at a size takes: the mean, without the one that loaded the data."""
        took = sorted(run.seconds for run in self.session.runs.get(size, {}).values())
        return float(np.mean(took[:-1] or took)) if took else None

    def _local(self, size: int) -> Local:
        learner = LocalSlopes(
            self.lr,
            self.batch,
            size,
            smallest_batch=self.session.brought.smallest_batch,
            seeds=self.seeds,
        )
        done = self.session.learn(learner, size, "the regime at your point")
        local = learner.answer()
        self._note("the regime at your point", local.notes, done)
        between = "" if local.between is None else f", between {' and '.join(local.between)}"
        self.session.report(f"your point at {size} points: {local.regime}{between}")
        return local

    def _critical_batches(self) -> list[Size]:
        """`B*` from the smallest size up; the last one found tells the next where to look."""
        found: list[Size] = []
        guess: float | None = None
        for size in self.sizes:
            answer, done = self._critical(size, guess)
            here = answer.critical_batch
            self._note(f"B* at {size} points", answer.notes if here is None else (), done)
            found.append(Size(size, here, notes=answer.notes))
            if here is not None:
                guess = here.value
                self.session.report(f"B* at {size} points: {shown(here)}")
        return found

    def _critical(self, size: int, guess: float | None) -> tuple[Critical, bool]:
        """In the row of the user's learning rate, or in one below if that is too noisy."""
        for lower in _ROWS:
            learner = CriticalBatch(
                self.lr / lower,
                size,
                smallest_batch=self.session.brought.smallest_batch,
                guess=guess,
                seeds=self.seeds,
            )
            done = self.session.learn(learner, size, f"B* at {size} points")
            answer = learner.answer()
            if not done or not answer.too_noisy:
                break
        return answer, done

    def _gd_line(self, size: int, critical: Estimate | None) -> tuple[LinePoint, ...]:
        if critical is None:
            self.unknown.append(f"the GD line at {size} points: it takes B* there")
            return ()
        learner = GdLine(
            self.lr,
            critical.value,
            size,
            smallest_batch=self.session.brought.smallest_batch,
            seeds=self.seeds,
        )
        done = self.session.learn(learner, size, "the GD line")
        answer = learner.answer()
        self._note("the GD line", answer.notes, done)
        return answer.points

    def _note(self, what: str, notes: Sequence[str], done: bool) -> None:
        if not done:
            self.unknown.append(f"{what}: the budget was spent")
        else:
            self.unknown.extend(f"{what}: {note}" for note in notes)

    def _first_step_share(self, size: int) -> Estimate | None:
        """`m` after the first step over `m` at the end, at the user's point."""
        shares = []
        for trial, run in self.session.runs[size].items():
            here = (trial.lr, trial.batch) == (self.lr, self.batch)
            last = run.outcome.observables.get("alignment", np.nan)
            first = run.outcome.observables.get("first_step_alignment", np.nan)
            if here and run.outcome.status == "fitted" and np.isfinite(first) and last > 0:
                shares.append(first / last)
        if not shares:
            return None
        copies = seed_replicates([shares], np.random.default_rng(0), REPLICATES)
        return interval(float(seed_means([shares])[0]), copies[:, 0], LEVEL)

    def _noise_scale(self, size: int) -> dict[str, float]:
        if self.session.brought.train_size is None:
            return {}
        from sgdphase.networks.own import noise_scales

        trial = Trial(self.lr, min(self.batch, size), 0)
        return noise_scales(self.session.brought.training(trial, size))


@dataclass
class _Once:
    """A learner that wants one run."""

    trial: Trial
    told: bool = False

    def ask(self) -> tuple[Trial, ...]:
        return () if self.told else (self.trial,)

    def tell(self, trial: Trial, seen: Seen) -> None:
        self.told |= trial == self.trial
