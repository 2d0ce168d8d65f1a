"""The GD line by a search: coverage on a known law, and the line of the full grid."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from sgdphase._diagnose.fitted.gd_line_search import GdLineSearch


def test_coverage_of_the_line_on_a_known_law(surface, finish):
    """60 replicas, 2 points each, that share a plateau: as many hold as above, at each batch."""
    held = {16: 0, 256: 0}
    for replica in range(60):
        run = surface(cell=0.15, replica=replica)
        learner = GdLineSearch(2.0**4, 64.0, 4096)
        finish(learner, run)
        for point in learner.answer().points:
            held[point.batch] += point.lr.low <= run.line(point.batch) <= point.lr.high
    assert min(held.values()) >= binom.ppf(0.001, 60, 0.9)


def test_the_line_where_it_cannot_be_seen(surface, finish):
    def notes(lr=16.0, **changes):
        learner = GdLineSearch(lr, 64.0, 2048)
        finish(learner, surface(cell=0.02, **changes))
        return learner.answer()

    cut = notes(budget=60.0)  # the plateau is below lr = 1/8 at batch 16
    assert cut.points == ()
    assert "cannot be fitted: 1 of 1 run ends at training error 20 %" in cut.notes[0]
    capped = notes(lr=0.25, diverges=1.0)
    assert [p.batch for p in capped.points] == [16]
    assert "diverged: there the line ends" in capped.notes[0]
    nowhere = notes(gd=1e-9)
    assert nowhere.points == () and "still falls with lr" in nowhere.notes[0]


def test_line_of_the_perceptron_as_the_fullfull_grid(perceptron, full_grid, finish):
    """The mean over 12 replicas is within 0.1 octaves, and its error, of the grid's line."""
    diagram, _ = full_grid(perceptron(32, 512, 1.0), 12)
    truth = {point.batch: point for point in diagram.gd_line}
    errors = {}
    for replica in range(12):
        learner = GdLineSearch(2.0**5, diagram.critical_batch.value, 512)
        finish(learner, perceptron(32, 512, first_seed=100 * (replica + 1)))
        for point in learner.answer().points:
            errors.setdefault(point.batch, []).append(
                math.log2(point.lr.value / truth[point.batch].lr.value)
            )
    assert sorted(errors) == [8, 128]
    for batch, off in errors.items():
        grid = math.log2(truth[batch].lr.high / truth[batch].lr.low) / 2
        assert abs(np.mean(off)) <= 0.1 + grid
