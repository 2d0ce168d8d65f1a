"""Regimes and boundaries on planes whose truth is known."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import sgdphase as sp
from sgdphase.diagram import phase_diagram, plane_from_table
from sgdphase.diagram._regimes import classify, local_slopes
from sgdphase.errors import InputError


def true_regime(model, plane):
    """By the largest of the three terms, and where it is 8 times the others."""
    lr, batch = plane.lr[:, None], plane.batch[None]
    one = np.ones((lr.size, batch.size))
    terms = np.stack([model.noise * lr / batch, model.first * lr * one, model.gd * one])
    first, second = np.sort(terms, axis=0)[[-1, -2]]
    names = np.array(["noise-dominated", "first-step-dominated", "GD"])
    return names[terms.argmax(axis=0)], first >= 8 * second


def test_slopes_of_a_power_law_are_exact_also_at_edges_and_gaps(model):
    plane = plane_from_table(model.table())
    value = 3.0 * plane.lr[:, None, None] ** 0.7 * plane.batch[None, :, None] ** -0.4
    value = value * np.array([1.0, 2.0, 0.3, 5.0])
    value[4, 4, 0] = value[5, 7] = np.nan
    slopes, errors = local_slopes(replace(plane, value=value))
    there = np.isfinite(value)
    np.testing.assert_allclose(slopes[there], np.broadcast_to([0.7, -0.4], slopes[there].shape))
    assert np.isnan(slopes[~there]).all() and np.nanmax(errors) < 1e-7


def test_regimes_are_recovered(model):
    plane = plane_from_table(model.table(np.random.default_rng(0)))
    found = classify(plane)
    truth, deep = true_regime(model, plane)
    named = np.isin(found.regime, ["noise-dominated", "first-step-dominated", "GD"])
    assert (found.regime == truth)[deep].mean() > 0.97
    assert (found.regime == truth)[named].mean() > 0.95
    assert found.confidence[deep & named].min() >= 0.8


def test_noise_makes_cells_unclear_rather_than_wrong(model):
    wrong = clear = 0
    for k in range(10):
        plane = plane_from_table(model.table(np.random.default_rng(k), seeds=3, cell=0.8))
        found = classify(plane, replicates=300)
        truth, deep = true_regime(model, plane)
        named = (found.regime != "unclear") & deep
        clear += named.sum()
        wrong += (found.regime != truth)[named].sum()
    assert wrong < 0.1 * clear


def test_without_noise_the_boundaries_are_those_of_the_model(model):
    d = phase_diagram(plane_from_table(model.table(seeds=2)))
    assert d.critical_batch.value == pytest.approx(model.critical_batch, rel=0.02)
    batch = np.array([p.batch for p in d.gd_line])
    rates = np.array([p.lr for p in d.gd_line])
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
    np.testing.assert_allclose([p.lr for p in d.gd_line], expected, rtol=0.03)


@pytest.mark.parametrize("seeds", [3, 6])
def test_intervals_cover_as_often_as_they_say(model, covered, seeds):
    """100 draws with 30 % common and 10 % own scatter, at level 0.9.

    The truth of a number is what the same analysis gives without noise.
    """
    truth = phase_diagram(plane_from_table(model.table(seeds=2)))
    line = {p.batch: p.lr for p in truth.gd_line}
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
            hits["line"] += p.low <= line[p.batch] <= p.high
            points += 1
    for name in names[:5]:
        covered(hits[name], tries, 0.9)
    # Points of one line are correlated: as sharp a test as of the draws alone.
    covered(round(hits["line"] / points * tries), tries, 0.9)


def test_a_factor_per_seed_changes_nothing(model):
    plane = plane_from_table(model.table(np.random.default_rng(0)))
    scaled = replace(plane, value=plane.value * np.array([1.0, 10.0, 0.1, 3.0]))
    a, b = phase_diagram(plane), phase_diagram(scaled)
    assert [c.regime for c in a.cells] == [c.regime for c in b.cells]
    for name in ("critical_batch", "critical_temperature", "first_step_lr"):
        x, y = getattr(a, name), getattr(b, name)
        np.testing.assert_allclose([x.value, x.low, x.high], [y.value, y.low, y.high])


def test_other_units_shift_the_lines(model):
    plane = plane_from_table(model.table(np.random.default_rng(0)))
    a = phase_diagram(plane)
    b = phase_diagram(replace(plane, lr=plane.lr * 8, batch=plane.batch * 4))
    assert b.critical_batch.value == pytest.approx(4 * a.critical_batch.value)
    assert b.critical_temperature.value == pytest.approx(2 * a.critical_temperature.value)
    assert b.first_step_lr.high == pytest.approx(8 * a.first_step_lr.high)
    np.testing.assert_allclose([p.lr for p in b.gd_line], [8 * p.lr for p in a.gd_line])


def test_diverged_and_missing_cells(model):
    table = model.table(np.random.default_rng(0))
    top, corner = table["lr"] == 256, (table["lr"] == 2**-8) & (table["batch"] == 1)
    table["status"] = np.where(top & (table["batch"] > 64), "diverged", table["status"])
    table["status"] = np.where(corner, "budget", table["status"])
    keep = ~((table["lr"] == 1) & (table["batch"] == 8))
    d = phase_diagram(plane_from_table({n: c[keep] for n, c in table.items()}))
    regime = {(c.lr, c.batch): c.regime for c in d.cells}
    assert regime[256, 128] == "diverged" and regime[256, 64] != "diverged"
    assert regime[2**-8, 1] == "missing" and regime[1, 8] == "missing"
    assert d.critical_batch.value == pytest.approx(model.critical_batch, rel=0.05)
    assert any("2 of 204 cells have no fitted run (4 never run, 4 out" in n for n in d.notes)


def test_seeds_that_lack_runs_do_not_shift_cells(model):
    """Each run is dropped with probability 0.2; seeds differ by a factor of 20."""
    table = model.table(np.random.default_rng(0), common=3.0, cell=0.02)
    keep = np.random.default_rng(1).random(table["lr"].size) > 0.2
    d = phase_diagram(plane_from_table({n: c[keep] for n, c in table.items()}))
    assert d.critical_batch.value == pytest.approx(model.critical_batch, rel=0.05)
    assert d.critical_temperature.value == pytest.approx(1.913 * 0.05 / 3.2, rel=0.07)


def test_one_seed_says_what_it_lacks(model):
    d = phase_diagram(plane_from_table(model.table(np.random.default_rng(0), seeds=1, cell=0.03)))
    assert "run --seeds 3 or more" in d.notes[0]
    assert d.critical_batch.value == pytest.approx(64, rel=0.1)
    assert np.isnan(d.gd_line[0].low) and np.isnan(d.cells[0].sem)
    assert json.loads(json.dumps(d.as_dict(), allow_nan=False))["gd_line"][0]["low"] is None


def test_a_single_row_is_unclear(model):
    d = phase_diagram(plane_from_table(model.table(np.random.default_rng(0), lr=[4.0])))
    assert {c.regime for c in d.cells} == {"unclear"}
    assert any(
        "1 learning rate: regimes need slopes" in n and "--lr 2^0..2^4" in n for n in d.notes
    )
    assert (
        d.critical_batch is None and d.gd_line == () and d.slopes == {"below": None, "above": None}
    )


def test_one_cell(model):
    d = phase_diagram(plane_from_table(model.table(lr=[4.0], batch=[8.0], seeds=1)))
    assert len(d.cells) == 1 and d.critical_batch is None


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


def test_a_plane_without_first_steps_still_gives_the_temperature(model):
    table = model.table(np.random.default_rng(0), batch=2.0 ** np.arange(5))
    d = phase_diagram(plane_from_table(table))
    assert d.critical_batch is None
    assert d.critical_temperature.low < 1.913 * 0.05 / 3.2 < d.critical_temperature.high
    assert "already reach the train size 16" in d.notes[0]


def test_the_keys_of_the_object(model):
    d = phase_diagram(plane_from_table(model.table(np.random.default_rng(0)))).as_dict()
    assert set(d["cells"][0]) == {"lr", "batch", "regime", "confidence", "value", "sem"}
    assert set(d["critical_batch"]) == set(d["critical_temperature"]) == {"value", "low", "high"}
    assert set(d["gd_line"][0]) == {"batch", "lr", "low", "high"}
    assert set(d["slopes"]) == {"below", "above"}
    cell = d["cells"][-1]
    assert (cell["lr"], cell["batch"], cell["regime"]) == (256, 2048, "first-step-dominated")
    assert cell["sem"] == pytest.approx(0.3 / 2 * cell["value"], rel=0.7)


def test_bad_factor(model):
    with pytest.raises(InputError, match=r"factor = 1\.0: must be a number above 1"):
        phase_diagram(plane_from_table(model.table()), factor=1.0)


def test_whatever_holds_runs_gives_the_same_diagram(tmp_path):
    plan = sp.grid(dim=8, train_size=[32, 64], lr=[0.5, 1.0, 2.0], batch=[1, 4, 16], seeds=2)
    swept = sp.sweep(plan, tmp_path / "runs.sqlite", workers=0)
    table = swept.store.table()
    plane = plane_from_table(table, "w1", train_size=64)
    expected = phase_diagram(plane).as_dict()
    for source in (swept, swept.store, table):
        assert phase_diagram(source, "w1", train_size=64).as_dict() == expected
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table)
    assert phase_diagram(frame, "w1", train_size=64).as_dict() == expected
    with pytest.raises(InputError, match="a plane has its observable and its runs"):
        phase_diagram(plane, train_size=64)
    with pytest.raises(InputError, match="is a path; open the store there"):
        phase_diagram(swept.store.path)
    with pytest.raises(InputError, match="choose train_size from 32, 64"):
        phase_diagram(swept)
