"""From tables and datasets to planes."""

from __future__ import annotations

import numpy as np
import pytest

from sgdphase.diagram import plane_from_dataset, plane_from_table
from sgdphase.errors import InputError


def test_rows_in_any_order_give_the_same_plane(model):
    table = model.table(np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(table["lr"].size)
    a, b = plane_from_table(table), plane_from_table({n: c[order] for n, c in table.items()})
    np.testing.assert_array_equal(a.value, b.value)
    i, j, k = 3, 5, 2
    row = (table["lr"] == a.lr[i]) & (table["batch"] == a.batch[j]) & (table["seed"] == a.seed[k])
    assert a.value[i, j, k] == table["alignment"][row][0]


def test_only_fitted_runs_have_values(model):
    table = model.table()
    table["status"][:4] = ["diverged", "budget", "failed", "fitted"]
    plane = plane_from_table(table)
    assert np.isnan(plane.value[0, 0, :3]).all() and np.isfinite(plane.value[0, 0, 3])
    assert plane.status[0, 0].tolist() == ["diverged", "budget", "failed", "fitted"]


def test_several_experiments_are_listed(model):
    small, large = model.table(), model.table()
    small["train_size"] = small["train_size"] // 2
    table = {n: np.concatenate([small[n], large[n]]) for n in small}
    table["margin"] = np.where(table["train_size"] == 2048, 0.5, 0.25)
    with pytest.raises(InputError, match=r"train_size from 1024, 2048; margin from 0\.25, 0\.5"):
        plane_from_table(table)
    assert plane_from_table(table, train_size=1024).fixed == {"train_size": 1024, "margin": 0.25}
    with pytest.raises(InputError, match="train_size = 7: the runs have 1024, 2048"):
        plane_from_table(table, train_size=7)
    with pytest.raises(
        InputError, match="depth: no such parameter; the runs have alignment, batch"
    ):
        plane_from_table(table, depth=3)


def test_what_only_other_runs_have_is_not_named(model):
    table = model.table() | {"train_size": np.repeat(8, model.table()["lr"].size)}
    other = {**table, "train_size": table["train_size"] * 2}
    n = table["lr"].size
    more = {"direction": ["", "axis"], "chi": [np.nan, 1.0], "depth": [None, 2]}
    both = {name: np.concatenate([table[name], other[name]]) for name in table}
    both |= {name: np.repeat(np.array(values), n) for name, values in more.items()}
    assert plane_from_table(both, train_size=8).fixed.keys() & more.keys() == set()
    assert plane_from_table(both, train_size=16).fixed.items() >= {
        ("direction", "axis"), ("chi", 1.0), ("depth", 2),
    }  # fmt: skip


def test_repeated_cells_name_what_tells_them_apart(model):
    table = model.table()
    twice = {n: np.concatenate([c, c]) for n, c in table.items()}
    n = table["lr"].size
    twice["width"] = np.repeat([64, 128], n)
    with pytest.raises(InputError, match="choose width from 64, 128"):
        plane_from_table(twice)
    assert plane_from_table(twice, width=64).value.shape == (17, 12, 4)


def test_bad_tables(model):
    with pytest.raises(InputError, match="no runs"):
        plane_from_table({})
    with pytest.raises(InputError, match="no column loudness: the runs have alignment, batch"):
        plane_from_table(model.table(), "loudness")


def test_rates_that_differ_by_rounding_are_one_row():
    batch = np.array([3.0, 3.0])
    table = dict(lr=np.array([0.3, 3 * 0.1]), batch=batch, seed=[0, 1], status=["fitted"] * 2)
    assert plane_from_table({**table, "alignment": [1.0, 1.0]}).value.shape == (1, 1, 2)


def test_a_dataset_is_the_same_plane(model):
    xarray = pytest.importorskip("xarray")
    plane = plane_from_table(model.table(np.random.default_rng(0)))
    dims = ("lr", "batch", "seed")
    variables = {"alignment": plane.value, "status": plane.status, "test_error": plane.test_error}
    coords = {"lr": plane.lr, "batch": plane.batch, "seed": plane.seed, "train_size": 2048}
    dataset = xarray.Dataset({n: (dims, v) for n, v in variables.items()}, coords)
    again = plane_from_dataset(dataset.transpose("seed", "batch", "lr"))
    np.testing.assert_array_equal(plane.value, again.value)
    assert again.fixed["train_size"] == 2048
    no_status = plane_from_dataset(dataset.drop_vars("status"))
    np.testing.assert_array_equal(plane.status, no_status.status)
    with pytest.raises(InputError, match="no variable w1"):
        plane_from_dataset(dataset, "w1")


def test_models_with_other_parameters_are_a_choice_of_the_model():
    """A column of texts has empty ones where a model has no such parameter."""
    table = {
        "lr": [1.0, 1.0], "batch": [1, 1], "seed": [0, 0], "status": ["fitted"] * 2,
        "alignment": [0.5, 1.0], "model": ["fc", "perceptron"], "activation": ["relu", ""],
        "depth": [5.0, np.nan],
    }  # fmt: skip
    with pytest.raises(InputError, match=r"choose model from fc, perceptron$"):
        plane_from_table(table)
    assert plane_from_table(table, model="fc").value.tolist() == [[[0.5]]]
    del table["model"]
    with pytest.raises(
        InputError, match="choose depth from nothing, 5; activation from nothing, relu"
    ):
        plane_from_table(table)


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ({"model": "perceptron", "weight_decay": 0.5}, True),
        ({"model": "fc", "l1": 0.5, "weight_decay": 0.0}, True),
        ({"model": "diagonal", "loss": "square"}, True),
        ({"model": "fc", "loss": "square"}, False),
        ({"model": "diagonal", "loss": "logistic", "l1": 0.0}, False),
        ({"model": "own", "weight_decay": 0.5}, False),
        ({"weight_decay": 0.5}, False),
    ],
)
def test_a_run_that_only_its_budget_ends_has_a_value(options, counts):
    """What of a user's training ends is not known, and not of a table from elsewhere."""
    runs = {"lr": [1.0, 2.0, 4.0], "batch": [1] * 3, "seed": [0] * 3, "alignment": [1.0, 2.0, 3.0],
            "status": ["budget", "budget", "diverged"]}  # fmt: skip
    plane = plane_from_table(runs | {name: [value] * 3 for name, value in options.items()})
    assert np.isfinite(plane.value).ravel().tolist() == [counts, counts, False]
