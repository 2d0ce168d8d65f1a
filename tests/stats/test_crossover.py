"""Crossovers of curves with known ones."""

from __future__ import annotations

import numpy as np
import pytest

from sgdphase.errors import InputError
from sgdphase.stats import Curve, crossovers, power_law

BATCH = 2.0 ** np.arange(13)


def planted(rng: np.random.Generator, sharpness: float, noise: float) -> list[Curve]:
    """Curves with `b = 8 (P / 1024)^0.2`, heights that grow with `P`, and factors per seed."""
    curves = []
    for size in 2.0 ** np.arange(10, 16):
        b = 8 * (size / 1024) ** 0.2
        shape = (1 + (b / BATCH) ** sharpness) ** (1 / sharpness)
        factor = np.exp(0.5 * rng.standard_normal(5) + noise * rng.standard_normal((13, 5)))
        curves.append(Curve(size, BATCH, size**0.3 * shape[:, None] * factor))
    return curves


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 2.0, 4.0])
def test_crossovers_without_noise_are_exact_whatever_the_heights(sharpness: float) -> None:
    result = crossovers(planted(np.random.default_rng(0), sharpness, noise=0.0))
    expected = 8 * (result.sizes / 1024) ** 0.2
    # A parabola between sixteenths of an octave.
    np.testing.assert_allclose(result.at, np.tile(expected[:, None], 5), rtol=1e-3)
    assert result.steepness == pytest.approx(1.0) and result.sharpness == sharpness
    assert result.scatter < 0.011  # places are tried at sixteenths of an octave, 0.022 from b


def test_interval_of_the_exponent_covers_as_often_as_it_says() -> None:
    """With 12 trials and a coverage of 0.9, fewer than 8 hits have a chance of 0.0005."""
    hits = 0
    for trial in range(12):
        curves = planted(np.random.default_rng(trial), 1.0, noise=0.15)
        result = crossovers(curves)
        law = power_law(result.sizes, result.at).exponent
        hits += law.low <= 0.2 <= law.high
        assert abs(law.value - 0.2) < 0.1  # five standard errors
    assert hits >= 8


def test_curves_that_do_not_bend_have_no_crossover() -> None:
    steep = Curve(16, BATCH, 1 / BATCH)
    flat = Curve(64, BATCH, np.ones(13))
    bent = Curve(256, BATCH, 1 + 32 / BATCH)
    at = crossovers([steep, flat, bent]).at[:, 0]
    assert np.isnan(at[0]) and np.isnan(at[1]) and at[2] == pytest.approx(32, rel=1e-3)


def test_missing_runs_are_left_out() -> None:
    values = np.stack([1 + 16 / BATCH, 1 + 16 / BATCH], axis=1)
    values[3, 0] = np.nan
    values[2:, 1] = np.nan  # 2 points are left: too few
    at = crossovers([Curve(16, BATCH, values)]).at[0]
    assert at[0] == pytest.approx(16, rel=1e-3) and np.isnan(at[1])


def test_curves_of_different_batches_are_refused() -> None:
    with pytest.raises(InputError, match="same x, 4 or more"):
        crossovers([Curve(1, BATCH, BATCH), Curve(2, BATCH[1:], BATCH[1:])])
