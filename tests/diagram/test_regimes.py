"""Slopes and regimes of cells on planes whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sgdphase.diagram import plane_from_table
from sgdphase.diagram._regimes import classify, local_slopes


def true_regime(model, plane):
    """By the largest of the three terms, and where it is 8 times the others."""
    lr, batch = plane.lr[:, None], plane.batch[None]
    one = np.ones((lr.size, batch.size))
    terms = np.stack([model.noise * lr / batch, model.first * lr * one, model.gd * one])
    first, second = np.sort(terms, axis=0)[[-1, -2]]
    names = np.array(["noise-dominated", "first-step-dominated", "GD"])
    return names[terms.argmax(axis=0)], first >= 8 * second


def test_slopes_of_a_power_law_are_exact_also_at_edges_and_gaps(model):
    plane = plane_from_table(model.table())
    value = 3.0 * plane.lr[:, None, None] ** 0.7 * plane.batch[None, :, None] ** -0.4
    value = value * np.array([1.0, 2.0, 0.3, 5.0])
    value[4, 4, 0] = value[5, 7] = np.nan
    slopes, errors = local_slopes(replace(plane, value=value))
    there = np.isfinite(value)
    np.testing.assert_allclose(slopes[there], np.broadcast_to([0.7, -0.4], slopes[there].shape))
    assert np.isnan(slopes[~there]).all() and np.nanmax(errors) < 1e-7


def test_regimes_are_recovered(model):
    plane = plane_from_table(model.table(np.random.default_rng(0)))
    found = classify(plane)
    truth, deep = true_regime(model, plane)
    named = np.isin(found.regime, ["noise-dominated", "first-step-dominated", "GD"])
    assert (found.regime == truth)[deep].mean() > 0.97
    assert (found.regime == truth)[named].mean() > 0.95
    assert found.confidence[deep & named].min() >= 0.8


def test_noise_makes_cells_unclear_rather_than_wrong(model):
    wrong = clear = 0
    for k in range(10):
        plane = plane_from_table(model.table(np.random.default_rng(k), seeds=3, cell=0.8))
        found = classify(plane, replicates=300)
        truth, deep = true_regime(model, plane)
        named = (found.regime != "unclear") & deep
        clear += named.sum()
        wrong += (found.regime != truth)[named].sum()
    assert wrong < 0.1 * clear


def test_the_end_of_a_growth_is_not_gradient_descent(model):
    """A plane without GD, whose largest learning rates change nothing any more."""
    plane = plane_from_table(model.table(np.random.default_rng(0)))
    rates = np.minimum(plane.lr, plane.lr[-4])
    value = (rates[:, None] / plane.batch)[..., None] * np.ones(plane.seed.size)
    found = classify(replace(plane, value=value, status=np.full(value.shape, "fitted")))
    assert not (found.regime == "GD").any()
    assert (found.regime[:-5] == "noise-dominated").all()
