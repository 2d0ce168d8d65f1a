"""A training of the perceptron, from record to record."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

from sgdphase._records import Outcome, Training
from sgdphase.errors import InputError
from sgdphase.perceptron import _observe as observe
from sgdphase.perceptron._simulate import Points, simulate_sgd
from sgdphase.problems import TeacherTask


def train(training: Training, *, trajectory: bool = False) -> Outcome:
    """Run a training of the perceptron `f(x) = w . x / sqrt(d)` and observe it."""
    if training.model != "perceptron":
        raise InputError(f"model = {training.model}: must be perceptron here")
    task, lr = training.teacher, training.lr
    train_points = _train_points(task, training.train_size, training.seed)
    test_points = _test_points(task, training.test_size, training.seed)
    run = simulate_sgd(
        train_points,
        margin=training.margin,
        lr=lr,
        batch=training.batch,
        loss=training.loss,
        momentum=training.momentum,
        weight_decay=training.weight_decay,
        l1=training.l1,
        seed=training.seed,
        max_steps=training.step_limit,
    )
    if run.status == "budget":
        margins = train_points.z @ run.w / math.sqrt(task.dim)
        run = replace(run, status="diverged" if training.has_blown_up(margins) else "budget")
    sets = (run, train_points, test_points, training)
    along = observe.trajectory(*sets) if trajectory else {}
    return Outcome(run.status, run.steps, lr * run.steps, observe.final_observables(*sets), along)


# The cells of one seed share its data sets; a sweep runs them one after the other.
@lru_cache(maxsize=1)
def _train_points(task: TeacherTask, size: int, seed: int) -> Points:
    return Points.of(task.train_set(size, seed), overwrite=True)


@lru_cache(maxsize=1)
def _test_points(task: TeacherTask, size: int, seed: int) -> Points:
    return Points.of(task.test_set(size, seed), overwrite=True)
