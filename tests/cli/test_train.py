"""The commands as a user types them."""

import csv
import json
from pathlib import Path

import pytest

from sgdphase import cli

SMALL = ("train", "perceptron", "--train-size", "64", "--dim", "8", "--test-size", "128")


def test_train_prints_one_object(sgdphase) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = sgdphase(*SMALL, "--lr", "2^1", "--batch", "2", "--seeds", "3", "--json")
    report = json.loads(out)
    assert code == 0
    assert list(report) == ["training", "runs", "mean", "sem"]
    assert [r["seed"] for r in report["runs"]] == [0, 1, 2]
    assert report["training"]["lr"] == 2.0
    run = report["runs"][0]
    assert set(run) == {
        "seed", "status", "steps", "time", "w1", "w_perp", "norm", "alignment", "unfitted",
        "train_error", "test_error", "first_step", "crossover_time",
    }  # fmt: skip
    assert set(run["first_step"]) == {"w1", "w_perp"}
    assert run["status"] == "fitted"
    assert report["mean"]["w1"] == pytest.approx(sum(r["w1"] for r in report["runs"]) / 3)
    assert report["sem"]["first_step"]["w1"] > 0


def test_train_writes_its_picture_and_trajectory(sgdphase, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    picture, table = tmp_path / "a.png", tmp_path / "a.csv"
    code, out, _ = sgdphase(
        *SMALL, "--lr", "1", "--batch", "1", "--plot", str(picture), "--trajectory", str(table)
    )
    assert code == 0
    assert "fitted" in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert {"seed", "time", "w1", "w_perp", "lambda", "r", "unfitted", "unfitted_test", "loss",
            "train_error", "test_error"} == set(rows[0])  # fmt: skip
    assert float(rows[-1]["unfitted"]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*SMALL, "--batch", "65"), "batch = 65: must be an integer from 1 to the train size 64"),
        ((*SMALL, "--lr", "fast"), "'fast' is not a number such as"),
        ((*SMALL, "--chi", "-1"), "chi = -1.0: must be"),
        ((*SMALL, "--seeds", "0"), "seeds = 0: must be"),
        ((*SMALL, "--weight-decay", "0.1"), "never ends; give max_time (--max-time, "),
        ((*SMALL, "--plot", "a.jpeg"), "must end in .png, .pdf or .svg"),
        ((*SMALL, "--plot", "no/such/folder/a.png"), "there is no folder"),
        ((*SMALL, "--nonsense"), "No such option"),
        (("theory", "averages", "--chi", "-3"), "chi = -3.0: must be"),
        (("theory", "scales", "--lr", "1"), "both given or neither"),
        (("trian",), "trian: no such command (did you mean train?); must be diagnose, "),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(sgdphase, words, said) -> None:  # type: ignore[no-untyped-def]
    code, out, err = sgdphase(*words)
    assert (code, out) == (2, "")
    assert err.startswith("sgdphase: ")
    assert err.count("\n") == 1
    assert said in err


def commands(app, path=()):  # type: ignore[no-untyped-def]
    """Every subcommand's path and help."""
    from typer.main import get_command

    command = get_command(app) if not path else app
    if hasattr(command, "commands"):
        for name, sub in command.commands.items():
            yield from commands(sub, (*path, name))
    else:
        yield path, command.help


def test_every_subcommand_has_an_example() -> None:
    found = dict(commands(cli.build()))
    assert len(found) >= 5
    for path, text in found.items():
        assert f"Example: sgdphase {' '.join(path)}" in " ".join(text.split()), path
