"""Observables are what their names say, at the end and in time."""

import math

import numpy as np
import pytest

import sgdphase as sp
from sgdphase.perceptron._simulate import Weights


def test_observables_are_what_their_names_say() -> None:
    task = sp.TeacherTask(dim=16, chi=1.0)
    training = sp.Training(task, train_size=128, lr=1.0, batch=2, seed=3, test_size=1000)
    outcome = sp.train(training)
    points = sp.Points.of(task.train_set(128, 3))
    w = sp.simulate_sgd(points, margin=training.margin, lr=1.0, batch=2, seed=3).w
    test = task.test_set(1000, 3)
    margins = test.y * (test.x @ w) / 4
    assert outcome["w1"] == w[0]
    assert outcome["norm"] == pytest.approx(math.hypot(outcome["w1"], outcome["w_perp"]))
    assert outcome["alignment"] == pytest.approx(margins.mean())
    assert outcome["test_error"] == pytest.approx((margins <= 0).mean())
    assert outcome["train_error"] == outcome["unfitted"] == 0
    assert outcome.time == outcome.steps * 1.0


def test_population_test_error_at_the_final_weights() -> None:
    # The test error is the unfitted fraction at margin 0, known exactly at given weights.
    outcome = sp.train(sp.Training(sp.TeacherTask(64, 1.0), 512, lr=2.0, batch=1))
    exact = float(sp.averages(outcome["w1"] / outcome["w_perp"], 0.0, 1.0).unfitted)
    assert abs(outcome["test_error"] - exact) < 4 * math.sqrt(exact / 32768)


def test_small_batch_trajectories_follow_the_online_theory() -> None:
    # Noise-dominated, well before t_hat (about 1e5 here). 60 seeds give each mean to 1 to 4 %;
    # 3 % more for what Eq. 3 leaves out at d = 128: its factor (d-2)/d, and terms of order 1/d.
    settings = {"chi": 1.0, "dim": 128, "margin": 2**-7}
    runs = [
        sp.train(
            sp.Training(
                sp.TeacherTask(128, 1.0), 8192, lr=2.0, batch=1, seed=s, test_size=1, max_time=8192
            ),
            trajectory=True,
        )
        for s in range(60)
    ]
    times = 2.0 * 2.0 ** np.arange(6, 12)
    theory = sp.online(times, temperature=2.0, **settings)
    for name in ("w1", "w_perp", "unfitted"):
        values = np.array([r.trajectory[name][np.isin(r.trajectory["time"], times)] for r in runs])
        error = 4 * values.std(axis=0, ddof=1) / math.sqrt(len(runs))
        expected = getattr(theory, name)
        assert (np.abs(values.mean(axis=0) - expected) < error + 0.03 * expected).all(), name
        assert (error < 0.2 * expected).all(), name


def test_crossover_time_is_where_half_of_the_expected_points_are_unfitted() -> None:
    # Hand-made weights whose unfitted fraction on the training set is set by choosing the set.
    rng = np.random.default_rng(0)
    z = np.abs(rng.standard_normal((1000, 2)))
    z[:, 1] = rng.standard_normal(1000)
    points = sp.Points(z, np.linalg.norm(z, axis=1))
    snapshots = np.array([[0.1, 1.0], [1.0, 1.0], [5.0, 1.0]])
    run = Weights("fitted", 100, snapshots[-1], np.array([1, 10, 100]), snapshots)
    from sgdphase.perceptron._observe import crossover_time

    margin = 0.0
    expected = sp.averages(snapshots[:, 0], 0.0, 0.0).unfitted
    ratios = [(z @ w < 0).mean() / e for w, e in zip(snapshots, expected, strict=True)]
    assert min(ratios) > 0.5  # a plain sample never separates
    assert math.isnan(crossover_time(run, points, chi=0.0, margin=margin, lr=1.0))
    # Thin out the points unfitted at the last snapshot: now it separates in the last interval.
    hard = np.nonzero(z @ snapshots[-1] < 0)[0]
    kept = np.setdiff1d(np.arange(1000), hard)
    thinned = sp.Points(z[kept], points.norms[kept])
    found = crossover_time(run, thinned, chi=0.0, margin=margin, lr=1.0)
    before = (thinned.z @ snapshots[1] < 0).mean() / expected[1]
    assert found == pytest.approx(10 * 10 ** ((before - 0.5) / before))


def test_a_diverged_training_has_no_observables() -> None:
    outcome = sp.train(
        sp.Training(sp.TeacherTask(8, 1.0), 32, lr=2.0, batch=2, weight_decay=1.5, max_time=1e5)
    )
    assert outcome.status == "diverged"
    assert math.isnan(outcome["test_error"])
    assert math.isfinite(outcome["first_step_w1"])
