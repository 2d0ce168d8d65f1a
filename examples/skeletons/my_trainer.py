"""A trainer: any program that turns a `Training` into an `Outcome`. Here a plain loop in numpy.

It is used by its address, `model="my_trainer:train"`, and nothing has to be registered.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from sgdphase import Outcome, Training

SAVE_EVERY = 1000  # steps; a trainer of your own saves about once a minute


def train(
    training: Training, *, trajectory: bool = False, checkpoint: Path | None = None
) -> Outcome:
    """SGD of a linear model with hinge loss, until every point has the margin.

    With the parameter `checkpoint`, a sweep that was killed continues inside a training. The
    outcome must not depend on that: here the batch is a function of the seed and the step.
    """
    points = training.problem.train_set(training.train_size, training.seed)
    test = training.problem.test_set(training.test_size, training.seed)
    x, y = points.x / np.sqrt(points.x.shape[1]), points.y
    w, step = load(checkpoint) or (np.zeros(x.shape[1]), 0)
    unfitted = []
    while (y * (x @ w) < training.margin).any() and step < training.step_limit:
        batch = np.random.default_rng([training.seed, step]).choice(
            len(x), training.batch, replace=False
        )
        wrong = batch[y[batch] * (x[batch] @ w) < training.margin]
        w = w + training.lr / training.batch * (y[wrong] @ x[wrong])
        step += 1
        if trajectory:
            unfitted.append(float((y * (x @ w) < training.margin).mean()))
        if step % SAVE_EVERY == 0:
            save(checkpoint, w, step)
    fitted = not (y * (x @ w) < training.margin).any()
    margins = test.y * (test.x @ w) / np.sqrt(test.x.shape[1])
    return Outcome(
        status="fitted" if fitted else "budget",
        steps=step,
        time=training.lr * step,
        observables={
            "alignment": float(margins.mean()),
            "test_error": float((margins <= 0).mean()),
        },
        trajectory={"unfitted": np.array(unfitted)} if trajectory else {},
    )


def expected_seconds(training: Training) -> float:
    """Optional: a sweep starts long trainings first, and shows the time left."""
    return 1e-5 * training.train_size * training.batch / training.lr


def load(path: Path | None) -> tuple[np.ndarray, int] | None:
    """The saved state; None if there is none, or if it cannot be read."""
    if path is None or not path.exists():
        return None
    try:
        with np.load(path) as saved:
            return saved["w"], int(saved["step"])
    except (OSError, ValueError, KeyError):
        return None


def save(path: Path | None, w: np.ndarray, step: int) -> None:
    """Under another name first, so that no half-written checkpoint is ever read."""
    if path is None:
        return
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with new.open("wb") as file:
            np.savez(file, w=w, step=step)
        new.replace(path)
    except OSError:
        pass  # a full disk does not end the training
