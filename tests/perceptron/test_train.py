"""Observables, crossover time, trajectories, and what the authors' own program gave."""

import math

import numpy as np
import pytest

import sgdphase as sp
from sgdphase.perceptron._simulate import Weights

# B, lr and the values of w1 and |w_perp| that the authors' published program gave at chi=1, d=128,
# margin=1/128, P=1024, one a seed (training set).
AUTHORS = [
    (1, 1.0, (12.58, 12.53, 12.35), (4.55, 4.06, 4.08)),
    (8, 16.0, (24.6, 25.8, 24.9), (8.16, 8.10, 8.94)),
    (1, 1 / 64, (0.4125,), (0.120,)),
    (16, 32.0, (26.76,), (8.541,)),
    (64, 128.0, (25.73,), (9.113,)),
    (64, 1 / 16, (0.2386,), (0.0676,)),
    (512, 1 / 4, (0.2325,), (0.0670,)),
    (512, 512.0, (56.05,), (20.93,)),
    (1024, 1 / 32, (0.2262,), (0.0653,)),
    (1024, 2.0, (0.2644,), (0.0671,)),
    (1024, 512.0, (56.21,), (16.61,)),
]


def test_agrees_with_the_authors_program() -> None:
    # Each of their values is one draw of our distribution over seeds: no value beyond 4 standard
    # deviations, and their mean deviation (shared training sets make it about one draw in all for
    # each quantity) within 3. Seeds scatter by 2 to 9 %, so this notices a bias in all values of
    # about 14 % (w1) or 21 % (w_perp) only; the sharp test is that against the plain loop.
    scores: dict[str, list[float]] = {"w1": [], "w_perp": []}
    for batch, lr, w1, w_perp in AUTHORS:
        runs = [
            sp.train(sp.Training(sp.TeacherTask(128, 1.0), 1024, lr, batch, seed=s, test_size=16))
            for s in range(24)
        ]
        for name, theirs in (("w1", w1), ("w_perp", w_perp)):
            ours = np.array([run[name] for run in runs])
            scores[name] += [(value - ours.mean()) / ours.std(ddof=1) for value in theirs]
    for name, values in scores.items():
        assert np.abs(values).max() < 4, (name, values)
        assert abs(np.mean(values)) < 3, (name, values)


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


def test_weight_decay_runs_for_its_time() -> None:
    outcome = sp.train(
        sp.Training(sp.TeacherTask(8, 1.0), 32, lr=2.0, batch=2, weight_decay=1e-3, max_time=1000)
    )
    assert (outcome.status, outcome.time) == ("budget", 1000.0)


def test_weight_decay_without_an_end_is_refused() -> None:
    with pytest.raises(sp.InputError, match="never ends; give max time"):
        sp.Training(sp.TeacherTask(8, 1.0), 32, lr=2.0, batch=2, weight_decay=1e-3)


def test_expected_seconds_orders_cells_by_cost() -> None:
    from sgdphase.perceptron import expected_seconds

    def cell(lr: float, batch: int) -> sp.Training:
        return sp.Training(sp.TeacherTask(), 8192, lr=lr, batch=batch)

    assert expected_seconds(cell(2**-10, 8192)) > 10 * expected_seconds(cell(2**-10, 8))
    assert expected_seconds(cell(2**-10, 8192)) > 100 * expected_seconds(cell(2**10, 8192))
