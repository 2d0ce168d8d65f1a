"""`sgdphase sweep`, `runs` and `export` from the outside, with a trainer that trains nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sgdphase._sweep import Store

Call = Callable[..., tuple[int, str, str]]

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


def test_sweep_runs_and_export(command: list[str], sgdphase: Call) -> None:
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

    _, listed, _ = sgdphase("runs", "runs.sqlite", "--json")
    (group,) = json.loads(listed)["groups"]
    assert (group["model"], group["problem"], group["runs"]) == ("perceptron", "teacher", 24)
    assert group["parameters"]["lr"] == {"low": 0.5, "high": 4.0, "values": 4}
    _, listed, _ = sgdphase("runs", "runs.sqlite")
    assert "perceptron on teacher: 24 runs (fitted 24)" in listed

    assert sgdphase("export", "runs.sqlite", "out.csv")[0] == 0
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
def test_bad_input_is_one_line_and_code_2(sgdphase: Call, words: list[str], said: str) -> None:
    Path("main.py").write_text(MAIN)
    code, _, err = sgdphase(*words)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1
    assert sorted(path.name for path in Path().glob("*.sqlite*")) == []


# A command: it takes its time, writes its process, and prints a number.
SLOW = (
    "sh -c 'echo $$ >> {start}/pids; sleep 300 & echo $! >> {start}/pids; "
    "[ {seed} -lt 2 ] || wait; kill %1; echo x {lr}' {batch}"
)


def is_alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_sweep_of_commands_leaves_no_process_and_resumes(
    command: list[str], tmp_path: Path, sent: signal.Signals
) -> None:
    sweep = [
        "sweep", "command", SLOW, "--lr", "0.5", "--batch", "4", "--seeds", "4", "--metric",
        r"x=stdout:x (\S+)", "--store", "runs.sqlite", "--slots", "2",
    ]  # fmt: skip
    process = subprocess.Popen([*command, *sweep], stderr=subprocess.PIPE, text=True)
    pids, deadline = Path("pids"), time.monotonic() + 60
    # Two runs are done, and two hang.
    while time.monotonic() < deadline and not (
        len(Store("runs.sqlite").standing()) == 2
        and sum(map(is_alive, pids.read_text().split())) == 4
    ):
        time.sleep(0.05)
    process.send_signal(sent)
    _, said = process.communicate(timeout=30)
    assert process.returncode == (-sent if sent == signal.SIGKILL else 128 + sent), said
    while any(map(is_alive, pids.read_text().split())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_alive, pids.read_text().split()))
    left = call(command, *sweep, "--dry-run", "--json")
    assert json.loads(left.stdout) | {"left_out": 0} == {
        "planned": 4, "done_before": 2, "left": 2, "left_out": 0, "expected_seconds": None,
    }  # fmt: skip
    assert "expected time unknown before the first run" in left.stderr
    done = call(command, *sweep, "--timeout", "0.5s", "--json")
    assert json.loads(done.stdout)["statuses"] == {"failed": 2}
    assert done.returncode == 1 and "did not end within the time-out" in done.stderr
    assert not any(map(is_alive, pids.read_text().split()))


def test_a_command_is_swept_once_and_stops_at_its_first_failure(command: list[str]) -> None:
    Path("train.sh").write_text('[ $1 = 0.5 ] && exit 4; echo "$1 $2" >> ../../log; echo x $1')
    sweep = [
        "sweep", "command", "sh train.sh {lr} {batch}", "--lr", "0.5..2", "--batch", "1,2",
        "--metric", r"x=stdout:x (\S+)", "--store", "runs.sqlite", "--slots", "1", "--json",
    ]  # fmt: skip
    first = call(command, *sweep, "--lr", "1,2")
    assert json.loads(first.stdout)["statuses"] == {"finished": 4}, first.stderr
    again = call(command, *sweep, "--fail-fast")
    assert json.loads(again.stdout)["statuses"] == {"failed": 1}
    assert "failed, such as: train.sh ended with exit code 4" in again.stderr
    assert sorted(Path("log").read_text().split("\n")) == ["", "1.0 1", "1.0 2", "2.0 1", "2.0 2"]
    listed = call(command, "runs", "runs.sqlite")
    assert "command on command: 5 runs (finished 4, failed 1)" in listed.stdout


def test_what_is_missing_is_warned_of(command: list[str]) -> None:
    words = ["--lr", "1", "--batch", "1", "--metric", r"x=stdout:(\S+)", "--store", "runs.sqlite"]
    said = call(command, "sweep", "command", "echo {lr} {batch}", *words, "--seeds", "2").stderr
    assert "warning: the command has no {seed}" in said
    assert "warning: no file is known that the command depends on" in said
