"""The figures of trajectories at quick scale, end to end."""

from __future__ import annotations

import json
from importlib import import_module

import numpy as np
import pytest

from sgdphase._sweep import Store
from sgdphase.paper import _trajectory_plane as plane
from sgdphase.paper._along import exponent, first_time, furthest, geometric_mean, mean, mean_since
from sgdphase.paper.figure import make

# The claims of each figure, and those that three seeds and small sizes are enough for.
FIGURES = {
    "fig2": ("1a 1b 2a 2b 3a 3b", "1a 2a 2b 3a"),
    "figS1a": ("1 2a 2b 2c", "2a 2c"),
    "fig3": ("1a 1b", "1a 1b"),
    "figS1b": ("1a 1b 2a 2b", "1a 2a"),
    "figS2b": ("1a 1b 2a 2b 2c", "1a 1b 2c"),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Shared, as fig2 and figS1a have trainings in common."""
    return Store(tmp_path_factory.mktemp("store") / "runs.sqlite")


@pytest.mark.parametrize("name", FIGURES)
def test_figure_at_quick_scale(name, store, tmp_path):
    figure = import_module(f"sgdphase.paper.{name}").FIGURE
    claims = {claim.id: claim for claim in make(figure, "quick", store, tmp_path, workers=0)}
    ids, decided = (text.split() for text in FIGURES[name])
    assert list(claims) == [f"{name}.{id}" for id in ids]
    assert {id: claims[f"{name}.{id}"].verdict for id in decided} == dict.fromkeys(decided, "holds")
    for ending in ("png", "pdf"):
        assert (tmp_path / f"{name}.{ending}").stat().st_size > 10_000
    written = json.loads((tmp_path / f"{name}.claims.json").read_text())
    assert [line["id"] for line in written] == list(claims)


def test_loss_is_zero_from_the_edge_on():
    own, w_perp = plane.Setting(512, 16, 1, ()), np.array([0.1, 1.0, 10.0])
    for i, edge in enumerate(plane.zero_loss(own, w_perp)):
        loss = plane.training_loss(own, edge * np.array([0.999, 1.001]), w_perp[i : i + 1])[0]
        assert loss[0] > 0 == loss[1]


def test_loss_of_zero_weights_is_the_margin():
    own = plane.Setting(512, 16, 1, ())
    assert np.allclose(plane.training_loss(own, np.zeros(1), np.zeros(1)), plane.MARGIN)


def test_means_over_cells_and_seeds():
    values = np.array([[1.0, 4.0], [4.0, 16.0]])
    assert geometric_mean(values).value == pytest.approx(4)
    assert geometric_mean([2.0, 8.0]).value == pytest.approx(4)
    assert mean([0.0, 4.0]).value == pytest.approx(2)
    assert furthest(values).value == pytest.approx(8)
    assert furthest(values, predicted=8.0).value == pytest.approx(2)
    law = exponent([1, 2, 4], np.outer([1, 8, 64], [1.0, 1.1]))
    assert [law.value, law.low, law.high] == pytest.approx([3, 3, 3])


def test_numbers_along_a_trajectory():
    along = {"time": np.array([1.0, 2.0, 4.0]), "w1": np.array([1.0, 2.0, 8.0])}
    assert mean_since([along], "w1", 2.0) == pytest.approx([4.0])
    assert first_time(along, along["w1"] > 1.5) == 2.0
    assert np.isnan(first_time(along, along["w1"] > 9))
