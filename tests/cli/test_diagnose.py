"""`sgdphase diagnose` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]

LAW = """
import math
print("a word from the user")
def train(lr, batch, train_size, seed):
    return max(lr / 16, 2.0**-4 + math.sqrt(train_size) / 4 * lr / batch) * (1 + 0.1 * (seed % 3))
"""
KEYS = {
    "regime", "confidence", "slopes", "critical_batch", "gd_line", "largest_batch", "scaling",
    "first_step_share", "noise_scale", "warnings", "trainings",
}  # fmt: skip


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from sgdphase.cli import main; main()", "diagnose"]
    return subprocess.run(
        [*command, *arguments], cwd=folder, capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "law.py").write_text(LAW)
    return tmp_path


def test_until_fitted(folder: Path) -> None:
    given = (
        "law.py", "--until", "fitted", "--lr", "8", "--batch", "8", "--train-sizes", "256,1024",
        "--workers", "0",
    )  # fmt: skip
    done = run(folder, *given, "--json", "--out", "page")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer.keys() >= KEYS
    assert answer["regime"] == "noise-dominated"
    # B* = 4 sqrt(P)
    star = answer["critical_batch"]
    assert star["train_size"] == 1024 and star["value"] == pytest.approx(128, rel=0.1)
    assert (folder / "law.sqlite").exists()
    page = (folder / "page" / "diagnosis.html").read_text()
    assert "noise-dominated" in page and "http" not in page.split("</style>")[1]
    assert list((folder / "page").glob("*.png"))
    assert "a word from the user" in done.stderr
    words = run(folder, *given)
    first, second, *_ = words.stdout.splitlines()
    assert first.startswith("Trained by train() of law.py")
    assert second.startswith("Regime: noise-dominated (confidence 1.00), at lr 8, batch 8")
    assert "Largest batch that learns the same, at 1024 points" in words.stdout


EPOCHS = """
def train(lr, batch, epochs, seed):
    p = lr * epochs / batch * (1 + 0.002 * ((7 * seed + batch) % 5))
    return {"test_error": 0.1 / (1 + p), "train_loss": 1 / (1 + p), "steps": 640 * epochs // batch}
"""


def test_a_table_its_page_and_its_store(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(EPOCHS)
    given = ("mine.py", "--lr", "0.5", "--batch", "8", "--epochs", "10", "--workers", "0",
             "--batches", "16,32")  # fmt: skip
    done = run(tmp_path, *given, "--json", "--out", "page")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert [row["batch"] for row in answer["equivalents"]] == [16, 32]
    assert answer["equivalents"][0]["lr"]["value"] == pytest.approx(1.0, rel=0.02)
    assert answer["rule"]["exponent"]["value"] == pytest.approx(1, abs=0.02)
    assert answer["regime"] == "time-limited"
    assert (tmp_path / "mine.sqlite").exists()
    page = (tmp_path / "page" / "diagnosis.html").read_text()
    assert "Raise the batch to 32" in page and "http" not in page.split("</style>")[1]
    assert {path.name for path in (tmp_path / "page").glob("*.png")} == {
        "diagnosis-metric.png", "diagnosis-rate.png",
    }  # fmt: skip
    again = run(tmp_path, *given)
    lines = again.stdout.splitlines()
    assert lines[0].startswith("Your training: batch 8, lr 0.5, 10 epochs, trained by its own")
    assert lines[1].startswith("A lower test error, at your batch, lr ")
    assert lines[3].split() == ["batch", "lr", "test", "error", "against", "yours", "steps"]
    assert lines[7].startswith("Raise the batch to 32, with lr = 0.5 x (batch/8)^1.0")
    # All was in the store.
    assert f"{answer['trainings']} trainings" in lines[-1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--epochs and --until fitted: neither given; must be one of them. --epochs N asks"),
        (("--epochs", "3", "--until", "fitted"), "--epochs and --until fitted: both given"),
        (("--until", "bored"), "--until bored: must be fitted"),
        (("--epochs", "3", "--margin", "1"), "--margin: is for trainings --until fitted"),
        (("--until", "fitted", "--schedule", "cosine"), "--schedule: is for trainings of --epochs"),
        (("--epochs", "3", "--betas", "0.9"), "betas = [0.9]: must be two numbers"),
        (("--epochs", "3", "--momentum", "0.9"), "momentum = 0.9: bug.py trains by itself"),
        (("--epochs", "3", "--metric", "f1"), "metric = 'f1': must be one of test_error, train_l"),
    ],
)
def test_options_that_do_not_fit(
    sgdphase: Call, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "bug.py").write_text(EPOCHS)
    given = ("--lr", "1", "--batch", "8", "--workers", "0")
    code, out, err = sgdphase("diagnose", "bug.py", *given, *arguments)
    assert (code, out) == (2, "")
    assert [line for line in err.splitlines() if line.startswith(f"sgdphase: {said}")]


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("def train(:\n", (), "bug.py, line 1: invalid syntax"),
        ("import nothing_of_this_name\n", (), "bug.py, line 1 (import nothing_of_this_name)"),
        ("def train(**given):\n    return undefined\n", (), "bug.py, line 2 in train"),
        ("def train(**given):\n    return 'high'\n", (), "train() returns str: must return"),
        (LAW, ("--budget", "soon"), "budget = 'soon': must be a time such as 90s, 10m or 2h"),
        (LAW, ("--batch", "many"), "many"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    sgdphase: Call, tmp_path: Path, text: str, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "bug.py").write_text(text)
    given = (
        "--until", "fitted", "--lr", "1", "--batch", "8", "--train-sizes", "64", "--workers", "0",
    )  # fmt: skip
    code, out, err = sgdphase("diagnose", "bug.py", *given, *arguments)
    assert (code, out) == (2, "")
    (line,) = (line for line in err.splitlines() if line.startswith("sgdphase:"))
    assert said in line


# Learns by lr x steps, with a floor; the seed changes it a little.
SCRIPT = """
import json, sys
lr, batch, epochs, seed = map(float, sys.argv[1:])
loss = 1 / (1 + 100 * lr * epochs / batch) + 0.001 * (seed % 3)
json.dump({"val_loss": loss if lr < 3 else float("nan"), "accuracy": 1 - loss},
          open("m.json", "w"))
"""
LINE = "python3 train.py {lr} {batch} {epochs} {seed}"
POINT = ("--lr", "0.1", "--batch", "8", "--epochs", "4", "--batches", "16", "--seeds", "2")


def test_of_a_command(sgdphase: Call, folder: Path) -> None:
    (folder / "train.py").write_text(SCRIPT)
    metrics = ("--metric", "val_loss=json:m.json", "--metric", "accuracy=json:m.json")
    done = run(folder, "--command", LINE, *metrics, *POINT, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    (row,) = answer["equivalents"]
    assert answer["metric"] == "val_loss" and row["verdict"] == "the same"
    assert row["lr"]["value"] == pytest.approx(0.2, rel=0.02)
    assert answer["settings"]["command"] == LINE
    assert (folder / "train.sqlite").exists() and (folder / "train.sqlite-runs").is_dir()
    # It does not tell its steps: no column for them.
    table = run(folder, "--command", LINE, *metrics, *POINT).stdout.splitlines()
    (head,) = (line.split() for line in table if line.startswith("  batch "))
    assert head == ["batch", "lr", "val", "loss", "against", "yours"]
    # A sweep shares the runs.
    cells = ("--lr", "0.1", "--batch", "8", "--epochs", "4", "--seeds", "2", "--dry-run")
    words = ("sweep", "command", LINE, *metrics, *cells, "--store", "train.sqlite")
    _, _, said = sgdphase(*words)
    assert "2 trainings, 2 done, 0 to run" in said


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((), "FILE and --command: neither given; must be one of them"),
        (("law.py", "--command", LINE), "FILE and --command: both given; must be one of them"),
        (("--command", LINE), "no metric: say where the command writes one"),
        (("--command", LINE.replace(" {epochs}", ""), "--metric", "a=json:m.json"),
         "the command has no {epochs}"),
        (("--command", LINE, "--metric", "a=json:m.json", "--momentum", "0.9"),
         "momentum = 0.9: train.py trains by itself; set it there"),
        (("law.py", "--timeout", "5s"), "--timeout: is of --command"),
        (("--command", "exit 5 # {lr} {batch} {epochs} {seed}", "--shell", "--metric",
          "my_loss=json:m.json"), "exit ended with exit code 5, and printed nothing"),
        (("--command", LINE, "--metric", "my_loss=json:m.json"),
         "has no key 'my_loss'; it has val_loss"),
    ],
)  # fmt: skip
def test_of_a_command_that_is_no_training(
    sgdphase: Call, folder: Path, words: tuple[str, ...], what: str
) -> None:
    (folder / "train.py").write_text(SCRIPT)
    code, _, err = sgdphase("diagnose", *words, *POINT)
    assert code == 2 and what in err.splitlines()[-1], err
