"""Which columns count, which runs diverged, and what is said about the rest."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from sgdphase.diagram import run_table, run_tables
from sgdphase.diagram._column_names import more_is_better
from sgdphase.errors import InputError


@pytest.mark.parametrize(
    "names",
    [
        ("lr", "batch_size", "val_loss"),
        ("learning_rate", "bs", "test_error"),
        ("params.lr", "params.batch-size", "metrics.val_loss"),  # MLflow
        ("params_learning_rate", "params_batch", "user_attrs_loss"),  # Optuna
        ("config.lr", "config.per_device_train_batch_size", "summary.eval_loss"),  # W&B
    ],
)
def test_usual_names_are_found(names: tuple[str, str, str]):
    table = run_table(dict(zip(names, ([0.1], [8], [1.0]), strict=True)))
    assert (table.lr[0], table.batch[0], table.value[0]) == (0.1, 8, 1)
    assert table.metric == names[2]


def test_texts_of_numbers_are_numbers():
    table = run_table({"params.lr": ["0.1", "1e-2"], "params.bs": ["8", "16"], "loss": [1, 2]})
    assert table.lr.tolist() == [0.1, 0.01]


def test_runs_that_diverged():
    value = [1.0, 1.1, math.nan, math.inf, None, 1e10]
    table = run_table({"lr": [1, 2, 3, 4, 5, 6], "batch": [8] * 6, "loss": value})
    assert np.isnan(table.value).tolist() == [False, False, True, True, True, True]
    assert table.notes == (
        "4 of 6 runs count as diverged: 2 nan, empty or a word, 1 infinite, 1 above 1e6 times the "
        "median",
    )


def test_runs_that_did_not_end_are_left_out():
    runs = {
        "lr": [1, 2, 3, 0],
        "batch": [8] * 4,
        "loss": [1, 2, 3, 4],
        "state": ["COMPLETE", "TrialState.PRUNED", "COMPLETE", "COMPLETE"],
    }
    table = run_table(runs)
    assert table.lr.tolist() == [1, 3]
    assert table.notes == (
        "1 run left out: state is TrialState.PRUNED",
        "1 run left out: lr is not above 0 and finite",
    )


def test_tables_are_kept_apart():
    runs = {"lr": [1, 1, 1], "batch": [8, 8, 8], "loss": [1, 2, 3], "width": [4, 8, 8],
            "epochs": [1, 1, 2]}  # fmt: skip
    assert [table.by for table in run_tables(runs, by=["width"])] == [
        {"width": 4, "epochs": 1},
        {"width": 8, "epochs": 1},
        {"width": 8, "epochs": 2},
    ]
    mixed = run_table(runs, epochs="", where={})
    assert mixed.notes == (
        "runs of the same lr and batch differ in width and epochs: separate them with --by width, "
        "or choose some with --where width=...",
    )
    assert run_table(runs, where={"width": 4}).value.tolist() == [1]


def test_of_a_log_the_last_row_counts():
    runs = {
        "lr": [1, 1, 1, 2, 2],
        "batch": [8] * 5,
        "loss": [3, 2, 1, 3, 2],
        "step": [1, 2, 3, 1, 2],
    }
    table = run_table(runs)
    assert table.value.tolist() == [1, 2]
    assert table.notes == ("3 runs left out: only the largest step of each lr and batch counts",)


def test_a_study_says_which_way_is_better():
    trial = {
        "params": {"lr": 1.0, "batch": 8},
        "value": 0.5,
        "state": SimpleNamespace(name="COMPLETE"),
    }
    study = SimpleNamespace(
        trials=[SimpleNamespace(**trial)], direction=SimpleNamespace(name="MAXIMIZE")
    )
    assert run_table(study).maximize
    with pytest.raises(InputError, match="value: which way is better"):
        run_table({"lr": [1], "batch": [8], "value": [1]})


@pytest.mark.parametrize(
    ("name", "higher"),
    [("val_acc", True), ("top1_accuracy", True), ("eval/F1", True), ("score", True),
     ("val_loss_bf16", False), ("brier_score", False), ("loss_r2", False), ("perplexity", False),
     # What a word is in another one does not count.
     ("sentiment_accuracy", True), ("sentiment_f1", True), ("multimedia_acc", True),
     ("terrain_iou", True), ("macroF1", True), ("chrF", True), ("mAP", True), ("AP50", True),
     ("exact_match", True), ("pass@1", True), ("hit@10", True), ("win_rate", True),
     ("log_likelihood", True), ("neg_log_likelihood", False), ("error_rate", False),
     ("neg_mean_squared_error", True), ("valLoss", False), ("rmse", False), ("step_time", False)],
)  # fmt: skip
def test_directions_by_name(name: str, higher: bool):
    assert more_is_better(name) is higher


@pytest.mark.parametrize(
    "name",
    ["value", "metric", "rate", "terrain", "y", "accuracy_drop", "val_acc_std", "1_minus_accuracy",
     "recall_negative", "false_negative_error", "steps_per_second", "acc_after_100_steps",
     "num_correct"],
)  # fmt: skip
def test_a_name_that_does_not_tell_is_asked_about(name: str):
    with pytest.raises(InputError, match=f"^{name}: which way is better"):
        more_is_better(name)


def test_swapped_columns_are_noticed():
    columns = {"lr": [8, 16, 32.0], "batch": [0.1, 0.2, 4.0], "loss": [1, 2, 3.0]}
    [note] = run_table(columns).notes
    assert note == "batch holds 0.1 and lr whole numbers: are --lr and --batch swapped?"


def test_a_column_that_may_be_the_seed_is_not_only_to_be_separated():
    lr, mine = [0.1, 0.1, 0.2, 0.2, 0.4, 0.4], [7.0, 9.0] * 3
    [note] = run_table({"lr": lr, "batch": [8] * 6, "loss": [1.0] * 6, "mine": mine}).notes
    assert note.endswith("if mine is the seed, say --seed mine")
    assert run_table({"lr": lr, "batch": [8] * 6, "loss": [1.0] * 6, "rng": mine}).notes == ()


def test_runs_without_a_learning_rate_are_said_to_be_so():
    table = run_table({"lr": ["", "-1", "0.1"], "batch": [8, 8, 8], "loss": [1, 2, 3]})
    assert table.notes == (
        "1 run left out: lr is empty or no number", "1 run left out: lr is not above 0 and finite",
    )  # fmt: skip


def test_empty_entries_of_by_are_one_group():
    runs = {"lr": [1, 2, 3], "batch": [8] * 3, "loss": [1, 2, 3], "wd": [None, None, 0.1]}
    assert [t.value.size for t in run_tables(runs, by="wd")] == [1, 2]
    with pytest.raises(InputError, match="runs differ in wd: choose some with where"):
        run_table(runs, by="wd")


def test_more_of_an_accuracy_is_better():
    runs = {"lr": [1], "batch": [8], "val_acc": [0.9]}
    assert run_table(runs).maximize
    assert not run_table(runs, maximize=False).maximize


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": "learning_rte"}, r"no column learning_rte \(did you mean learning_rate"),
        ({"lr": "eta0"}, r"no column eta0 \(did you mean learning_rate\?\); there are"),
        ({"value": "name"}, "column name: holds 'a': must be numbers"),
        ({}, "which column is the result, as a loss"),
        ({"value": "y", "by": ["nme"]}, r"no column nme \(did you mean name"),
        ({"value": "y", "where": {"name": "b"}}, "name = b: the runs have a"),
    ],
)
def test_wrong_names_say_what_there_is(options: dict, message: str):
    runs = {"learning_rate": [1.0], "bs": [8], "y": [1.0], "name": ["a"]}
    with pytest.raises(InputError, match=message):
        run_tables(runs, **options)


def test_a_column_is_named_with_its_underscores():
    runs = {"lr": [0.1], "batch": [8], "val_loss": [1.0]}
    assert run_table(runs, value="Val_Loss").metric == "val_loss"
    with pytest.raises(InputError, match=r"no column valloss \(did you mean val_loss\?\)"):
        run_table(runs, value="valloss")
