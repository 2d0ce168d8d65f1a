"""The gradient noise scale of models whose gradients are known point by point."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from sgdphase.networks import _noise_scale as its_module
from sgdphase.networks._fitting import Fitting
from sgdphase.networks._noise_scale import noise_scale


def linear(dim: int) -> nn.Module:
    """One output `w x`, as shape [n]: the gradient of `y F` is `y x`."""
    return nn.Sequential(nn.Linear(dim, 1, bias=False), nn.Flatten(0)).double()


def of(x: np.ndarray, y: np.ndarray, training: Any) -> float:
    fitting = Fitting.of(linear(x.shape[1]), torch.from_numpy(x), torch.from_numpy(y))
    return noise_scale(fitting, training)


@pytest.fixture
def training(record: Any) -> Any:
    return record(margin=0.25)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_closed_form_of_a_linear_model(record: Any, loss: str) -> None:
    # At the start all points have slope -1 (hinge) or -1/2 (logistic): g = -slope * y x, and the
    # ratio is that of x y, `sum of variances / |mean|^2`, in any units.
    rng = np.random.default_rng(0)
    mean, spread = np.array([1.0, 0.5, 0.0]), np.array([1.0, 2.0, 3.0])
    y = rng.choice([-1.0, 1.0], size=2048)
    x = y[:, None] * (mean + spread * rng.standard_normal((2048, 3)))
    exact = (spread**2).sum() / (mean**2).sum()
    found = of(x, y, record(loss=loss))
    # |G|^2 is known to `2 |G| spread / sqrt(P)`, a few per cent; the scatter to `sqrt(2/64)`.
    assert found == pytest.approx(exact, rel=0.35)


@pytest.mark.parametrize("points", [64, 150, 2048, 5000])
def test_it_is_the_formula_over_groups(training: Any, points: int) -> None:
    rng = np.random.default_rng(points)
    x, y = rng.standard_normal((points, 2)) + 1, np.ones(points)
    size = max(min(points, 2048) // 64, 1)
    count = min(points, 2048) // size * size
    groups = (-x[:count]).reshape(-1, size, 2).mean(axis=1)
    trace = size * groups.var(axis=0, ddof=1).sum()
    square = (groups.mean(axis=0) ** 2).sum() - trace / count
    assert of(x, y, training) == pytest.approx(trace / square, rel=1e-9)


def test_neither_part_is_biased(training: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Few points, so that a bias would show: numerator and denominator, averaged apart.
    rng = np.random.default_rng(1)
    mean, draws, points, groups = np.array([0.3, 0.2]), 600, 32, 8
    monkeypatch.setattr(its_module, "_GROUPS", groups)
    traces, squares = [], []
    for _ in range(draws):
        x = mean + rng.standard_normal((points, 2)) * [1.0, 2.0]
        found = of(x, np.ones(points), training)
        if math.isnan(found):
            # The gradient drowns: rightly so only if the estimate of its square is not above 0.
            means = x.reshape(groups, -1, 2).mean(axis=1)
            trace = points / groups * means.var(axis=0, ddof=1).sum()
            assert (x.mean(axis=0) ** 2).sum() - trace / points <= 0
            square = (x.mean(axis=0) ** 2).sum() - trace / points
        else:
            means = x.reshape(groups, -1, 2).mean(axis=1)
            trace = points / groups * means.var(axis=0, ddof=1).sum()
            square = trace / found
        traces.append(trace), squares.append(square)
    for values, exact in ((traces, 5.0), (squares, (mean**2).sum())):
        error = np.std(values) / math.sqrt(draws)
        assert abs(np.mean(values) - exact) < 4 * error


def test_equal_gradients_have_no_noise(training: Any) -> None:
    assert of(np.ones((100, 3)), np.ones(100), training) == 0.0


def test_points_that_are_fitted_have_no_gradient(training: Any) -> None:
    x, y = torch.ones(100, 3, dtype=torch.float64), torch.ones(100, dtype=torch.float64)
    module = linear(3)
    fitting = Fitting.of(module, x, y)
    with torch.no_grad():
        module[0].weight += 10.0
    assert math.isnan(noise_scale(fitting, training))


def test_a_gradient_that_drowns_is_no_number(training: Any) -> None:
    # Opposite points: the mean is 0, and any positive estimate of its square would be luck.
    x = np.repeat([[1.0], [-1.0]], 32, axis=0)
    assert math.isnan(of(x, np.ones(64), training))


def test_one_point_has_no_scatter(training: Any) -> None:
    assert math.isnan(of(np.ones((1, 3)), np.ones(1), training))


def test_frozen_weights_and_weights_without_use_do_not_count(training: Any) -> None:
    rng = np.random.default_rng(2)
    x, y = torch.from_numpy(rng.standard_normal((128, 3)) + 1), torch.ones(128).double()

    class More(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.unused = linear(3), nn.Linear(9, 9)
            self.frozen = nn.Parameter(torch.ones(3).double(), requires_grad=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x * self.frozen)

    expected = noise_scale(Fitting.of(linear(3), x, y), training)
    assert noise_scale(Fitting.of(More(), x, y), training) == pytest.approx(expected, rel=1e-9)
