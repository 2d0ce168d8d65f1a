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

from sgdphase import Points, TeacherTask, simulate_sgd
from sgdphase.perceptron._hypergeometric import at_least_one, chances_of_none, table
from sgdphase.perceptron._random import random_state
from sgdphase.perceptron._stretches import listed_only, plain
from sgdphase.perceptron._tracked import tracked

RUNS = 400
LEVEL = 1e-4


def points(size: int, dim: int, chi: float, seed: int = 0) -> Points:
    return Points.of(TeacherTask(dim=dim, chi=chi).train_set(size, seed))


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
def test_same_distribution_as_the_plain_loop(case) -> None:  # type: ignore[no-untyped-def]
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


def test_full_batch_is_the_plain_loop_to_rounding() -> None:
    for lr in (2**-3, 1.0, 100.0):
        data = points(700, 24, 1.0)
        run = simulate_sgd(data, margin=2**-5, lr=lr, batch=700)
        w, steps = reference_sgd(data.z, margin=2**-5, lr=lr, batch=700, seed=0, max_steps=10**9)
        assert run.steps == steps
        np.testing.assert_allclose(run.w, w, rtol=1e-9)


STRETCHES = ("plain", "listed", "tracked")


def after_stretch(kind: str, data: Points, start: np.ndarray, seed: int, steps: int) -> np.ndarray:
    """`w` after `steps` steps of one kind from `start`, all points listed."""
    size, dim = data.z.shape
    batch, root = 5, math.sqrt(dim)
    threshold, rate = 2**-7 * root, 10.0 / (batch * root)
    w, clock = start.copy(), np.zeros(5, np.int64)
    everything, seen = np.arange(size), np.zeros(size, np.bool_)
    due, snapshots, state = np.empty(0, np.int64), np.empty((0, dim)), random_state(seed, 9)
    tail = (seen, w, clock, due, snapshots, state)
    none = chances_of_none(size, batch, size)
    spent, kept_at = np.zeros(size + 1, np.int64), np.full(size, -1)
    kept = np.empty((3, size))
    # A stretch may end early, to be planned anew; here it goes on until all is fitted.
    while clock[0] < steps and (data.z @ w < threshold).any():
        if kind == "plain":
            plain(data.z, threshold, rate, batch, steps - clock[0], everything, *tail)
            continue
        if kind == "listed":
            listed_only(data.z, everything, threshold, rate, batch, math.inf, steps, *tail)
            continue
        tracked(
            data.z, everything, threshold, rate, batch, math.inf, steps, none,
            spent, kept, kept_at, *tail,
        )  # fmt: skip
    return w


@pytest.mark.parametrize("kind", STRETCHES[1:])
def test_each_kind_of_stretch_is_the_same_process(kind: str) -> None:
    # From a point in mid-training, 300 steps: the spread over 600 seeds must agree as well.
    data = points(300, 8, 0.0)
    start = simulate_sgd(data, margin=2**-7, lr=10.0, batch=5, max_steps=200).w
    one = np.array([after_stretch("plain", data, start, seed, 300) for seed in range(600)])
    other = np.array([after_stretch(kind, data, start, 10_000 + seed, 300) for seed in range(600)])
    assert one[:, 0].std() > 0.1
    for a, b in zip(one.T, other.T, strict=True):
        assert stats.ks_2samp(a, b).pvalue > LEVEL


def test_same_seed_same_bits() -> None:
    data = points(512, 16, 1.0)
    runs = [simulate_sgd(data, margin=2**-7, lr=4.0, batch=4, seed=5) for _ in range(2)]
    assert np.array_equal(runs[0].w, runs[1].w)
    assert runs[0].steps == runs[1].steps


def test_a_fitted_training_has_no_unfitted_point_and_one_before_its_end_has() -> None:
    data = points(1024, 16, 1.0)
    threshold = 2**-7 * math.sqrt(16)
    run = simulate_sgd(data, margin=2**-7, lr=2.0, batch=2, seed=1)
    assert (data.z @ run.w >= threshold).all()
    before = simulate_sgd(data, margin=2**-7, lr=2.0, batch=2, seed=1, max_steps=run.steps // 2)
    assert before.status == "budget"
    assert (data.z @ before.w < threshold).any()
    assert before.steps <= run.steps // 2


def test_snapshots_are_the_weights_after_their_steps() -> None:
    # Without noise (full batch) a run cut at step s ends with the snapshot of step s.
    data = points(256, 8, 1.0)
    run = simulate_sgd(data, margin=0.1, lr=0.5, batch=256)
    assert run.snapshot_steps[-1] == run.steps
    for step, snapshot in zip(run.snapshot_steps[:12], run.snapshots[:12], strict=True):
        cut = simulate_sgd(data, margin=0.1, lr=0.5, batch=256, max_steps=int(step))
        np.testing.assert_allclose(cut.w, snapshot, rtol=1e-12)


def test_first_step_is_the_batch_mean() -> None:
    data = points(64, 8, 1.0)
    run = simulate_sgd(data, margin=0.1, lr=3.0, batch=64, max_steps=1)
    np.testing.assert_allclose(run.w, 3.0 * data.z.mean(axis=0) / math.sqrt(8))


@pytest.mark.parametrize(("total", "marked", "drawn"), [(50, 7, 20), (1000, 3, 1), (90, 60, 45)])
def test_hypergeometric_tables(total: int, marked: int, drawn: int) -> None:
    law = stats.hypergeom(total, marked, drawn)
    first, cdf = table(total, marked, drawn)
    np.testing.assert_allclose(cdf, law.cdf(first + np.arange(len(cdf))), rtol=1e-12)
    assert law.cdf(first - 1) < 1e-15
    none = chances_of_none(total, drawn, marked + 1)[marked]
    assert none == pytest.approx(law.pmf(0), rel=1e-9)
    # Conditioned on at least one, 20000 draws: chi-square over counts expected above 10.
    state = random_state(1, 2)
    draws = np.array([at_least_one(state, total, marked, drawn, none) for _ in range(20_000)])
    k = np.arange(1, min(marked, drawn) + 1)
    expected = 20_000 * law.pmf(k) / law.sf(0)
    seen = np.array([(draws == i).sum() for i in k])
    big = expected > 10
    rest = [expected[~big].sum()], [seen[~big].sum()]
    f_exp = np.concatenate([expected[big], rest[0]]) if rest[0][0] > 0 else expected[big]
    f_obs = np.concatenate([seen[big], rest[1]]) if rest[0][0] > 0 else seen[big]
    if len(f_exp) > 1:
        assert stats.chisquare(f_obs, f_exp * f_obs.sum() / f_exp.sum()).pvalue > LEVEL
    assert draws.min() >= 1
