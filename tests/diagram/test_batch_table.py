"""Rows of the table of equivalents: which tried learning rate each names, and what is better."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sgdphase._diagnose.answer import Diagnosis
from sgdphase.diagram import Equivalents, equivalents
from sgdphase.diagram._four_regimes import TrainingRegime
from sgdphase.diagram._training_runs import Setting, TrainingRun

Values = Mapping[tuple[int, float], list[float]]
SPREAD = np.array([-0.001, 0.0, 0.0005, -0.0005, 0.001])


def table_of(losses: Values, progress: bool = True) -> Equivalents:
    """From the losses of each batch and lr, seed by seed; yours is lr 0.1 at batch 16."""
    runs = []
    for (batch, lr), values in losses.items():
        for seed, loss in enumerate(values):
            metrics = {"loss": loss}
            if progress:
                noise = 1 + 0.001 * ((7 * seed + batch) % 5 - 2)
                metrics["train_loss"] = 0.3 * (lr / batch * 160) ** -0.5 * noise
            runs.append(TrainingRun(Setting(lr, batch, 5), seed, metrics))
    table = equivalents(runs, lr=0.1, batch=16, epochs=5, metric="loss")
    assert table is not None
    return table


def answer_of(table: Equivalents) -> str:
    regime = TrainingRegime(None, None, None)
    return str(Diagnosis(0.1, 16, 5, None, "loss", table, regime, (), (), 0.0))


YOURS = {(16, 0.1): (1 + SPREAD).tolist(), (16, 0.05): (1.01 + SPREAD).tolist()}


def test_a_tried_lr_that_learns_the_same_is_named_if_the_match_is_open() -> None:
    """At 0.2 the training gets as far, and its loss is at the edge of 5 %; at 0.1 it is yours."""
    wild = (1.05 + 20 * SPREAD).tolist()
    table = table_of(
        YOURS
        | {
            (32, 0.2): wild,
            (32, 0.05): (1.2 + SPREAD).tolist(),
            (32, 0.1): (1.001 + SPREAD[::-1]).tolist(),
            (32, 0.4): (1.3 + SPREAD[::-1]).tolist(),
        }
    )
    (row,) = table.rows
    assert (row.lr.value, row.exists, row.verdict) == (0.1, True, "the same")
    assert "0.1; between 0.05 and 0.4" in answer_of(table)


def test_an_end_that_is_not_known_is_a_question_mark() -> None:
    same = {(32, 0.2): (1.001 + SPREAD[::-1]).tolist()}
    assert "0.2; others may do, too" in answer_of(table_of(YOURS | same, progress=False))
    worse = {(32, 0.1): (1.5 + SPREAD).tolist()}
    table = table_of(YOURS | same | worse, progress=False)
    assert "0.2; between 0.1 and ?" in answer_of(table)


def test_the_best_of_those_tried_is_the_best_of_all() -> None:
    """None is as good: the best has worse ones on both sides, and no other was better."""
    away = {(32, lr): (2 + x + SPREAD).tolist() for lr, x in ((0.1, 0.1), (0.2, 0.0), (0.4, 0.1))}
    table = table_of(YOURS | away)
    (row,) = table.rows
    assert (row.exists, row.rival, row.tried) == (False, None, 3)
    assert "none: best is lr 0.2" in answer_of(table)
    # Another one is better on average, but two seeds do not tell: then nothing is said of all.
    table = table_of(YOURS | away | {(32, 0.14): [1.9, 1.901]})
    (row,) = table.rows
    assert (row.exists, row.rival) == (None, 0.14)
    text = answer_of(table)
    assert "none" not in text and "lr 0.14 may be better: too few seeds" in text


def test_what_is_clearly_better_stands_first() -> None:
    better = {(8, 0.1): (0.8 + SPREAD[::-1]).tolist(), (32, 0.2): (1 + SPREAD[::-1]).tolist()}
    table = table_of(YOURS | better)
    assert table.better_lr is None and table.better_batch is not None
    lines = answer_of(table).splitlines()
    assert lines[1].startswith("A lower loss: batch 8, lr 0.1: 0.8 [")
    assert lines[1].endswith("] instead of 1.")
    # A better lr at the own batch comes before; a batch that is no better than that is not named.
    table = table_of(YOURS | better | {(16, 0.2): (0.81 + SPREAD).tolist()})
    assert table.better_lr is not None and table.better_batch is None
    assert answer_of(table).splitlines()[1].startswith("A lower loss, at your batch, lr 0.2: 0.81")


def test_the_best_of_many_is_not_better_by_chance() -> None:
    """100 tables of 20 settings that are the same, with 15 % of noise and five seeds.

    At 90 % for each setting alone, nearly half of the tables would name one.
    """
    named = 0
    for replica in range(100):
        rng = np.random.default_rng([3, replica])
        places = [(16, 0.1), *((batch, 0.2) for batch in range(20, 40))]
        losses = {place: (1 + 0.15 * rng.standard_normal(5)).tolist() for place in places}
        named += bool(table_of(losses, progress=False).better)
    assert named <= 12  # 5 % are expected: more than 12 with probability 0.001
