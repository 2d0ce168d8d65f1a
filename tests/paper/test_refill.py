"""A store that is filled from tables needs no training again, and gives the same tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sgdphase._records import ENGINES
from sgdphase._sweep import Store
from sgdphase.errors import InputError
from sgdphase.paper import FIGURES, cost, make
from sgdphase.paper._tables import digest
from sgdphase.paper.refill import refill

# Both draw the same runs: other columns of their trajectories.
SHARED = ("figS9a", "figS9b")


def test_a_filled_store_lacks_nothing(tmp_path: Path) -> None:
    for name in SHARED:
        make(name, "quick", tmp_path / "made.sqlite", tmp_path / "made", workers=0)
    store = Store(tmp_path / "filled.sqlite")
    assert refill(tmp_path / "made", store, SHARED) == 9
    for name in SHARED:
        assert cost(FIGURES[name], "quick", store).done == 9
        make(name, "quick", store, tmp_path / "again", workers=0)
        made, again = (digest(tmp_path / folder / "runs", name) for folder in ("made", "again"))
        assert made == again


def test_what_a_store_has_is_kept(tmp_path: Path) -> None:
    """Its runs have all digits, and all of their trajectories."""
    make("figS9a", "quick", tmp_path / "runs.sqlite", tmp_path, workers=0)
    store = Store(tmp_path / "runs.sqlite")
    before = store.runs(trajectories=True)
    refill(tmp_path, store, ["figS9a"])
    for one, other in zip(before, store.runs(trajectories=True), strict=True):
        assert one.outcome.trajectory.keys() == other.outcome.trajectory.keys()
        assert one.outcome.observables == other.outcome.observables


def test_runs_of_another_engine_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("fig3", "quick", tmp_path / "runs.sqlite", tmp_path, workers=0)
    claims = json.loads((tmp_path / "fig3.claims.json").read_text())
    assert claims["engines"] == {"perceptron": 1}
    monkeypatch.setitem(ENGINES, "perceptron", 2)
    with pytest.raises(InputError, match="'fig3': its runs are of engines"):
        refill(tmp_path, tmp_path / "new.sqlite", ["fig3"])
