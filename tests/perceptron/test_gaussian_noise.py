"""Eq. 2: the moments of one step, gradient flow without noise, and agreement with SGD."""

import math

import numpy as np

from sgdphase import simulate_sde, simulate_sgd
from sgdphase.perceptron._gaussian_noise import run_sde
from sgdphase.perceptron._random import random_state


def test_one_step_has_the_empirical_gradient_and_covariance(points) -> None:
    # From w = 0, where all are unfitted: 20000 steps give each entry to 5 standard errors.
    data = points(40, 3)
    temperature, dt, draws = 0.7, 0.3, 20_000
    gradients = data.z / math.sqrt(3)
    steps = np.empty((draws, 3))
    state = random_state(1, 1)
    nothing, none = np.empty(0, np.int64), np.empty((0, 3))
    for i in range(draws):
        _, steps[i], _, _ = run_sde(
            data.z, 1e9, temperature, dt, 1, nothing, none, state, np.zeros(1, np.int64)
        )
    covariance = temperature * dt * np.cov(gradients.T, bias=True)
    error = np.sqrt(np.diag(covariance) / draws)
    assert (abs(steps.mean(axis=0) - dt * gradients.mean(axis=0)) < 5 * error).all()
    spread = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)) * 2 / draws)
    assert (abs(np.cov(steps.T) - covariance) < 5 * spread).all()


def test_fitted_points_enter_the_covariance(points) -> None:
    # From a state with fitted and unfitted points the next step has covariance T dt Sigma.
    data = points(60, 3)
    dt, temperature, draws = 0.2, 0.5, 20_000
    threshold = 0.25 * math.sqrt(3)
    first = np.array([1], np.int64)
    nothing = np.zeros(1, np.int64)
    snapshots = np.empty((1, 3))
    residual = np.empty((draws, 3))
    state = random_state(2, 1)
    fitted = 0
    for i in range(draws):
        _, w, _, _ = run_sde(
            data.z, threshold, temperature, dt, 2, first, snapshots, state, nothing
        )
        unfitted = data.z @ snapshots[0] < threshold
        fitted += int((~unfitted).sum())
        g = data.z * unfitted[:, None] / math.sqrt(3)
        sigma = np.cov(g.T, bias=True)
        # Whitened with the covariance of its own state, the second step is standard normal.
        step = w - snapshots[0] - dt * g.mean(axis=0)
        residual[i] = np.linalg.solve(np.linalg.cholesky(sigma * temperature * dt), step)
    assert 0.1 < fitted / (60 * draws) < 0.9
    assert (abs(residual.mean(axis=0)) < 5 / math.sqrt(draws)).all()
    assert (abs(np.cov(residual.T) - np.eye(3)) < 5 * math.sqrt(2 / draws)).all()


def test_without_noise_it_is_gradient_descent(points) -> None:
    data = points(200, 6)
    sde = simulate_sde(data, margin=0.1, temperature=0.0, dt=0.25)
    sgd = simulate_sgd(data, margin=0.1, lr=0.25, batch=200)
    assert sde.steps == sgd.steps
    np.testing.assert_allclose(sde.w, sgd.w, rtol=1e-9)


def test_sde_and_sgd_agree_where_steps_are_small(points) -> None:
    # Steps of B = 1 are far below the margin, and about half of the points are fitted by then.
    # 100 runs each give the means to about 1.5 %; they must agree to 4 standard errors.
    data = points(256, 8)
    temperature, time = 0.005, 15.0
    sgd, sde = [], []
    for seed in range(100):
        run = simulate_sgd(
            data,
            margin=1.0,
            lr=temperature,
            batch=1,
            seed=seed,
            max_steps=round(time / temperature),
        )
        sgd.append([run.w[0], np.linalg.norm(run.w[1:])])
        run = simulate_sde(
            data, margin=1.0, temperature=temperature, dt=temperature, seed=seed, max_time=time
        )
        sde.append([run.w[0], np.linalg.norm(run.w[1:])])
    unfitted = (data.z @ np.append(np.mean(sgd, axis=0)[0], np.zeros(7)) < math.sqrt(8)).mean()
    assert 0.1 < unfitted < 0.9
    error = np.hypot(np.std(sgd, axis=0), np.std(sde, axis=0)) / math.sqrt(100)
    assert (error / np.mean(sgd, axis=0) < 0.02).all()
    assert (np.abs(np.mean(sde, axis=0) - np.mean(sgd, axis=0)) < 4 * error).all()
