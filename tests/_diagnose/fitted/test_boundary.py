"""`B*` and the GD line by a search: what every learner must keep to, and the truth it must find.

An interval of level 0.9 that is honest holds the truth in a share 0.9 of replicas. Bounds on the
counts below are such that an honest one passes with probability above 0.999 (binomial tail), and
the docstrings say what they would notice.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from sgdphase._diagnose.fitted.boundary import CriticalBatchSearch
from sgdphase._diagnose.fitted.gd_line_search import GdLineSearch
from sgdphase._diagnose.learner import Trial


@pytest.mark.parametrize("lr", [2.0**-6, 1.0, 2.0**7])
@pytest.mark.parametrize("hint", [True, False])
def test_exact_law_gives_exact_boundaries(surface, finish, lr, hint):
    run = surface(common=2.0, cell=0.0, hint=hint)
    learner = CriticalBatchSearch(lr, 4096)
    asked = finish(learner, run)
    found = learner.answer()
    # What is left is m_gd in the noise-dominated cells: a fourth of b lr, or less.
    assert found.critical_batch.value == pytest.approx(64, rel=0.06)
    assert found.lr >= 2 and len(asked) <= 30 and found.notes == ()

    line = GdLineSearch(found.lr, found.critical_batch.value, 4096)
    finish(line, run)
    points = line.answer().points
    assert [point.batch for point in points] == [16, 256]
    for point in points:
        assert abs(math.log2(point.lr.value / run.line(point.batch))) < 0.15


def test_coverage_on_a_known_law(surface, finish):
    """120 replicas with much noise: as many hold `B*` as all but one in 1000 honest ones would.

    Intervals that hold it 3 times in 4 would pass with probability 0.08 only.
    """
    held, half = 0, []
    for replica in range(120):
        learner = CriticalBatchSearch(2.0**6, 4096)
        finish(learner, surface(cell=0.3, replica=replica))
        found = learner.answer().critical_batch
        held += found.low <= 64 <= found.high
        half.append(math.log2(found.high / found.low) / 2)
    assert held >= binom.ppf(0.001, 120, 0.9)
    assert np.quantile(half, 0.9) <= 0.5


def test_replicas_by_need(surface, finish):
    few = CriticalBatchSearch(2.0**6, 4096)
    many = CriticalBatchSearch(2.0**6, 4096, tolerance=0.1)
    for learner in (few, many):
        finish(learner, surface(cell=0.3))
    seeds = [max(t.seed for t in learner.observations.runs) + 1 for learner in (few, many)]
    assert seeds[0] < seeds[1] == 12


def test_it_stays_at_the_given_rate_if_that_is_high_enough(surface, finish):
    learner = CriticalBatchSearch(40.0, 4096)
    asked = finish(learner, surface())
    assert learner.answer().lr == 40.0
    assert {t.lr for t in asked} == {40.0, 10.0}


def test_the_hint_saves_runs(surface, finish):
    asked = {}
    for hint in (True, False):
        learner = CriticalBatchSearch(2.0**-8, 4096)
        asked[hint] = len(finish(learner, surface(hint=hint)))
        found = learner.answer().critical_batch
        assert found.low <= 64 <= found.high
    assert asked[True] < asked[False]


def test_the_hint_is_no_part_of_the_answer(surface, outcome, finish):
    """A first step that is told wrongly in the runs of the row changes nothing."""
    learner, misled = CriticalBatchSearch(2.0**6, 4096), CriticalBatchSearch(2.0**6, 4096)
    finish(learner, surface())
    finish(
        misled,
        lambda t: outcome(alignment=surface()(t)["alignment"], first_step_alignment=1e-6),
    )
    assert misled.answer() == learner.answer()


def test_runs_told_by_others_are_used(surface, finish):
    run = surface()
    alone, helped = CriticalBatchSearch(2.0**6, 4096), CriticalBatchSearch(2.0**6, 4096)
    finish(alone, run)
    for seed in range(8):
        for k in range(13):
            helped.tell(Trial(2.0**6, 2**k, seed), run(Trial(2.0**6, 2**k, seed)))
    assert len(finish(helped, run)) == 1  # the slope in lr
    pair = [x.answer().critical_batch for x in (alone, helped)]
    assert pair[1].high / pair[1].low < pair[0].high / pair[0].low


def test_bounds_and_reasons(surface, finish):
    def answer(learner=None, **changes):
        learner = learner or CriticalBatchSearch(4.0, 2048)
        finish(learner, surface(cell=0.02, **changes))
        return learner.answer()

    below = answer(noise=2.0**-5)
    assert below.critical_batch is None and "below 2" in below.notes[0]
    above = answer(noise=2.0**10)
    assert above.critical_batch is None and "above 1024" in above.notes[0]
    low = answer(diverges=0.5)
    assert low.critical_batch is None and low.lr is None
    assert "no first-step-dominated regime" in low.notes[0]
    assert "runs from lr 1 up are of no use" in low.notes[0] and "diverged" in low.notes[0]
    nothing = answer(diverges=0.0)
    # lr = 4, 1, ... down to 4/1024.
    assert nothing.lr is None and "can be compared: 6 of 6 runs diverged" in nothing.notes[0]
    dark = answer(dark=2049)
    assert dark.lr is None
    assert "6 of 6 runs have an alignment that is not positive (down to -0.1)" in dark.notes[0]
    # B* = 64: noise would dominate at batches that are not positive here.
    half_dark = answer(dark=128)
    assert half_dark.critical_batch is None and half_dark.too_noisy
    assert "have an alignment that is not positive" in half_dark.notes[0]
    # T = lr/batch up to 1/4 at the row's lr of 4: batches from 16 on, a fourth of B*.
    hot = answer(hot=0.25)
    assert hot.critical_batch.low <= 64 <= hot.critical_batch.high
    single = answer(CriticalBatchSearch(4.0, 2048, seeds=1, most_seeds=1))
    assert single.critical_batch.value == pytest.approx(64, rel=0.2)
    assert math.isnan(single.critical_batch.low) and "one seed" in single.notes[0]
    unasked = CriticalBatchSearch(4.0, 2048).answer()
    assert unasked.critical_batch is None and "has not ended" in unasked.notes[0]


def test_no_two_laws_no_boundary(outcome, finish):
    """`m ~ lr batch^-1/3`, which has neither side."""

    def run(trial):
        seed = math.exp(0.5 * math.cos(trial.seed))
        return outcome(alignment=seed * trial.lr * trial.batch ** (-1 / 3))

    learner = CriticalBatchSearch(4.0, 2048)
    finish(learner, run)
    found = learner.answer()
    assert found.critical_batch is None and found.notes


@pytest.mark.parametrize(("chi", "lr"), [(1.0, 1.0), (1.0, 2.0**6)])
def test_perceptron_as_the_full_grid_with_a_fifth_of_its_runs(
    perceptron, full_grid, finish, chi, lr
):
    """30 replicas with seeds of their own: 20 or more hold the full grid's `B*`.

    Of honest intervals fewer than 20 do once in 10000 times.

    The bound leaves room for the error of the grid itself (12 seeds, about 0.05 octaves): intervals
    that hold it 1 time in 2 would pass with probability 0.05.
    """
    diagram, cells = full_grid(perceptron(32, 512, chi), 12)
    held, half = 0, []
    for replica in range(30):
        learner = CriticalBatchSearch(lr, 512)
        asked = finish(learner, perceptron(32, 512, chi, first_seed=100 * (replica + 1)))
        found = learner.answer().critical_batch
        held += found.low <= diagram.critical_batch.value <= found.high
        half.append(math.log2(found.high / found.low) / 2)
        seeds = 1 + max(t.seed for t in asked)
        assert len(asked) <= seeds * cells / 5
    assert held >= 20
    assert np.median(half) <= 0.5
