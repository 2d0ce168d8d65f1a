"""The two-variable SDE against the deterministic solution and the linear-noise covariance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sgdphase.theory import (
    asymptotic_fluctuations,
    fluctuations,
    mean_abs_x1,
    online,
    online_ensemble,
)


def test_mean_and_covariance() -> None:
    """Power: 600 trajectories in d = 400 know the mean of w_perp to 0.2%, that of w1 (from t = 100
    on) to 0.7% and better, variances to 6%. Systematic: Euler about 0.2%, 1/d = 0.25%.

    Seen at 4 sigma: a shift of the mean by 1 to 3%, a variance off by 25%. Without the correlation
    of the noises, or with the diagonal drift, the last var_w1 would be off by a factor above 1.6.
    """
    size = 600
    kw = dict(chi=1.0, dim=400, margin=0.1, temperature=1.0)
    t = np.array([100.0, 1e3, 4e4])
    e = online_ensemble(t, **kw, size=size, seed=3, accuracy=0.04)
    o, f = online(t, **kw), fluctuations(t, **kw)
    bias = 0.005
    for got, want, var in ((e.w1, o.w1, f.var_w1), (e.w_perp, o.w_perp, f.var_w_perp)):
        assert np.all(np.abs(got.mean(0) - want) < 4 * np.sqrt(var / size) + bias * want)
        assert np.all(np.abs(got.var(0) / var - 1) < 4 * math.sqrt(2 / size) + 0.04)
    for i in range(t.size):
        cov = np.cov(e.w1[:, i], e.w_perp[:, i])[0, 1]
        error = math.sqrt((f.var_w1[i] * f.var_w_perp[i] + f.cov[i] ** 2) / size)
        assert abs(cov - f.cov[i]) < 4 * error
    # the coupled constant, not the diagonal one of SI 4.B, is where var_w1 goes
    limit = asymptotic_fluctuations(1.0)
    assert e.w1[:, -1].var() > 1.6 * limit.var_w1_diagonal


def test_law_while_every_point_is_unfitted() -> None:
    """Power: 2000 trajectories know means to 2.2% of their spread and variances to 3.2%."""
    size, dim, t = 2000, 30, 1e-6
    e = online_ensemble([t], chi=1.0, dim=dim, margin=0.1, temperature=2.0, size=size, seed=0)
    unit = 2.0 / dim * t
    var_x = 2 - mean_abs_x1(1.0) ** 2
    w1, q = e.w1[:, 0], e.w_perp[:, 0] ** 2
    z = (w1 - mean_abs_x1(1.0) * t / math.sqrt(dim)) / math.sqrt(unit * var_x)
    y = (q / unit - (dim + 1)) / math.sqrt(2 * (dim + 1))
    for sample in (z, y):
        assert abs(sample.mean()) < 4 / math.sqrt(size)
        assert abs(sample.var() - 1) < 4 * math.sqrt(2.5 / size)


def test_weight_decay_ends_in_a_stationary_state() -> None:
    """Power: 200 trajectories, 4 sigma is 1.5% of w1 and of w_perp."""
    kw = dict(chi=1.0, dim=400, margin=0.1, temperature=1.0, weight_decay=0.01)
    e = online_ensemble([2e3], **kw, size=200, seed=1)
    o, f = online([2e3], **kw), fluctuations([2e3], **kw)
    for got, want, var in ((e.w1, o.w1, f.var_w1), (e.w_perp, o.w_perp, f.var_w_perp)):
        assert abs(got.mean() - want[0]) < 4 * math.sqrt(var[0] / 200) + 0.005 * want[0]
        assert abs(got.var() / var[0] - 1) < 4 * math.sqrt(2 / 200) + 0.04


def test_trajectories_are_their_own() -> None:
    kw = dict(chi=0.0, dim=20, margin=0.1, temperature=1.0, seed=5)
    few = online_ensemble([10.0, 0.0, 1.0], **kw, size=2)
    more = online_ensemble([10.0, 0.0, 1.0], **kw, size=4)
    np.testing.assert_array_equal(few.w1, more.w1[:2])
    np.testing.assert_array_equal(few.w_perp, more.w_perp[:2])
    assert few.w1.shape == (2, 3)
    assert np.all(few.w1[:, 1] == 0) and np.all(few.w_perp[:, 1] == 0)
    assert np.unique(more.w1[:, 0]).size == 4
    again = online_ensemble([1.0, 10.0], **kw, size=2)
    np.testing.assert_array_equal(again.w1[:, ::-1], few.w1[:, ::2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"accuracy": 1.0}, "accuracy = 1.0"),
        ({"size": 0}, "size = 0"),
        ({"temperature": 0.0}, "temperature = 0.0"),
        ({"times": [[1.0]]}, "times = an array of 2 dimensions"),
    ],
)
def test_bad_input(change: dict, message: str) -> None:
    kw = dict(times=[1.0], chi=1.0, dim=10, margin=0.1, temperature=1.0, size=1, seed=0) | change
    with pytest.raises(ValueError, match=f"^{message}.*must"):
        online_ensemble(kw.pop("times"), **kw)
