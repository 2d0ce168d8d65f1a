"""The fast simulator is the plain loop's process.

The plain loop (`benchmarks/reference.py`) draws every batch and multiplies every point. Both run
on the same training set, so that what differs is the order of batches alone. With 400 runs each,
a mean that is off by 0.3 standard deviations is noticed: 1 % for the weights, about 10 % for the
time. Every test has a chance of 1e-4 to fail by accident; seeds are fixed.
"""

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from reference import reference_sgd
from scipy import stats

from sgdphase import Points, simulate_sgd
from sgdphase.problems import Dataset

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
    "GD, small steps": (256, 8, 1.0, 2**-3, 16, 2**-4),
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


FULL_RATES = (2**-3, 1.0, 100.0)
# Without compilation, so that calls can be seen: the kinds of stretches, and what they make use of.
WATCH = """
import json, math, sys
from sgdphase import Points, TeacherTask
from sgdphase.perceptron import _sgd, simulate_sgd

used = set()
# Where among the arguments the radius and the number of sure points are.
AT = {"listed_only": (3, 11), "slide": (2, 5), "descend": (2, 5)}

def watched(kind, real):
    def call(z, listed, *rest):
        used.add(kind)
        radius, sure = AT.get(kind, (3, 3))
        if kind != "plain" and len(listed) < len(z) and math.isfinite(rest[radius]):
            used.add(f"{kind} within a radius")
        if radius != sure and rest[sure] > 0:
            used.add(f"{kind} with sure points")
        return real(z, listed, *rest)
    return call

def up_to(scope, *rest, real=_sgd.up_to):
    if len(scope) < size:
        used.add("scope")
    return real(scope, *rest)

_sgd.up_to = up_to
for kind in ("plain", "listed_only", "tracked", "slide", "descend"):
    setattr(_sgd, kind, watched(kind, getattr(_sgd, kind)))
for size, dim, chi, margin, batch, lr in json.loads(sys.argv[1]):
    points = Points.of(TeacherTask(dim=dim, chi=chi).train_set(size, 0))
    simulate_sgd(points, margin=margin, lr=lr, batch=batch, max_steps=1000)
print(json.dumps(sorted(used)))
"""


def test_what_is_compared_with_the_plain_loop_uses_every_kind_of_stretch() -> None:
    full = [(700, 24, 1.0, 2**-5, 700, lr) for lr in FULL_RATES]
    said = subprocess.check_output(
        [sys.executable, "-W", "ignore", "-c", WATCH, json.dumps([*CASES.values(), *full])],
        text=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert json.loads(said) == [
        "descend", "descend with sure points", "descend within a radius",
        "listed_only", "listed_only with sure points", "listed_only within a radius",
        "plain", "scope", "slide", "slide with sure points", "slide within a radius",
        "tracked", "tracked within a radius",
    ]  # fmt: skip


def test_full_batch_is_the_plain_loop_to_rounding(points) -> None:
    for lr in FULL_RATES:
        data = points(700, 24, 1.0)
        run = simulate_sgd(data, margin=2**-5, lr=lr, batch=700)
        w, steps = reference_sgd(data.z, margin=2**-5, lr=lr, batch=700, seed=0, max_steps=10**9)
        assert run.steps == steps
        np.testing.assert_allclose(run.w, w, rtol=1e-9)


def test_a_first_coordinate_of_either_sign_is_the_plain_loop_too() -> None:
    """Lists and sure points rely on `z_1 >= 0`, which data of a user need not have."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((600, 16))
    y = np.sign(x[:, 0] + 2.0 * x[:, 1])
    x[:, 0] *= 20.0
    data = Points.of(Dataset(x, y))
    for lr in (2**-3, 1.0, 100.0):
        run = simulate_sgd(data, margin=2**-3, lr=lr, batch=600)
        w, steps = reference_sgd(data.z, margin=2**-3, lr=lr, batch=600, seed=0, max_steps=10**6)
        assert (run.status, run.steps) == ("fitted", steps)
        assert run.snapshots.shape[1] == 16
        np.testing.assert_allclose(run.w, w, rtol=1e-7, atol=1e-9)
