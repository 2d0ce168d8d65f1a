"""`sgdphase sweep`, `runs` and `export` from the outside, with a trainer that trains nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sgdphase._sweep import Store

# In place of the perceptron's own functions, in the process and in its workers: Python runs
# `sitecustomize` when it starts.
TOY = """
import os, time
from sgdphase._records import Outcome

def train(training, *, trajectory=False):
    time.sleep(float(os.environ.get("TOY_SECONDS", "0")))
    if training.batch == 16 and "TOY_BROKEN" in os.environ:
        raise RuntimeError("broken")
    return Outcome("fitted", training.batch, 0.5, {"w1": training.lr})

def expected_seconds(training):
    return 0.05
"""
CUSTOMIZE = """
import sgdphase.perceptron, toy_perceptron
sgdphase.perceptron.train = toy_perceptron.train
sgdphase.perceptron.expected_seconds = toy_perceptron.expected_seconds
"""
MAIN = """
from sgdphase.cli import main
main()
"""
GRID = [
    "--train-size",
    "64",
    "--dim",
    "8",
    "--lr",
    "2^-1..2^2",
    "--batch",
    "1..16*4",
    "--seeds",
    "2",
]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (tmp_path / "toy_perceptron.py").write_text(TOY)
    (tmp_path / "sitecustomize.py").write_text(CUSTOMIZE)
    (tmp_path / "main.py").write_text(MAIN)
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.chdir(tmp_path)
    return [sys.executable, "main.py"]


def call(command: list[str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command, *words], capture_output=True, text=True, timeout=60)


def test_sweep_runs_and_export(command: list[str], tmp_path: Path) -> None:
    sweep = ["sweep", "perceptron", *GRID, "--store", "runs.sqlite"]
    dry = call(command, *sweep, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "24 trainings, 0 done, 24 to run, 0 cells left out" in dry.stderr
    assert not Path("runs.sqlite").exists()

    first = call(command, *sweep, "--workers", "2", "--json")
    assert first.returncode == 0, first.stderr
    summary = json.loads(first.stdout)
    assert (summary["planned"], summary["ran"], summary["statuses"]) == (24, 24, {"fitted": 24})
    assert "24 of 24 done" in first.stderr

    second = call(command, *sweep, "--workers", "0", "--json")
    assert json.loads(second.stdout)["ran"] == 0
    assert second.returncode == 0

    listed = call(command, "runs", "runs.sqlite", "--json")
    (group,) = json.loads(listed.stdout)["groups"]
    assert (group["model"], group["problem"], group["runs"]) == ("perceptron", "teacher", 24)
    assert group["parameters"]["lr"] == {"low": 0.5, "high": 4.0, "values": 4}
    assert (
        "perceptron on teacher: 24 runs (fitted 24)" in call(command, "runs", "runs.sqlite").stdout
    )

    assert call(command, "export", "runs.sqlite", "out.csv").returncode == 0
    assert len(Path("out.csv").read_text().splitlines()) == 25


def test_failures_are_reported_and_retried(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = ["sweep", "perceptron", *GRID, "--store", "runs.sqlite", "--workers", "0", "--json"]
    monkeypatch.setenv("TOY_BROKEN", "1")
    broken = call(command, *sweep)
    assert json.loads(broken.stdout)["statuses"] == {"fitted": 16, "failed": 8}
    assert broken.returncode == 1
    monkeypatch.delenv("TOY_BROKEN")
    again = call(command, *sweep, "--retry", "failed,budget")
    assert json.loads(again.stdout)["statuses"] == {"fitted": 8}


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_it_with_one_line(
    command: list[str], monkeypatch: pytest.MonkeyPatch, sent: signal.Signals, code: int
) -> None:
    monkeypatch.setenv("TOY_SECONDS", "0.5")
    words = [*command, "sweep", "perceptron", *GRID, "--store", "runs.sqlite", "--workers", "2"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not Store("runs.sqlite").standing() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(sent)
    _, said = process.communicate(timeout=20)
    assert process.returncode == code, said
    last = said.splitlines()[-1]
    done = len(Store("runs.sqlite").standing())
    assert f"{done} of 24 done" in last
    assert "the same command resumes" in last


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sweep", "perceptron", "--lr", "1", "--store", "a.sqlite"], "give two of lr, batch"),
        (["sweep", "perceptron", "--lr", "2^x", "--batch", "1", "--store", "a"], "2^x"),
        (["sweep", "perceptron", *GRID, "--store", "main.py"], "is not a store"),
        (["sweep", "perceptron", *GRID, "--store", "a.sqlite", "--retry", "x"], "must be among"),
        (["sweep", "perceptron", *GRID, "--store", "a.sqlite", "--workers", "-1"], "workers = -1"),
        (["runs", "none.sqlite"], "there is no store"),
        (["runs", "main.py"], "is not a store"),
        (["export", "none.sqlite", "out.csv"], "there is no store"),
        (["export", "none.sqlite", "out.doc"], "must end in .csv"),
    ],
)
def test_bad_input_is_one_line_and_code_2(command: list[str], words: list[str], said: str) -> None:
    ended = call(command, *words)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert sorted(path.name for path in Path().glob("*.sqlite*")) == []
