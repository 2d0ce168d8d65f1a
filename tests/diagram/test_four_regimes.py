"""The regimes of the perceptron, where all of them are known, by three slopes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sgdphase._records import Training
from sgdphase._sweep import train
from sgdphase.diagram._comparison import Comparison
from sgdphase.diagram._four_regimes import TrainingRegime, neighbour_slopes, training_regime
from sgdphase.diagram._training_runs import Setting, TrainingRun
from sgdphase.problems import TeacherTask


def run(setting: Setting, seed: int) -> TrainingRun:
    """A perceptron that sees each point so many times, or stops before, when all are fitted."""
    outcome = train(
        Training(TeacherTask(32, 1.0), train_size=1024, lr=setting.lr, batch=setting.batch,
                 seed=seed, test_size=1024, max_samples=1024 * setting.epochs)
    )  # fmt: skip
    size = math.hypot(outcome["w1"], outcome["w_perp"])
    return TrainingRun(setting, seed, {"alignment": outcome["alignment"], "weight_change": size})


def regime_of(lr: float, batch: int, epochs: int) -> TrainingRegime:
    yours = Setting(lr, batch, epochs)
    lower, larger = Setting(lr / 2, batch, epochs), Setting(lr, 2 * batch, epochs)
    shorter = Setting(lr, batch, epochs // 2)
    runs = [run(s, seed) for s in (yours, lower, larger, shorter) for seed in range(4)]
    compared = Comparison(runs, yours, metric="alignment", maximize=True)
    return training_regime(neighbour_slopes(compared, lower=lower, larger=larger, other=shorter))


@pytest.mark.parametrize(
    ("name", "lr", "batch", "epochs"),
    [
        ("noise-dominated", 4.0, 2, 4096),
        ("noise-dominated", 16.0, 2, 8192),
        ("noise-dominated, unfinished", 16.0, 2, 2),
        ("first-step-dominated", 1024.0, 512, 4096),
        ("gradient descent", 2.0**-6, 256, 2**18),
        ("gradient descent", 2.0**-7, 16, 2**15),
        ("time-limited", 2.0**-9, 64, 8),
    ],
)
def test_the_perceptron_is_named_as_the_paper_says(
    name: str, lr: float, batch: int, epochs: int
) -> None:
    assert regime_of(lr, batch, epochs).name == name


def test_the_unfinished_noise_regime_has_the_exponent_of_the_theory() -> None:
    """`w1 ~ t^(1/(3+chi))` at given T: a slope of 1/4 in epochs at chi = 1."""
    slopes = regime_of(16.0, 2, 4).slopes
    assert slopes is not None and slopes.epochs is not None
    assert slopes.lr.value == pytest.approx(1, abs=0.1)
    assert slopes.batch.value == pytest.approx(-1, abs=0.1)
    assert slopes.epochs.value == pytest.approx(1 / 4, abs=0.1)


@pytest.mark.parametrize(
    ("slopes", "name", "between"),
    [
        ((0.4, -0.2, 0.0), None, ("noise-dominated", "first-step-dominated")),
        ((0.4, -0.22, 0.2), None, ("time-limited", "first-step-dominated")),
        # As of lr ~ sqrt(batch), or with more epochs than lr is worth: no regime, no crossover.
        ((0.5, -0.25, 0.5), None, None),
        ((1.0, -1.0, 1.6), None, None),
        ((0.5, 0.5, -0.5), None, None),
        # An accuracy changes little, and is not at its end for that.
        ((0.016, -0.016, 0.016), "time-limited", None),
    ],
)
def test_between_is_only_said_of_two_that_it_is_between(
    slopes: tuple[float, ...], name: str | None, between: tuple[str, str] | None
) -> None:
    noise = np.random.default_rng(0).normal(size=(3, 5)) * 0.001
    per_seed = {
        key: slope + noise[k] for k, (key, slope) in
        enumerate(zip(("lr", "batch", "epochs"), slopes, strict=True))
    }  # fmt: skip
    regime = training_regime({"accuracy": per_seed})
    assert regime.name == name
    assert (regime.between and set(regime.between)) == (between and set(between))
    assert name or between or "no regime" in regime.why
