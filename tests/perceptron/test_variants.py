"""Momentum, regularisation and other losses, against a plain NumPy loop with its own numbers."""

import math

import numpy as np
import pytest
from scipy import stats

from sgdphase import InputError, Points, TeacherTask, simulate_sgd
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
            points.z, MARGIN * root, MARGIN * root, 0, LR / BATCH / root, 0.0, 0.0, 0.0, BATCH,
            10**9,
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


# Minus the slope of each loss at u = y f / margin, written as in the literature.
PULLS = {
    "quadratic-hinge": lambda u: np.maximum(1 - u, 0),
    "smooth-hinge": lambda u: np.clip(1 - u, 0, 1),
    "square": lambda u: 1 - u,
    "logistic": lambda u: 1 / (1 + np.exp(u)),
}


@pytest.mark.parametrize("momentum", [0.0, 0.5])
@pytest.mark.parametrize(("weight_decay", "l1"), [(0.0, 0.0), (0.05, 0.0), (0.0, 0.01)])
@pytest.mark.parametrize("loss", PULLS)
def test_gradient_descent_is_that_of_a_plain_loop(
    loss: str, weight_decay: float, l1: float, momentum: float
) -> None:
    """At full batch nothing is random: the weights are equal, and the training ends at its goal."""
    z = Points.of(TeacherTask(dim=8, chi=1.0).train_set(64, seed=0)).z
    lr, root, limit = 0.02, math.sqrt(8), 150 if loss == "square" or weight_decay or l1 else 10**5
    ours = simulate_sgd(
        Points(z, np.linalg.norm(z, axis=1)), margin=MARGIN, lr=lr, batch=64, loss=loss,
        momentum=momentum, weight_decay=weight_decay, l1=l1, max_steps=limit,
    )  # fmt: skip
    w, v, step = np.zeros(8), np.zeros(8), 0
    while step < limit:
        step += 1
        pull = PULLS[loss](z @ w / root / MARGIN)
        v = momentum * v + lr * (pull @ z / root / 64 - weight_decay * w - l1 * np.sign(w))
        w = w + v
        if weight_decay == l1 == 0 and (z @ w / root >= MARGIN / 2).all():
            break
    assert (ours.steps, ours.status) == (step, "budget" if step == limit else "fitted")
    assert ours.w == pytest.approx(w, rel=1e-9, abs=1e-12)
    assert step < limit or loss == "square" or weight_decay or l1


@pytest.mark.parametrize("loss", PULLS)
def test_other_losses_have_the_distribution_of_the_slow_loop(loss: str) -> None:
    # As above, for the batches: 300 runs each.
    points = Points.of(TeacherTask(dim=8, chi=1.0).train_set(64, seed=0))
    root, lr, steps, fast, plain = math.sqrt(8), 0.05, 40, [], []
    for seed in range(300):
        run = simulate_sgd(
            points, margin=MARGIN, lr=lr, batch=BATCH, loss=loss, seed=seed, max_steps=steps
        )
        fast.append([run.w[0], np.linalg.norm(run.w[1:])])
        rng, w = np.random.default_rng(seed), np.zeros(8)
        for _ in range(steps):
            batch = points.z[rng.choice(64, BATCH, replace=False)]
            w = w + lr / BATCH / root * PULLS[loss](batch @ w / root / MARGIN) @ batch
        plain.append([w[0], np.linalg.norm(w[1:])])
    for a, b in zip(np.transpose(fast), np.transpose(plain), strict=True):
        assert stats.ks_2samp(a, b).pvalue > 1e-4


def test_l1_makes_weights_of_no_use_small() -> None:
    """Their pull, of order 1/sqrt(P), is below the strength; that of the informative one is not."""
    points = Points.of(TeacherTask(dim=32, chi=1.0).train_set(1024, seed=0))
    how = {"margin": 1.0, "lr": 0.05, "batch": 1024, "max_steps": 2000}
    plain, sparse = (simulate_sgd(points, **how, loss="square", l1=l1) for l1 in (0.0, 0.02))  # type: ignore[arg-type]
    # The sign jumps at 0: such a weight stays within a step, lr x l1, of it.
    assert np.median(np.abs(sparse.w[1:])) < 2 * 0.05 * 0.02 < np.median(np.abs(plain.w[1:]))
    assert sparse.w[0] > plain.w[0] / 2


def test_a_loss_that_is_not_known_is_refused() -> None:
    points = Points.of(TeacherTask(dim=4).train_set(8, seed=0))
    with pytest.raises(InputError, match="loss = 'cubic': must be hinge, quadratic-hinge, "):
        simulate_sgd(points, margin=0.1, lr=1.0, batch=1, loss="cubic")
