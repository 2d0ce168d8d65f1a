"""The regime at a point: slopes within seeds, seeds by need, and what it says if it cannot tell."""

from __future__ import annotations

import math

import pytest

from sgdphase._diagnose.fitted.slopes import LocalSlopes
from sgdphase._diagnose.learner import Trial

# B* = 64 and the first-step line at lr = 1: at least 5 octaves into each regime.
DEEP = [
    (2.0**8, 2, "noise-dominated", 1, -1),
    (2.0**8, 2048, "first-step-dominated", 1, 0),
    (2.0**-8, 512, "GD", 0, 0),
]


@pytest.mark.parametrize(("lr", "batch", "regime", "in_lr", "in_batch"), DEEP)
def test_exact_slopes_whatever_multiplies_a_seed(
    surface, finish, lr, batch, regime, in_lr, in_batch
):
    learner = LocalSlopes(lr, batch, 4096)
    runs = finish(learner, surface(common=3.0, cell=0.0))
    found = learner.answer()
    assert found.regime == regime and found.confidence == 1.0
    assert found.lr.value == pytest.approx(in_lr, abs=0.05)
    assert found.batch.value == pytest.approx(in_batch, abs=0.05)
    assert len(runs) == 15 and found.seeds == 3 and found.notes == ()


@pytest.mark.parametrize(
    ("lr", "batch", "regime"),
    [
        (2.0**8, 4, "noise-dominated"),
        (2.0**8, 512, "first-step-dominated"),
        (2.0**-6, 256, "GD"),
    ],
)
def test_regimes_of_the_perceptron(perceptron, finish, lr, batch, regime):
    for replica in range(3):
        learner = LocalSlopes(lr, batch, 1024)
        finish(learner, perceptron(32, 1024, first_seed=100 * replica))
        assert learner.answer().regime == regime


def test_a_crossover_is_named_as_one_and_ends_the_search(surface, finish):
    # m = m_gd + a lr/batch with both equal: slopes 1/2 and -1/2, 0.71 from both targets.
    learner = LocalSlopes(2.0**-3, 8, 4096)
    runs = finish(learner, surface(cell=0.02))
    found = learner.answer()
    assert found.regime == "unclear"
    assert found.lr.value == pytest.approx(0.5, abs=0.05)
    assert len(runs) == 15
    assert found.between == ("noise-dominated", "GD")


@pytest.mark.parametrize(
    ("slopes", "between", "note"),
    [
        # As far from noise as from the first step, but nearest to the line from noise to GD.
        ((0.78, -0.50), ("noise-dominated", "first-step-dominated"), ""),
        # As far from all three, and on the line from noise to GD.
        ((0.5, -0.5), ("noise-dominated", "GD"), ""),
        ((0.5, 0.1), ("first-step-dominated", "GD"), ""),
        ((0.6, -0.33), None, "between all three regimes"),
        ((0.5, 0.6), None, "no regime and no crossover has such slopes"),
    ],
)
def test_a_crossover_is_between_the_regimes_that_weigh_most(outcome, finish, slopes, between, note):
    def run(trial):
        noise = 0.01 * math.sin(99 * trial.seed + 7 * trial.lr + trial.batch)
        return outcome(alignment=trial.lr ** slopes[0] * trial.batch ** slopes[1] * math.exp(noise))

    learner = LocalSlopes(1.0, 64, 4096)
    finish(learner, run)
    found = learner.answer()
    assert found.regime == "unclear" and found.between == between
    assert note in "".join(found.notes)


def test_noise_that_leaves_two_crossovers_open_names_none(outcome, finish):
    """Weights 0.50, 0.26 and 0.24, with errors of about 0.03: the second may be either."""

    def run(trial):
        noise = 0.06 * math.sin(99 * trial.seed + 7 * trial.lr + trial.batch)
        return outcome(alignment=trial.lr**0.76 * trial.batch**-0.5 * math.exp(noise))

    learner = LocalSlopes(1.0, 64, 4096)
    finish(learner, run)
    found = learner.answer()
    assert found.between is None and "leave open between which regimes" in found.notes[0]


def test_seeds_are_added_where_noise_leaves_it_open(surface, finish):
    few, many = [], []
    for replica in range(20):
        for cell, counts in ((0.05, few), (0.5, many)):
            learner = LocalSlopes(2.0**8, 8, 4096, seeds=2)
            counts.append(len(finish(learner, surface(cell=cell, replica=replica))))
    assert max(few) == 10 < sum(many) / len(many)
    assert max(many) <= 60


def test_misnaming_is_no_more_frequent_than_the_confidence_allows(surface, finish):
    """Deep in a regime and with slopes of sd 0.5 a seed: at most 1 in 5 misnamed.

    72 points. If 1 in 5 was the rate, more than 20 would have probability 4 %; at 1 in 3 this
    notices with probability 81 %.
    """
    wrong = 0
    for replica in range(24):
        for lr, batch, regime, _, _ in DEEP:
            learner = LocalSlopes(lr, batch, 4096)
            finish(learner, surface(cell=0.5, replica=replica))
            wrong += learner.answer().regime not in (regime, "unclear")
    assert wrong <= 20


def test_one_sided_at_the_ends_of_the_range(surface, finish):
    for batch, wanted in ((1, -1), (4096, 0)):
        learner = LocalSlopes(2.0**8, batch, 4096)
        runs = finish(learner, surface(cell=0.0))
        assert len(runs) == 12
        assert learner.answer().batch.value == pytest.approx(wanted, abs=0.01)
    odd = LocalSlopes(2.0**8, 5, 4096, smallest_batch=4)  # from 4 to 10, real distances
    finish(odd, surface(cell=0.0))
    assert odd.answer().batch.value == pytest.approx(-1, abs=0.01)


def test_one_sided_next_to_divergence(surface, finish):
    learner = LocalSlopes(2.0**8, 2, 4096)
    finish(learner, surface(cell=0.0, diverges=2.0**8))
    found = learner.answer()
    assert found.regime == "noise-dominated"
    assert found.lr.value == pytest.approx(1, abs=0.01)
    assert found.notes == (
        "the slope in lr is one-sided in some seeds: at lr 512 and batch 2, 3 of 3 runs diverged",
    )


@pytest.mark.parametrize(
    ("status", "observables", "regime", "reason"),
    [
        ("diverged", {}, "diverged", "3 of 3 runs diverged"),
        ("failed", {}, "missing", "3 of 3 runs failed"),
        ("budget", {}, "missing", "3 of 3 runs were given up"),
        ("budget", {"alignment": 1.0}, "missing", "3 of 3 runs were cut off before every point"),
        (
            "budget",
            {"alignment": 1.0, "train_error": 0.125},
            "missing",
            "cannot be fitted: 3 of 3 runs end at training error 12 %",
        ),
        ("budget", {"train_error": 0.0}, "missing", "but some short of the margin"),
        (
            "fitted",
            {"alignment": -0.2},
            "unclear",
            "15 of 15 runs have an alignment that is not positive (down to -0.2)",
        ),
    ],
)
def test_a_point_of_no_use_has_its_true_reason(
    outcome, finish, status, observables, regime, reason
):
    learner = LocalSlopes(1.0, 8, 4096)
    # More seeds would not help, and none are asked for.
    assert len(finish(learner, lambda trial: outcome(status, **observables))) == 15
    found = learner.answer()
    assert (found.regime, found.confidence, found.lr, found.seeds) == (regime, None, None, 0)
    assert reason in found.notes[0]


def test_one_seed_has_slopes_without_an_interval(surface, finish):
    learner = LocalSlopes(2.0**8, 2, 4096, seeds=1, most_seeds=1)
    finish(learner, surface())
    found = learner.answer()
    assert found.regime == "unclear" and found.confidence is None
    assert math.isfinite(found.lr.value) and math.isnan(found.lr.low)
    assert "two are needed" in found.notes[0]


def test_no_slope_in_batch_if_there_is_one_batch(surface, finish):
    learner = LocalSlopes(1.0, 8, 8, smallest_batch=8, most_seeds=4)
    finish(learner, surface())
    found = learner.answer()
    assert found.regime == "unclear" and found.batch is None and found.lr is not None
    assert "no slope in batch" in found.notes[0]


def test_nothing_told_is_no_answer():
    found = LocalSlopes(1.0, 8, 64).answer()
    assert (found.regime, found.lr, found.batch, found.seeds) == ("unclear", None, None, 0)


def test_seeds_told_by_others_count(surface, finish):
    learner = LocalSlopes(2.0**8, 2, 4096)
    for lr, batch in (learner.middle, *learner.rates, *learner.batches):
        for seed in range(20, 26):
            learner.tell(Trial(lr, batch, seed), surface()(Trial(lr, batch, seed)))
    finish(learner, surface())
    assert learner.answer().seeds == 9
