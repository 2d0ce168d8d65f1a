"""Regimes and boundaries on planes whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import sgdphase as sp
from sgdphase.diagram import phase_diagram, plane_from_table
from sgdphase.errors import InputError


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
    np.testing.assert_allclose([p.lr.value for p in b.gd_line], [8 * p.lr.value for p in a.gd_line])


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
    [cell] = d.cells
    assert (cell.lr, cell.batch, cell.regime) == (4.0, 8.0, "unclear")
    assert cell.value == pytest.approx(float(model(4.0, 8.0))) and math.isnan(cell.sem)
    assert d.critical_batch is None and d.gd_line == ()


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
