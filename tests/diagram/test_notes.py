"""What a diagram lacks is said, with the runs that would give it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sgdphase.diagram import phase_diagram, plane_from_table


def test_one_seed_says_what_it_lacks(model):
    d = phase_diagram(plane_from_table(model.table(np.random.default_rng(0), seeds=1, cell=0.03)))
    assert "run --seeds 3 or more" in d.notes[0]
    assert d.critical_batch.value == pytest.approx(64, rel=0.1)
    assert np.isnan(d.gd_line[0].lr.low) and np.isnan(d.cells[0].sem)
    assert json.loads(json.dumps(d.as_dict(), allow_nan=False))["gd_line"][0]["low"] is None


@pytest.mark.parametrize(
    ("part", "lost", "advice"),
    [
        ({"batch": 2.0 ** np.arange(4)}, "no first-step-dominated", "--batch 2^0..2^7"),
        ({"lr": 2.0 ** np.arange(2, 9)}, "no GD cells", "--lr 2^-2..2^8"),
        ({"batch": 2.0 ** np.arange(8, 12)}, "no noise-dominated", "--batch 2^0..2^11"),
        ({"lr": 2.0 ** np.arange(-8, -6)}, "2 learning rates", "--lr 2^-10..2^-5"),
    ],
)
def test_notes_say_what_to_run(model, part, lost, advice):
    table = model.table(np.random.default_rng(0), **part)
    del table["train_size"]
    d = phase_diagram(plane_from_table(table))
    assert any(lost in note and advice in note for note in d.notes), d.notes
