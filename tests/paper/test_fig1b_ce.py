"""The cross-entropy against the hinge loss, on runs with planted laws; nothing is trained."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sgdphase._records import Outcome
from sgdphase._sweep import Run
from sgdphase.paper._figure import FIGURES
from sgdphase.paper._runs import Runs

FIGURE = FIGURES["fig1b-ce"]


def planted(exponent, ratio, hinge=0.6, lost=()):
    """Weight changes `T^exponent` (cross-entropy) and `T^hinge`; a ratio of the test errors."""

    def run(training):
        entropy, temperature = training.loss == "logistic", training.temperature
        own = np.random.default_rng([training.seed, int(64 * temperature), entropy])
        factor = math.exp(training.seed % 3 + 0.02 * own.standard_normal())
        numbers = {
            "weight_change": factor * temperature ** (exponent if entropy else hinge),
            "test_error": factor * (0.08 * ratio if entropy else 0.08),
        }
        status = "budget" if training.lr in lost else "fitted"
        return Run(training, Outcome(status, 64, 64.0, numbers), 1.0)

    return Runs(tuple(map(run, FIGURE.plan("paper"))))


@pytest.mark.parametrize(
    ("exponent", "ratio", "expected"),
    [
        (0.6, 1.1, ("holds", "holds", "holds")),
        (0.55, 0.9, ("holds", "holds", "holds")),
        (0.3, 1.0, ("holds", "fails", "holds")),
        (0.0, 1.4, ("fails", "fails", "fails")),
        (0.6, 0.7, ("holds", "holds", "fails")),
    ],
)
def test_growth_and_performance(exponent, ratio, expected):
    claims = FIGURE.decide(planted(exponent, ratio), "paper")
    assert [claim.id for claim in claims] == ["fig1b-ce.1a", "fig1b-ce.1b", "fig1b-ce.2"]
    assert tuple(claim.verdict for claim in claims) == expected


def test_temperatures_at_which_a_training_did_not_end_are_left_out():
    claims = FIGURE.decide(planted(0.6, 1.1, lost=(32.0, 64.0)), "paper")
    assert {claim.verdict for claim in claims} == {"holds"}
    few = FIGURE.decide(planted(0.6, 1.1, lost=(4.0, 8.0, 16.0, 32.0, 64.0)), "paper")
    assert {claim.verdict for claim in few} == {"undecided"}
    assert "fewer than 3" in few[0].rule


def test_both_losses_have_the_same_cells_and_seeds():
    plan = FIGURE.plan("paper")
    cells = {
        loss: {(t.lr, t.batch, t.seed, t.train_size) for t in plan if t.loss == loss}
        for loss in ("hinge", "logistic")
    }
    assert cells["hinge"] == cells["logistic"] and len(plan) == 2 * len(cells["hinge"])


def test_the_picture_shows_both():
    picture = FIGURE.picture(planted(0.6, 1.1, lost=(64.0,)), "paper")
    top, bottom = picture.axes
    labels = [text.get_text() for text in top.get_legend().get_texts()]
    assert sorted(labels) == ["cross-entropy", "hinge", "of 490 runs\n70 spent their budget"]
    assert len(bottom.containers) == 2 and "ours" in picture.get_supxlabel()
