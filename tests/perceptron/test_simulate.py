"""What the simulator gives back: the same bits, the weights after their steps, the first step."""

import math

import numpy as np

from sgdphase import simulate_sgd


def test_same_seed_same_bits(points) -> None:
    data = points(512, 16, 1.0)
    runs = [simulate_sgd(data, margin=2**-7, lr=4.0, batch=4, seed=5) for _ in range(2)]
    assert np.array_equal(runs[0].w, runs[1].w)
    assert runs[0].steps == runs[1].steps


def test_a_fitted_training_has_no_unfitted_point_and_one_before_its_end_has(points) -> None:
    data = points(1024, 16, 1.0)
    threshold = 2**-7 * math.sqrt(16)
    run = simulate_sgd(data, margin=2**-7, lr=2.0, batch=2, seed=1)
    assert (data.z @ run.w >= threshold).all()
    before = simulate_sgd(data, margin=2**-7, lr=2.0, batch=2, seed=1, max_steps=run.steps // 2)
    assert before.status == "budget"
    assert (data.z @ before.w < threshold).any()
    assert before.steps <= run.steps // 2


def test_snapshots_are_the_weights_after_their_steps(points) -> None:
    # Without noise (full batch) a run cut at step s ends with the snapshot of step s.
    data = points(256, 8, 1.0)
    run = simulate_sgd(data, margin=0.1, lr=0.5, batch=256)
    assert run.snapshot_steps[-1] == run.steps
    for step, snapshot in zip(run.snapshot_steps[:12], run.snapshots[:12], strict=True):
        cut = simulate_sgd(data, margin=0.1, lr=0.5, batch=256, max_steps=int(step))
        np.testing.assert_allclose(cut.w, snapshot, rtol=1e-12)


def test_first_step_is_the_batch_mean(points) -> None:
    data = points(64, 8, 1.0)
    run = simulate_sgd(data, margin=0.1, lr=3.0, batch=64, max_steps=1)
    np.testing.assert_allclose(run.w, 3.0 * data.z.mean(axis=0) / math.sqrt(8))
