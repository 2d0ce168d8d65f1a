"""The skeletons that CONTRIBUTING names are real: each is loaded, trained and checked."""

from __future__ import annotations

import importlib
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sgdphase as sp
from sgdphase._diagnose.learner import Searcher
from sgdphase.paper import collect, make

ROOT = Path(__file__).parents[2]
SKELETONS = ROOT / "examples" / "skeletons"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SKELETONS)


def skeleton(name: str) -> ModuleType:
    return importlib.import_module(name)


def table(plan: Any, folder: Path, workers: int = 0) -> Any:
    """The runs of a sweep, read back from its store."""
    sp.sweep(plan, folder / "runs.sqlite", workers=workers, fail_fast=True)
    return sp.Store(folder / "runs.sqlite").table()


def test_contributing_names_every_skeleton():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    names = [path.name for path in SKELETONS.glob("*.py")]
    assert len(names) >= 5
    assert [name for name in names if f"(examples/skeletons/{name})" not in text] == []


def test_a_problem_from_outside_is_swept_in_worker_processes_and_read_back(tmp_path: Path):
    rings = skeleton("my_problem").Rings(dim=3)
    sizes: dict[str, Any] = {"train_size": 32, "lr": 1.0, "test_size": 64, "max_steps": 5}
    plan = sp.grid(rings, **sizes, batch=[4, 8], model="my_trainer:train")
    assert set(table(plan, tmp_path, workers=1)["problem"]) == {"my_problem:Rings"}
    runs = sp.Store(tmp_path / "runs.sqlite").runs()
    assert {run.training for run in runs} == set(plan)
    assert sp.train(runs[0].training).observables == runs[0].outcome.observables
    (network,) = sp.grid(rings, **sizes, batch=4, model="fc", depth=1, width=8)
    assert sp.train(network).steps == 5


def test_the_fields_of_a_problem_are_part_of_the_identity():
    rings = skeleton("my_problem").Rings
    training = sp.Training(rings(), train_size=32, lr=1.0, batch=4, model="my_trainer:train")
    assert replace(training, problem=rings(gap=2.0)).key != training.key
    assert sp.Training.from_dict(training.as_dict()) == training
    with pytest.raises(sp.InputError, match="gap = 0: must be a number above 0"):
        rings(gap=0)


def test_a_problem_that_cannot_be_imported_is_named():
    plain = sp.Training(sp.TeacherTask(dim=2), train_size=4, lr=1.0, batch=1).as_dict()
    for kind in ("no_such_module:Rings", "my_problem:Circles", "no_such_kind"):
        with pytest.raises(sp.InputError, match=kind):
            sp.Training.from_dict({**plain, "problem": {"kind": kind}})


def test_a_network_learns(tmp_path: Path):
    rings = skeleton("my_problem").Rings(dim=2)
    columns = table(
        sp.grid(
            rings, train_size=64, lr=0.5, batch=16, margin=0.1, test_size=256, width=24,
            model="my_network:train", max_steps=2000,
        ),
        tmp_path,
    )  # fmt: skip
    assert columns["status"].tolist() == ["fitted"] and columns["width"].tolist() == [24]
    assert columns["test_error"][0] < 0.05 and columns["weight_change"][0] > 0


def test_an_observable_is_a_column(tmp_path: Path):
    plan = sp.grid(
        dim=8, train_size=16, lr=1.0, batch=4, margin=0.01, test_size=64, depth=1, width=6,
        model="my_observable:train", max_steps=3,
    )  # fmt: skip
    assert 1 < table(plan, tmp_path)["effective_rank"][0] <= 6


def test_a_trainer_solves_the_teacher_task_as_the_perceptron_does(tmp_path: Path):
    fields: dict[str, Any] = {"dim": 8, "train_size": 128, "lr": 1.0, "seeds": 2, "test_size": 4096}
    plan = sp.grid(**fields, batch=128, model="my_trainer:train")
    columns = table(plan, tmp_path, workers=1)
    assert columns["status"].tolist() == ["fitted"] * 2
    # At full batch nothing is random.
    exact = {t.seed: sp.train(t).observables for t in sp.grid(**fields, batch=128)}
    for seed, alignment in zip(columns["seed"], columns["alignment"], strict=True):
        assert alignment == pytest.approx(exact[seed]["alignment"], rel=1e-9)


def test_a_trainer_continues_from_its_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    trainer = skeleton("my_trainer")
    monkeypatch.setattr(trainer, "SAVE_EVERY", 10)
    training = sp.Training(sp.TeacherTask(dim=8), train_size=64, lr=0.25, batch=4, test_size=64)
    whole = trainer.train(training)
    assert whole.steps > 20
    state = tmp_path / "state"
    cut = trainer.train(replace(training, max_steps=15), checkpoint=state)
    assert cut.status == "budget" and trainer.load(state)[1] == 10
    assert trainer.train(training, checkpoint=state) == whole
    state.write_bytes(b"half")
    assert trainer.train(training, checkpoint=state) == whole


def run_all(learner: Searcher) -> list[Any]:
    """Answer its questions: rates above 3 diverge."""
    asked = []
    while trials := learner.ask():
        for trial in trials:
            status = "diverged" if trial.lr > 3 else "fitted"
            learner.tell(trial, sp.Outcome(status, steps=1, time=trial.lr, observables={}))
        asked += trials
    return asked


def test_a_learner_ends_and_does_not_depend_on_the_order_of_runs():
    make = skeleton("my_learner").LargestStableRate
    learner = make(lr=0.5, batch=8)
    asked = run_all(learner)
    assert [trial.lr for trial in asked] == [0.5, 1.0, 2.0, 4.0] and learner.answer() == 2.0
    for order in permutations(learner.observations.runs.items()):
        again = make(lr=0.5, batch=8)
        for trial, outcome in order:
            again.tell(trial, outcome)
        assert again.ask() == () and again.answer() == 2.0
    assert len(run_all(make(lr=1e-6, batch=8, most=4))) == 4


def test_a_figure_is_drawn_and_decides_its_claim(tmp_path: Path):
    figure = skeleton("my_figure").FIGURE
    store = sp.Store(tmp_path / "runs.sqlite")
    (claim,) = make(figure, "quick", store, tmp_path, workers=0)
    assert claim.id == "my_figure.1" and claim.verdict == "holds"
    assert claim.measured.value == pytest.approx(1, abs=0.1)
    assert (tmp_path / "my_figure.png").stat().st_size > 10_000
    assert (tmp_path / "my_figure.claims.json").exists()
    (axes, *_) = figure.picture(collect(figure, "quick", store, workers=0), "quick").axes
    assert axes.get_xlabel() == "$T$" and len(axes.containers) == 2
