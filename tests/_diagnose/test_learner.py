"""What every learner must keep to: an end, no run twice, the same answer from the same runs."""

from __future__ import annotations

import numpy as np
import pytest

from sgdphase._diagnose.fitted.boundary import CriticalBatchSearch
from sgdphase._diagnose.fitted.gd_line_search import GdLineSearch
from sgdphase._diagnose.fitted.slopes import LocalSlopes

LEARNERS = {
    "slopes": lambda: LocalSlopes(4.0, 32, 2048),
    "slopes at a corner": lambda: LocalSlopes(4.0, 2048, 2048),
    "B*": lambda: CriticalBatchSearch(0.25, 2048),
    "B* from above": lambda: CriticalBatchSearch(64.0, 2048, smallest_batch=3),
    "B* with a guess": lambda: CriticalBatchSearch(0.3, 3000, guess=200.0),
    "GD line": lambda: GdLineSearch(16.0, 64.0, 2048),
    "GD line from below": lambda: GdLineSearch(2.0**-9, 64.0, 2048),
}


SURFACES = {
    "plain": {},
    "noisy": {"cell": 0.7},
    "no hint": {"hint": False},
    "diverges above the line": {"diverges": 8.0},
    "diverges below the line": {"diverges": 0.5},
    "diverges where hot": {"hot": 0.5},
    "cut off by a budget": {"budget": 300.0},
    "B* below 1": {"noise": 2.0**-5},
    "B* above the train size": {"noise": 2.0**10},
    "nothing fitted": {"diverges": 0.0},
    "small batches not positive": {"dark": 32},
    "nothing positive": {"dark": 4096},
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("kind", SURFACES)
def test_invariants(surface, finish, name, kind):
    """It ends, asks for nothing twice and for nothing it may not, and forgets the order."""
    run, learner = surface(**SURFACES[kind]), LEARNERS[name]()
    asked = finish(learner, run)
    assert len(asked) == len(set(asked))
    assert all(learner.smallest_batch <= t.batch <= learner.train_size for t in asked)
    assert all(t.seed < learner.most_seeds for t in asked)

    shuffled = LEARNERS[name]()
    for k in np.random.default_rng(0).permutation(len(asked)):
        shuffled.tell(asked[k], run(asked[k]))
    assert shuffled.ask() == () and repr(shuffled.answer()) == repr(learner.answer())

    # Told the first half, it goes on to where the first one came, and asks for no more.
    resumed = LEARNERS[name]()
    for trial in asked[: len(asked) // 2]:
        resumed.tell(trial, run(trial))
    resumed.answer()
    assert set(finish(resumed, run)) == set(asked[len(asked) // 2 :])
    assert repr(resumed.answer()) == repr(learner.answer())  # as NaN is not NaN


@pytest.mark.parametrize("name", LEARNERS)
def test_runs_that_fail_at_random_do_not_trap_it(surface, outcome, finish, name):
    for replica in range(5):
        run = surface(replica=replica)

        def unreliable(trial, run=run, replica=replica):
            key = [replica, trial.seed, trial.batch, round(1000 * trial.lr)]
            return outcome("failed") if np.random.default_rng(key).random() < 0.3 else run(trial)

        learner = LEARNERS[name]()
        asked = finish(learner, unreliable)
        assert len(asked) == len(set(asked)) and learner.ask() == ()
