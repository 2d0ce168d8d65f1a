"""Stores that older versions wrote: they open, every run is found, and the numbers are the same.

`stores/` has one store per version that wrote something new: the perceptron, networks, models and
functions of users, trainings of a number of epochs, problems and trainers from outside. The JSON
beside each holds what was trained and what came out, written by the same version.

Add a store, and never change one, when the tables of the store change, when a parameter or a model
is added, or when an engine is raised: add what is new to `TRAININGS` in `stores/make.py`, call it
(its first lines say how) and commit both files. Raising an engine makes runs outdated: name
them in `OUTDATED`.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from sgdphase._parameters import MODELS
from sgdphase._records import Training
from sgdphase._sweep import Store, sweep

STORES = Path(__file__).parent / "stores"
NAMES = sorted(path.name.removesuffix(".sqlite.gz") for path in STORES.glob("*.sqlite.gz"))
# Models whose engine was raised after a store was written: its runs are kept, but not read.
OUTDATED = {"3-own": {"own"}}

_spec = importlib.util.spec_from_file_location("make_store", STORES / "make.py")
assert _spec is not None and _spec.loader is not None
make = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make)


@pytest.fixture(autouse=True)
def _user(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's files are where they were."""
    monkeypatch.chdir(STORES)
    monkeypatch.syspath_prepend(str(STORES))


def rows(name: str) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = json.loads((STORES / f"{name}.json").read_text())
    return result


def model_of(row: dict[str, Any]) -> str:
    return str(row["training"].get("model", "perceptron"))


def current(name: str) -> tuple[list[dict[str, Any]], list[Training]]:
    """What the store holds and today's version reads, and the same trainings made today."""
    known = [row for row in rows(name) if model_of(row) not in OUTDATED.get(name, ())]
    return known, [make.training(row["training"]) for row in known]


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(name: str, tmp_path: Path) -> Path:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(gzip.decompress((STORES / f"{name}.sqlite.gz").read_bytes()))
    return path


def test_every_run_is_found_and_has_its_numbers(name: str, path: Path) -> None:
    known, trainings = current(name)
    assert [training.key for training in trainings] == [row["key"] for row in known]
    runs = Store(path).runs(keys=[row["key"] for row in known], trajectories=True)
    assert [run.training for run in runs] == trainings
    for run, row in zip(runs, known, strict=True):
        assert make.numbers(run) == {key: row[key] for key in row if key not in ("training", "key")}


def test_a_sweep_of_the_same_plan_runs_nothing(name: str, path: Path) -> None:
    _, plan = current(name)
    summary = sweep(plan, path, workers=0, trajectories=True)
    assert summary.ran == 0 and len(summary.runs) == len(plan)
    assert len(Store(path).table()["lr"]) == len(plan)


def test_runs_of_an_engine_that_was_raised_are_kept(name: str, path: Path) -> None:
    old = [row for row in rows(name) if model_of(row) in OUTDATED.get(name, ())]
    store = Store(path)
    assert store.outdated() == len(old)
    assert store.standing(row["key"] for row in old).keys() == {row["key"] for row in old}
    # Its identity contains the engine: the training of today is another.
    assert not any(make.training(row["training"]).key == row["key"] for row in old)


def test_the_stores_have_every_model() -> None:
    """Images are not here: their data are not in the repository."""
    trainings = [row["training"] for name in NAMES for row in rows(name)]
    others = {name for name, model in MODELS.items() if not model.images}
    assert {model_of({"training": t}) for t in trainings} >= others, (
        "add a store: see the top of this file"
    )
