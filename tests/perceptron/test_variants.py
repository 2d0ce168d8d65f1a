"""Momentum and weight decay (SI 2), against a plain NumPy loop with its own random numbers."""

import math

import numpy as np
import pytest
from scipy import stats

from sgdphase import Points, TeacherTask, simulate_sgd
from sgdphase.perceptron._random import random_state
from sgdphase.perceptron._variants import run_variant

MARGIN, LR, BATCH = 0.1, 2.0, 4


def slow(z, momentum, decay, steps, seed):  # type: ignore[no-untyped-def]
    """The update rule of SI 2 as it is printed."""
    rng = np.random.default_rng(seed)
    size, dim = z.shape
    w, v = np.zeros(dim), np.zeros(dim)
    for step in range(1, steps + 1):
        batch = z[rng.choice(size, BATCH, replace=False)]
        unfitted = batch[batch @ w / math.sqrt(dim) < MARGIN]
        v = momentum * v + LR / BATCH * unfitted.sum(axis=0) / math.sqrt(dim) - LR * decay * w
        w = w + v
        if decay == 0 and (z @ w / math.sqrt(dim) >= MARGIN).all():
            return w, step
    return w, steps


@pytest.mark.parametrize(
    ("momentum", "decay", "steps"), [(0.9, 0.0, 10**6), (0.0, 1e-2, 200), (0.5, 1e-2, 200)]
)
def test_same_distribution_as_the_slow_loop(momentum: float, decay: float, steps: int) -> None:
    # 300 runs each: a mean off by 0.35 standard deviations is noticed, at a level of 1e-4.
    points = Points.of(TeacherTask(dim=8, chi=1.0).train_set(64, seed=0))
    fast, plain = [], []
    for seed in range(300):
        run = simulate_sgd(
            points, margin=MARGIN, lr=LR, batch=BATCH, momentum=momentum, weight_decay=decay,
            seed=seed, max_steps=steps,
        )  # fmt: skip
        fast.append([run.w[0], np.linalg.norm(run.w[1:]), run.steps])
        w, last = slow(points.z, momentum, decay, steps, seed)
        plain.append([w[0], np.linalg.norm(w[1:]), last])
    for name, a, b in zip(
        ["w1", "w_perp", "steps"], np.transpose(fast), np.transpose(plain), strict=True
    ):
        if name == "steps" and decay > 0:
            assert set(a) == set(b) == {steps}  # decay keeps it from ending
        else:
            assert stats.ks_2samp(a, b).pvalue > 1e-4, name


def test_without_momentum_and_decay_it_is_sgd() -> None:
    # The state in which a training ends is the same, so its distribution is that of `run_sgd`.
    points = Points.of(TeacherTask(dim=8, chi=1.0).train_set(200, seed=0))
    root = math.sqrt(8)
    plain, fast = [], []
    for seed in range(400):
        _, w, steps, _ = run_variant(
            points.z, MARGIN * root, LR / BATCH / root, 0.0, 0.0, BATCH, 10**9,
            np.empty(0, np.int64), np.empty((0, 8)), random_state(seed, 3), np.zeros(1, np.int64),
        )  # fmt: skip
        plain.append([w[0], math.log(steps)])
        run = simulate_sgd(points, margin=MARGIN, lr=LR, batch=BATCH, seed=seed)
        fast.append([run.w[0], math.log(run.steps)])
    for a, b in zip(np.transpose(plain), np.transpose(fast), strict=True):
        assert stats.ks_2samp(a, b).pvalue > 1e-4


def test_decay_that_is_too_strong_diverges() -> None:
    points = Points.of(TeacherTask(dim=8, chi=1.0).train_set(64, seed=0))
    run = simulate_sgd(points, margin=MARGIN, lr=LR, batch=BATCH, weight_decay=1.5, max_steps=10**5)
    assert run.status == "diverged"
    assert np.isfinite(run.snapshots).all()
