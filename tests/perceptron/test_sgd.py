"""The fast simulator is the plain loop's process.

The plain loop (`benchmarks/reference.py`) draws every batch and multiplies every point. Both run
on the same training set, so that what differs is the order of batches alone. With 400 runs each,
a mean that is off by 0.3 standard deviations is noticed: 1 % for the weights, about 10 % for the
time. Every test has a chance of 1e-4 to fail by accident; seeds are fixed.
"""

import math

import numpy as np
import pytest
from reference import reference_sgd
from scipy import stats

from sgdphase import simulate_sgd

RUNS = 400
LEVEL = 1e-4


def numbers(w: np.ndarray, steps: int) -> tuple[float, float, float]:
    return float(w[0]), float(np.linalg.norm(w[1:])), math.log(steps)


# size, dim, chi, margin, batch, lr: noise, first step and GD; B = 1, small, large; powers of two
# or not. Small dimensions make the lists short, so that all kinds of stretches are used.
CASES = {
    "noise, B=1": (1024, 16, 1.0, 2**-7, 1, 1.0),
    "noise, small batch": (1000, 16, 0.0, 2**-7, 8, 16.0),
    "noise, batch not a power": (777, 10, 0.5, 2**-7, 13, 20.0),
    "noise, large dim": (512, 64, 1.0, 2**-7, 4, 8.0),
    "first step": (1024, 16, 1.0, 2**-7, 300, 600.0),
    "first step, nearly full": (500, 16, 0.0, 2**-7, 450, 300.0),
    "between": (1000, 16, 1.0, 2**-5, 64, 2.0),
    "GD, B=1": (512, 16, 1.0, 0.5, 1, 2**-5),
    "GD, small batch": (500, 16, 1.0, 2**-3, 16, 2**-4),
    "GD, large batch": (512, 12, 1.0, 2**-4, 128, 2**-2),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_same_distribution_as_the_plain_loop(case, points) -> None:  # type: ignore[no-untyped-def]
    size, dim, chi, margin, batch, lr = case
    data = points(size, dim, chi)
    fast, slow = [], []
    for seed in range(RUNS):
        run = simulate_sgd(data, margin=margin, lr=lr, batch=batch, seed=seed)
        assert run.status == "fitted"
        fast.append(numbers(run.w, run.steps))
        slow.append(
            numbers(
                *reference_sgd(
                    data.z, margin=margin, lr=lr, batch=batch, seed=seed, max_steps=10**9
                )
            )
        )
    for name, a, b in zip(
        ["w1", "w_perp", "log t*"], np.transpose(fast), np.transpose(slow), strict=True
    ):
        assert stats.ks_2samp(a, b).pvalue > LEVEL, name
        assert stats.ttest_ind(a, b, equal_var=False).pvalue > LEVEL, name


def test_full_batch_is_the_plain_loop_to_rounding(points) -> None:
    for lr in (2**-3, 1.0, 100.0):
        data = points(700, 24, 1.0)
        run = simulate_sgd(data, margin=2**-5, lr=lr, batch=700)
        w, steps = reference_sgd(data.z, margin=2**-5, lr=lr, batch=700, seed=0, max_steps=10**9)
        assert run.steps == steps
        np.testing.assert_allclose(run.w, w, rtol=1e-9)
