"""`sgdphase diagnose` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_json_page_and_store(folder: Path) -> None:
    given = ("law.py", "--lr", "8", "--batch", "8", "--train-sizes", "256,1024", "--workers", "0")
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
    assert words.stdout.startswith("Regime: noise-dominated (confidence 1.00), at lr 8, batch 8")
    assert "Largest batch that learns the same, at 1024 points" in words.stdout


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
    tmp_path: Path, text: str, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "bug.py").write_text(text)
    given = ("--lr", "1", "--batch", "8", "--train-sizes", "64", "--workers", "0")
    done = run(tmp_path, "bug.py", *given, *arguments)
    assert done.returncode == 2
    complaint = [line for line in done.stderr.splitlines() if line.startswith("sgdphase:")]
    assert len(complaint) == 1 and said in complaint[0]
    assert "Traceback" not in done.stderr and not done.stdout
