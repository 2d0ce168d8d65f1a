"""The critical batch of steps to a target, on laws that are known."""

from __future__ import annotations

import numpy as np
import pytest

from sgdphase.diagram import run_table, steps_to_target
from sgdphase.errors import InputError


def steps(batch, crossover: float, sharpness: float, noise: float = 0.0, seed: int = 0):
    scatter = np.exp(noise * np.random.default_rng(seed).standard_normal(batch.size))
    bend = (1 + (batch / crossover) ** sharpness) ** (1 / sharpness)
    runs = {"batch": batch, "steps": 1e6 / batch * bend * scatter}
    return run_table(runs, value="steps", lr="")


def test_a_hyperbola():
    found = steps_to_target(steps(2.0 ** np.arange(2, 15), 1024, 1.0))
    assert found.crossover.value == pytest.approx(1024, rel=0.02)
    # The three smallest batches have an overhead of 0.7 % themselves.
    assert found.overhead.value == pytest.approx(0.2 * 1024, rel=0.08)
    assert found.efficiency.value == pytest.approx(1024, rel=0.08)
    assert found.scatter < 0.01


def test_a_sharp_bend_has_its_overhead_near_the_crossover():
    found = steps_to_target(steps(2.0 ** np.arange(2, 15), 1024, 4.0))
    true = [1024 * (factor**4 - 1) ** 0.25 for factor in (1.2, 2.0)]
    assert found.overhead.value == pytest.approx(true[0], rel=0.1)
    assert found.efficiency.value == pytest.approx(true[1], rel=0.1)


def test_intervals_cover():
    """40 tables with noise: 90 % intervals miss 9 or more with probability 0.016."""
    misses = 0
    for seed in range(40):
        found = steps_to_target(steps(2.0 ** np.arange(4, 15), 1024, 1.0, 0.05, seed))
        misses += not found.crossover.low <= 1024 <= found.crossover.high
    assert misses <= 8


def test_a_bend_beyond_the_batches_has_no_upper_end():
    found = steps_to_target(steps(2.0 ** np.arange(2, 9), 2048, 1.0, 0.02))
    assert np.isnan(found.crossover.high)
    assert np.isnan(found.efficiency.high)


@pytest.mark.parametrize("crossover", [1.0, 16.0, 150.0, 1e4])
def test_an_interval_holds_its_estimate(crossover: float):
    """Also if the bend is beyond the batches, where the estimate is the last of them."""
    for seed in range(8):
        found = steps_to_target(steps(2.0 ** np.arange(1, 7), crossover, 1.0, 0.1, seed))
        for name in ("crossover", "overhead", "efficiency"):
            estimate = getattr(found, name)
            assert not estimate.value < estimate.low, (name, seed, estimate)
            assert not estimate.value > estimate.high, (name, seed, estimate)


def test_too_few_batches():
    with pytest.raises(InputError, match="4 batches with steps above 0: must be 5 or more"):
        steps_to_target(steps(2.0 ** np.arange(4), 8, 1.0))
