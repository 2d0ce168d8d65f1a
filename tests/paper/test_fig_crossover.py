"""Figures about the crossover, of theory alone, and of theory over simulation, at quick scale."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sgdphase._sweep import Store
from sgdphase.paper import fig1a, figS9a, figS9b, figS10a, figS10b, figX2, theory
from sgdphase.paper._crossover import at, typical
from sgdphase.paper._theory_measured import CHIS, limits
from sgdphase.paper.claim import Claim
from sgdphase.paper.figure import make

FIGURES = {
    module.FIGURE.name: module.FIGURE
    for module in (figS9a, figS9b, figS10a, figS10b, figX2, theory)
}
IDS = {
    "figS9a": {"figS9a.1a", "figS9a.1b", "figS9a.1c"},
    "figS9b": {"figS9b.2a", "figS9b.2b", "figS9b.2c", "figS9b.3"},
    "figS10a": {"figS10a.1a", "figS10a.1b", "figS10a.1c"},
    "figS10b": {f"figS10b.{k}" for k in ("2a", "2b", "2c", "3a", "3b", "3c", "3d", "3e")},
    "figX2": {f"figX2.chi{chi}.{k}" for chi in (0, 1, 3) for k in (1, 2, 3, 4)},
    "theory": {f"theory.{k}" for k in ("1", "2", "3", "4", "5a", "5b", "5c", "5d", "8a", "8b")}
    | {f"theory.{k}.chi{chi}" for k in (6, 7) for chi in (0, 1, 3)},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, Claim]]]:
    """Every figure of this file, made once."""
    out = tmp_path_factory.mktemp("figures")
    store = Store(out / "store.sqlite")
    found = {
        name: {claim.id: claim for claim in make(figure, "quick", store, out, workers=0)}
        for name, figure in FIGURES.items()
    }
    return out, found


@pytest.mark.parametrize("name", FIGURES)
def test_files_and_ids(made: tuple[Path, dict[str, dict[str, Claim]]], name: str) -> None:
    out, found = made
    assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (out / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    written = json.loads((out / f"{name}.claims.json").read_text())
    assert {line["id"] for line in written} == set(found[name]) == IDS[name]
    assert all(line["verdict"] in ("holds", "fails", "undecided") for line in written)
    assert all(line["rule"] for line in written)


def test_theory_alone_holds(made: tuple[Path, dict[str, dict[str, Claim]]]) -> None:
    claims = made[1]["theory"]
    for number in "1234":
        assert claims[f"theory.{number}"].verdict == "holds"
    assert not any(claim.verdict == "fails" for claim in claims.values())


def test_prefactors_of_the_scales(made: tuple[Path, dict[str, dict[str, Claim]]]) -> None:
    claims = made[1]["figX2"]
    assert claims["figX2.chi1.2"].verdict == "holds"  # T_c
    assert claims["figX2.chi3.1"].verdict == "holds"  # B*
    assert claims["figX2.chi0.4"].verdict == "fails"  # margin at the hardest point


def test_crossover_is_where_theory_has_it(
    made: tuple[Path, dict[str, dict[str, Claim]]],
) -> None:
    claims = {id: claim for own in made[1].values() for id, claim in own.items()}
    assert claims["figS10a.1c"].measured == pytest.approx(-1, abs=0.2)  # n(t_hat) ~ 1/P
    assert claims["figS9b.2b"].measured == pytest.approx(1, abs=0.15)


def test_planes_of_fig1a_are_reused() -> None:
    keys = {training.key for training in figX2.plan("paper")}
    for chi in (0.0, 1.0):
        assert {training.key for training in fig1a.plan(chi, "paper")} <= keys
    assert {training.problem.chi for training in figX2.plan("paper")} == {0.0, 1.0, 3.0}


def test_figures_of_theory_need_no_trainings() -> None:
    assert list(theory.plan("paper")) == []


def test_constants_are_approached_from_far() -> None:
    for chi in CHIS:
        near, far = (
            max(abs(value[0] - 1) for value in limits(np.array([lam]), chi).values())
            for lam in (10.0, 100.0)
        )
        assert far < near / 5


def test_typical_is_a_geometric_mean() -> None:
    found = typical([[1.0, 4.0], [1.0, 4.0]])
    assert found.value == pytest.approx(2.0)
    assert found.low < 1.5 < 3.0 < found.high


def test_trajectories_stand_beyond_their_ends() -> None:
    along = {"time": np.array([1.0, 4.0]), "w1": np.array([2.0, 6.0])}
    assert at([0.5, 2.0, 9.0], along, along["w1"]).tolist() == [2.0, 4.0, 6.0]
