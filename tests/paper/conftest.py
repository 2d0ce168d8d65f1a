"""Figures made once at quick scale, for the tests of what they decide and of what they draw.

Writing a picture takes longer than its trainings. So each is rendered once, as PNG, which is enough
to notice what cannot be drawn, and the tests look at the picture that was written. `test_fig1a.py`
writes all files of a figure, `test_fig_trajectories.py` a PDF with a raster in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sgdphase._records import Outcome, Training
from sgdphase._sweep import Run, Store
from sgdphase.diagram import _style
from sgdphase.paper._claim import Claim
from sgdphase.paper._figure import FIGURES, Figure
from sgdphase.paper._make import make
from sgdphase.paper._runs import Runs
from sgdphase.paper._tables import read_tables


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
        figure, pictures, save = FIGURES[name], [], _style.save

        def save_png(picture: Any, path: Path, **how: Any) -> None:
            pictures.append(picture)
            if path.suffix == ".png":
                save(picture, path, **how)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_style, "save", save_png)
            claims = {claim.id: claim for claim in make(figure, "quick", store, folder, workers=0)}
        runs, _ = read_tables(folder / "runs", name)  # what the picture was drawn from
        written = json.loads((folder / f"{name}.claims.json").read_text())["claims"]
        return Made(figure, runs, claims, pictures[0], written, folder)

    return once


@pytest.fixture
def planted() -> Any:
    """`planted(name, outcome, *ids)`: verdicts about the plan of a figure with planted outcomes.

    By the ends of ids. The plan is that of the paper's scale, as rules are made for it.
    """

    def decided(name: str, outcome: Callable[[Training], Outcome], *ids: str) -> dict[str, str]:
        figure = FIGURES[name]
        runs = tuple(Run(each, outcome(each), 0.0) for each in figure.plan("paper"))
        claims = {claim.id.removeprefix(f"{name}."): claim for claim in
                  figure.decide(Runs(runs), "paper")}  # fmt: skip
        return {id: claims[id].verdict for id in ids}

    return decided
