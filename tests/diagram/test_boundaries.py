"""The GD line, `B*` and the two levels on planes whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from sgdphase.diagram import phase_diagram, plane_from_table


def test_without_noise_the_boundaries_are_those_of_the_model(model):
    d = phase_diagram(plane_from_table(model.table(seeds=2)))
    assert d.critical_batch.value == pytest.approx(model.critical_batch, rel=0.02)
    batch = np.array([p.batch for p in d.gd_line])
    rates = np.array([p.lr.value for p in d.gd_line])
    assert batch.tolist() == d.batch.tolist()
    np.testing.assert_allclose(rates, model.line(batch), rtol=0.02)
    assert d.slopes["below"].value == pytest.approx(1, abs=0.05)
    assert d.slopes["above"].value == pytest.approx(0, abs=0.05)
    bend = 7 ** (1 / 3)  # of a crossover of sharpness 3 at factor 2
    assert d.critical_temperature.value == pytest.approx(bend * model.gd / model.noise, rel=0.05)
    assert d.first_step_lr.value == pytest.approx(bend * model.gd / model.first, rel=0.05)
    assert d.best.batch == 2048
    assert d.notes == ("2 seeds: intervals are very wide; run --seeds 3 or more",)


@pytest.mark.parametrize("factor", [1.3, 4.0])
def test_the_line_follows_the_factor(model, factor):
    d = phase_diagram(plane_from_table(model.table(seeds=2)), factor=factor)
    expected = model.line(np.array([p.batch for p in d.gd_line]), factor)
    np.testing.assert_allclose([p.lr.value for p in d.gd_line], expected, rtol=0.03)


@pytest.mark.parametrize("seeds", [3, 6])
def test_intervals_cover_as_often_as_they_say(model, covered, seeds):
    """100 draws with 30 % common and 10 % own scatter, at level 0.9.

    The truth of a number is what the same analysis gives without noise.
    """
    truth = phase_diagram(plane_from_table(model.table(seeds=2)))
    line = {p.batch: p.lr.value for p in truth.gd_line}
    tries = 100
    names = ("critical_batch", "critical_temperature", "first_step_lr", "below", "above", "line")
    hits = dict.fromkeys(names, 0)
    points = 0
    for k in range(tries):
        plane = plane_from_table(model.table(np.random.default_rng(k), seeds=seeds))
        d = phase_diagram(plane, replicates=300)
        for name in names[:5]:
            e = d.slopes[name] if name in d.slopes else getattr(d, name)
            t = truth.slopes[name] if name in d.slopes else getattr(truth, name)
            hits[name] += e.low <= t.value <= e.high
        for p in d.gd_line:
            hits["line"] += p.lr.low <= line[p.batch] <= p.lr.high
            points += 1
    for name in names[:5]:
        covered(hits[name], tries, 0.9)
    # Points of one line are correlated: as sharp a test as of the draws alone.
    covered(round(hits["line"] / points * tries), tries, 0.9)


def test_a_plane_without_first_steps_still_gives_the_temperature(model):
    table = model.table(np.random.default_rng(0), batch=2.0 ** np.arange(5))
    d = phase_diagram(plane_from_table(table))
    assert d.critical_batch is None
    assert d.critical_temperature.low < 1.913 * 0.05 / 3.2 < d.critical_temperature.high
    assert "already reach the train size 16" in d.notes[0]
