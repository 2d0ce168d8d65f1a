"""From the weights of a training to numbers: final observables, crossover time, trajectory."""

from __future__ import annotations

import math

import numpy as np

from sgdphase._records import Training
from sgdphase._typing import FloatArray
from sgdphase.perceptron._losses import value
from sgdphase.perceptron._simulate import Points, Weights
from sgdphase.theory import unfitted_fraction

FINAL = (
    "w1",
    "w_perp",
    "norm",
    "alignment",
    "unfitted",
    "train_error",
    "test_error",
    "crossover_time",
)

# Points computed together: their outputs for all weight vectors fit into the cache.
_CHUNK = 1024


def final_observables(
    run: Weights, train: Points, test: Points, training: Training
) -> dict[str, float]:
    """The numbers at the end of a training.

    `alignment = <y f>` on the test set; an error is a point with `y f <= 0`, an unfitted point one
    with `y f < training.goal`. Where weights diverged these are NaN; the first step is still there.
    """
    first = run.snapshots[0]
    observables = {
        "first_step_w1": float(first[0]),
        "first_step_w_perp": float(np.linalg.norm(first[1:])),
    }
    if run.status == "diverged":
        return dict.fromkeys(FINAL, math.nan) | observables
    root = math.sqrt(train.z.shape[1])
    on_train, on_test = train.z @ run.w / root, test.z @ run.w / root
    observables |= {
        "w1": float(run.w[0]),
        "w_perp": float(np.linalg.norm(run.w[1:])),
        "norm": float(np.linalg.norm(run.w)),
        "alignment": float(on_test.mean()),
        "unfitted": float((on_train < training.goal).mean()),
        "train_error": float((on_train <= 0).mean()),
        "test_error": float((on_test <= 0).mean()),
        "crossover_time": crossover_time(
            run, train, chi=training.teacher.chi, margin=training.goal, lr=training.lr
        ),
    }
    return observables


def crossover_time(run: Weights, train: Points, *, chi: float, margin: float, lr: float) -> float:
    """`t_hat`: when the unfitted fractions of training set and data distribution separate (SI 5).

    It is the time at which the training set's fraction has fallen to half of that of the
    distribution at the same weights (`unfitted_fraction`, exact; a test set of 32768 points would
    hold too few unfitted ones). Snapshots are searched by bisection, and log time is interpolated.
    NaN if the fractions are apart after the first step already, or never are.
    """
    root = math.sqrt(train.z.shape[1])
    w1, w_perp = run.snapshots[:, 0], np.linalg.norm(run.snapshots[:, 1:], axis=1)
    expected = unfitted_fraction(w1 / w_perp, margin * root / w_perp, chi)

    def ratio(i: int) -> float:
        return float((train.z @ run.snapshots[i] < margin * root).mean() / expected[i])

    low, high = 0, len(w1) - 1
    at_low, at_high = ratio(low), ratio(high)
    if not at_low > 0.5 >= at_high:
        return math.nan
    while high - low > 1:
        middle = (low + high) // 2
        at_middle = ratio(middle)
        if at_middle > 0.5:
            low, at_low = middle, at_middle
        else:
            high, at_high = middle, at_middle
    part = (at_low - 0.5) / (at_low - at_high)
    before, after = run.snapshot_steps[low], run.snapshot_steps[high]
    return float(lr * before * (after / before) ** part)


def trajectory(
    run: Weights, train: Points, test: Points, training: Training
) -> dict[str, FloatArray]:
    """The observables in time, at the log-spaced steps of the snapshots."""
    root, lr = math.sqrt(train.z.shape[1]), training.lr
    w1, w_perp = run.snapshots[:, 0].copy(), np.linalg.norm(run.snapshots[:, 1:], axis=1)
    unfitted, train_error, loss = _fractions(run.snapshots / root, train, training)
    unfitted_test, test_error, _ = _fractions(run.snapshots / root, test, training)
    return {
        "time": lr * run.snapshot_steps.astype(np.float64),
        "w1": w1,
        "w_perp": w_perp,
        "lambda": w1 / w_perp,
        "r": training.goal * root / w_perp,
        "unfitted": unfitted,
        "unfitted_test": unfitted_test,
        "loss": loss,
        "train_error": train_error,
        "test_error": test_error,
    }


def _fractions(weights: FloatArray, points: Points, training: Training) -> FloatArray:
    """Unfitted fraction, error and loss of each weight vector, `[3, n]`."""
    totals = np.zeros((3, len(weights)))
    for start in range(0, len(points.z), _CHUNK):
        output = points.z[start : start + _CHUNK] @ weights.T
        totals[0] += (output < training.goal).sum(axis=0)
        totals[1] += (output <= 0).sum(axis=0)
        totals[2] += value(training.loss, output, training.margin).sum(axis=0)
    return totals / len(points.z)
