"""Surfaces `m(lr, batch)` with known boundaries, and the perceptron, as runs to be asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from sgdphase._diagnose.learner import Searcher, Trial
from sgdphase._records import Outcome, Status, Training
from sgdphase._sweep import train
from sgdphase.diagram import phase_diagram, plane_from_table
from sgdphase.problems import TeacherTask


def _outcome(status: Status = "fitted", **observables: float) -> Outcome:
    return Outcome(status, 0, 0.0, observables)


@dataclass(frozen=True)
class Surface:
    """`m = max(b lr, m_gd + a lr/batch) e^(seed + cell)`: the law of the perceptron.

    Runs above `diverges` in lr, or above `hot` in `lr/batch`, diverge; those whose `batch/lr` is
    above `budget` are not fitted; of those below `dark` in batch the alignment is not positive.
    `replica` numbers independent copies of all the noise.
    """

    gd: float = 2.0**-4
    noise: float = 4.0
    first: float = 2.0**-4  # B* = a/b = 64, first-step line at lr = 1, T_c = 2^-6
    common: float = 0.6
    cell: float = 0.1
    diverges: float = math.inf
    hot: float = math.inf
    budget: float = math.inf
    dark: int = 0
    hint: bool = True
    replica: int = 0

    @property
    def critical_batch(self) -> float:
        return self.noise / self.first

    def line(self, batch: float, factor: float = 2.0) -> float:
        """Where `m` is `factor` times `m_gd`."""
        return min(factor * self.gd / self.first, (factor - 1) * self.gd * batch / self.noise)

    def __call__(self, trial: Trial) -> Outcome:
        lr, batch, seed = trial.lr, trial.batch, trial.seed
        if lr > self.diverges or lr / batch > self.hot:
            return _outcome("diverged")
        if batch / lr > self.budget:
            return _outcome("budget", alignment=1.0, train_error=0.2)
        if batch < self.dark:
            return _outcome(alignment=-0.1)
        place = round(64 * math.log2(lr)) + 2**20
        common = np.random.default_rng([self.replica, seed]).standard_normal()
        cell = np.random.default_rng([self.replica, seed, place, batch]).standard_normal()
        scale = math.exp(self.common * common + self.cell * cell)
        value = max(self.first * lr, self.gd + self.noise * lr / batch) * scale
        first = {"first_step_alignment": self.first * lr * scale} if self.hint else {}
        return _outcome(alignment=value, **first)


@dataclass(frozen=True)
class Perceptron:
    """The paper's model at one size; `first_seed` sets the seeds of a replica apart."""

    dim: int
    train_size: int
    chi: float = 1.0
    first_seed: int = 0

    def __call__(self, trial: Trial) -> Outcome:
        training = Training(
            TeacherTask(self.dim, self.chi),
            train_size=self.train_size,
            lr=trial.lr,
            batch=trial.batch,
            seed=self.first_seed + trial.seed,
            test_size=1024,
        )
        outcome = train(training)
        first = outcome["alignment"] * outcome["first_step_w1"] / outcome["w1"]
        return _outcome(outcome.status, alignment=outcome["alignment"], first_step_alignment=first)


def _finish(learner: Searcher, run: Callable[[Trial], Outcome], most: int = 400) -> list[Trial]:
    """Tell a learner what it asks for until it is done: the runs, in the order asked for."""
    asked: list[Trial] = []
    while wanted := learner.ask():
        assert 1 <= len(wanted) <= 12
        asked += wanted
        assert len(asked) <= most
        for trial in wanted:
            learner.tell(trial, run(trial))
    return asked


@pytest.fixture
def finish() -> Callable[..., list[Trial]]:
    return _finish


@pytest.fixture
def outcome() -> Callable[..., Outcome]:
    """An outcome of a status with some observables."""
    return _outcome


@pytest.fixture
def surface() -> type[Surface]:
    return Surface


@pytest.fixture
def perceptron() -> type[Perceptron]:
    return Perceptron


@cache
def _full_grid(task, seeds):
    """The diagram of a whole grid of runs, and the number of its cells."""
    lrs = [2.0**k for k in range(-6, 11)]
    batches = [2**k for k in range(int(math.log2(task.train_size)) + 1)]
    trials = [Trial(lr, batch, seed) for seed in range(seeds) for lr in lrs for batch in batches]
    outcomes = [task(trial) for trial in trials]
    columns = {name: [getattr(t, name) for t in trials] for name in ("lr", "batch", "seed")}
    columns["status"] = [outcome.status for outcome in outcomes]
    columns["alignment"] = [outcome["alignment"] for outcome in outcomes]
    return phase_diagram(plane_from_table(columns)), len(lrs) * len(batches)


@pytest.fixture
def full_grid():
    return _full_grid
