"""A training that is a function of the user's: what it may return, and what becomes of the rest."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgdphase._own.code import user_code
from sgdphase._own.function import train
from sgdphase._own.problem import user_file, user_functions
from sgdphase._records import Training
from sgdphase._sweep import Store, sweep
from sgdphase._sweep.run import run
from sgdphase.errors import InputError, UserError
from sgdphase.problems import TeacherTask


def record(function: Any, **fields: Any) -> Training:
    problem = user_functions(user_code(train=function))
    plain: dict[str, Any] = {
        "problem": problem, "train_size": 64, "lr": 0.5, "batch": 4, "seed": 3,
        "model": "function", "test_size": 1,
    }  # fmt: skip
    return Training(**(plain | fields))


def returning(what: Any) -> Training:
    return record(lambda lr, batch, train_size, seed: what)


def test_it_is_called_with_the_four_by_name() -> None:
    def four(*, seed: int, train_size: int, batch: int, lr: float) -> float:
        assert [type(v) for v in (lr, batch, train_size, seed)] == [float, int, int, int]
        return lr + 10 * batch + 1000 * train_size + 1e6 * seed

    outcome = train(record(four))
    assert outcome.status == "fitted" and outcome["alignment"] == 0.5 + 40 + 64e3 + 3e6


NUMBERS: list[Any] = [2, 2.0, np.float32(2), np.array(2.0), np.int64(2)]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: type(n).__name__)
def test_numbers_of_any_kind(number: Any) -> None:
    for what in (number, {"alignment": number}):
        outcome = train(returning(what))
        assert outcome.observables == {"alignment": 2.0} and outcome.status == "fitted"
        assert type(outcome.observables["alignment"]) is float


def test_a_dict_of_observables() -> None:
    full = {"alignment": 1, "test_error": 0.25, "weight_change": 3, "first_step_alignment": 0.5}
    more = {"log": [1, 2], "note": "mine"}
    assert train(returning(full | more)).observables == full
    assert train(returning({"alignment": 1, "test_error": None})).observables == {"alignment": 1.0}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_what_is_not_finite_has_diverged(value: float) -> None:
    assert train(returning(value)).status == "diverged"
    assert train(returning({"alignment": value, "fitted": True})).status == "diverged"


def test_what_was_cut_off_has_spent_its_budget() -> None:
    for said, status in ((False, "budget"), (True, "fitted"), (np.bool_(False), "budget")):
        assert train(returning({"alignment": 1.0, "fitted": said})).status == status


JUNK: dict[str, Any] = {
    "nothing": None,
    "dict of nothing": {"alignment": None},
    "empty dict": {},
    "other names": {"loss": 1.0},
    "text": "much",
    "number as text": "0.5",
    "array": np.zeros(2),
    "pair": (1.0, 2.0),
    "complex": 1j,
    "list inside": {"alignment": [1.0]},
    "junk beside": {"alignment": 1.0, "test_error": "low"},
    "huge": 10**400,
}


@pytest.mark.parametrize("kind", JUNK)
def test_junk_is_refused_in_one_line(kind: str) -> None:
    with pytest.raises(InputError, match=r"\Ayour code: train\(\) returns [^\n]*alignment[^\n]*\Z"):
        train(returning(JUNK[kind]))


def test_junk_of_torch_is_refused_too() -> None:
    torch = pytest.importorskip("torch")
    assert train(returning(torch.tensor(2.0)))["alignment"] == 2.0
    with pytest.raises(InputError, match=r"train\(\) returns Tensor: must return the alignment"):
        train(returning(torch.zeros(2)))


FILE = """
import numpy as np
def helper(batch):
    return np.zeros(batch).reshape(3, -1)  # wrong
def train(lr, batch, train_size, seed):
    if batch == 2:
        helper(batch)
    if batch == 4:
        raise SystemExit("enough")
    return {"alignment": lr * np.random.rand()}
"""


def test_an_error_becomes_a_failed_run_that_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(textwrap.dedent(FILE))
    problem = user_file(str(path))
    common: dict[str, Any] = {"train_size": 8, "lr": 1.0, "model": "function", "test_size": 1}
    plan = [Training(problem, batch=batch, **common) for batch in (1, 2, 4)]
    store = Store(tmp_path / "runs.sqlite")
    assert sweep(plan, store, workers=0).statuses == {"fitted": 1, "failed": 2}
    last = {
        held.training.batch: held.traceback.strip().splitlines()[-1]
        for held in store.runs()
        if held.outcome.status == "failed"
    }
    assert last[2].startswith("sgdphase.errors.UserError: mine.py, line 4 in helper")
    assert "# wrong" in last[2] and "ValueError: cannot reshape" in last[2]
    assert last[4].startswith("sgdphase.errors.UserError: mine.py, line 9 in train")
    assert last[4].endswith("SystemExit: enough")


def test_what_is_drawn_without_a_seed_is_that_of_the_training(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(textwrap.dedent(FILE))
    problem = user_file(str(path))
    values = []
    for seed, noise in ((0, 1), (0, 2), (1, 1)):
        np.random.seed(noise)
        training = Training(problem, train_size=8, lr=1.0, batch=1, model="function", seed=seed)
        values.append(run(training).outcome["alignment"])
    assert values[0] == values[1] != values[2]


def test_wrong_arguments_are_the_users_error() -> None:
    with pytest.raises(UserError, match=r"test_function.py, line \d+ in train: TypeError: .*lr"):
        train(record(lambda batch: 1.0))


def test_other_problems_are_refused() -> None:
    training = Training(TeacherTask(dim=4), train_size=8, lr=1.0, batch=1, model="function")
    with pytest.raises(InputError, match="problem = teacher: model function wants a user's file"):
        train(training)


def test_workers_find_the_file(tmp_path: Path) -> None:
    (tmp_path / "beside_worker.py").write_text("FACTOR = 7.0\n")
    path = tmp_path / "mine.py"
    path.write_text(
        "import beside_worker, os\ndef train(lr, batch, train_size, seed):\n"
        "    print('on stdout')\n    return beside_worker.FACTOR * batch\n"
    )
    problem = user_file(str(path))
    plan = [Training(problem, train_size=8, lr=1.0, batch=b, model="function") for b in (1, 2)]
    store = Store(tmp_path / "runs.sqlite")
    assert sweep(plan, store, workers=1).statuses == {"fitted": 2}
    assert sorted(held.outcome["alignment"] for held in store.runs()) == [7.0, 14.0]
    assert not (tmp_path / "__pycache__").exists()


# For a number of epochs.


def test_it_is_called_with_the_epochs_and_what_else_it_takes() -> None:
    def four(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        assert [type(v) for v in (lr, batch, epochs, seed)] == [float, int, int, int]
        return {"called with": lr + 10 * batch + 1000 * epochs + 1e6 * seed}

    outcome = train(record(four, epochs=20))
    assert outcome.status == "finished"
    assert outcome.observables == {"called with": 0.5 + 40 + 20e3 + 3e6}

    def all_of_them(**given: Any) -> dict[str, float]:
        assert given == {"lr": 0.5, "batch": 4, "epochs": 20, "train_size": 64, "seed": 3}
        return {"val_loss": 0.25}

    assert train(record(all_of_them, epochs=20)).observables == {"val_loss": 0.25}


def returning_after_epochs(what: Any) -> Training:
    return record(lambda lr, batch, epochs, seed: what, epochs=20)


def test_any_metrics_that_are_numbers() -> None:
    more = {"log": [1, 2], "note": "mine", "fitted": True, "missing": None, "each": np.zeros(2)}
    for number in NUMBERS:
        outcome = train(returning_after_epochs({"perplexity": number, "F1": 0, **more}))
        assert outcome.status == "finished"
        assert outcome.observables == {"perplexity": 2.0, "F1": 0.0}
        assert {type(value) for value in outcome.observables.values()} == {float}
        assert outcome.steps == 0
    outcome = train(returning_after_epochs({"accuracy": 0.5, "steps": 30}))
    assert (outcome.steps, outcome.time) == (30, 15.0)
    assert outcome.observables == {"accuracy": 0.5}


@pytest.mark.parametrize("value", [math.nan, math.inf, np.float64("-inf")])
def test_a_metric_that_is_not_finite_has_diverged(value: float) -> None:
    outcome = train(returning_after_epochs({"test_error": 0.5, "train_loss": value}))
    assert outcome.status == "diverged"
    assert outcome.observables.keys() == {"test_error", "train_loss"}
    assert all(map(math.isnan, outcome.observables.values()))


NO_METRICS: dict[str, tuple[Any, str]] = {
    "nothing": (None, "NoneType"),
    "empty": ({}, "an empty dict"),
    "text": ("0.5", "str"),
    "array": (np.zeros(2), "ndarray"),
    "pair": ((0.1, 0.2), "tuple"),
    "yes": (True, "bool"),
    # Whether it is an error or an accuracy is not known.
    "a number without a name": (0.876, "float"),
    "only others": ({"log": [1.0], "steps": 3}, r"log \(list\), steps \(int\)"),
}


@pytest.mark.parametrize("kind", NO_METRICS)
def test_no_metric_is_refused_in_one_line(kind: str) -> None:
    what, said = NO_METRICS[kind]
    with pytest.raises(
        InputError, match=rf"\Ayour code: train\(\) returns {said}: must return a dict of metrics"
    ):
        train(returning_after_epochs(what))


def test_epochs_are_wanted_only_where_there_are_some() -> None:
    with pytest.raises(InputError, match=r"takes no epochs: must be train\(lr, batch, epochs, see"):
        train(record(lambda lr, batch, train_size, seed: 1.0, epochs=20))
    with pytest.raises(UserError, match=r"TypeError: .*epochs"):
        train(record(lambda lr, batch, epochs, seed: 1.0))
    assert train(record(lambda lr, batch, seed, epochs=9: epochs))["alignment"] == 9.0
