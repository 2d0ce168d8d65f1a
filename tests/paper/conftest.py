"""Figures made once at quick scale, for the tests of what they decide and of what they draw."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sgdphase._sweep import Store
from sgdphase.paper.claim import Claim
from sgdphase.paper.figure import FIGURES, Figure, collect, make
from sgdphase.paper.runs import Runs


class Made(NamedTuple):
    """A figure, its runs, its claims by id, what it drew, and the claims as they were written."""

    figure: Figure
    runs: Runs
    claims: dict[str, Claim]
    picture: Any
    written: list[dict[str, Any]]
    out: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`made(name)`: the figure at quick scale; its trainings run with the first call."""
    folder = tmp_path_factory.mktemp("figures")
    store = Store(folder / "store.sqlite")  # shared, as figures have trainings in common

    @cache
    def once(name: str) -> Made:
        figure = FIGURES[name]
        claims = {claim.id: claim for claim in make(figure, "quick", store, folder, workers=0)}
        runs = collect(figure, "quick", store, workers=0)
        written = json.loads((folder / f"{name}.claims.json").read_text())
        return Made(figure, runs, claims, figure.picture(runs, "quick"), written, folder)

    return once
