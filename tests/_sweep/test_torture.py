"""The short form of the crash matrix: one crash of each cheap kind; and what the matrix counts.

`make torture` plants every fault first, `make test` the two that lose and double results.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")


@pytest.fixture
def matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    import torture  # on the path of this room

    monkeypatch.setenv("TORTURE_LOG", "")  # the matrix changes it
    monkeypatch.setattr(torture, "EARLY", 0.0)
    monkeypatch.setattr(torture, "LATEST", 0.1)
    (tmp_path / "store").mkdir()
    return torture.Matrix(tmp_path, random.Random(0), seeds=2, workers=1)


def test_nothing_is_lost_doubled_or_traced_back(matrix: Any) -> None:
    for kind in ("parent killed", "store copied, original lost", "store deleted or moved"):
        matrix.crash(kind)
    matrix.finish()
    assert matrix.is_clean(), matrix.table()
    assert sum(count.effective for count in matrix.counts.values()) >= 2
    assert sum(count.resumed for count in matrix.counts.values()) >= 1


# Faults, planted into the process that sweeps: what is wrong, what happens then, what counts it.
PLANTED = {
    "a commit is dropped": (
        "from sgdphase._sweep import store\n"
        "real = store._insert\n"
        "store._insert = lambda c, runs, **k: real(c, runs[1:], **k)",
        ["parent killed"],
        "lost",
    ),
    "a number is changed": (
        "import dataclasses\n"
        "from sgdphase._sweep import store\n"
        "real = store.row_of\n"
        "def row_of(key, run):\n"
        "    outcome = dataclasses.replace(run.outcome, steps=run.outcome.steps + 1)\n"
        "    return real(key, dataclasses.replace(run, outcome=outcome))\n"
        "store.row_of = row_of",
        ["parent killed"],
        "lost",
    ),
    "a training is forgotten": (
        "from sgdphase._sweep import runner\n"
        "real = runner.missing\n"
        "runner.missing = lambda *a, **k: real(*a, **k)[1:]",
        [],
        "lost",
    ),
    "no rescue is written": (
        "from sgdphase._sweep import store\n"
        "store.rescued = lambda *a: 'saved as gone.sqlite: name this file'",
        ["parent killed", "store deleted or moved"],
        "lost",
    ),
    "what is stored runs again": (
        "from sgdphase._sweep import store\nstore.Store.standing = lambda self, keys=None: {}",
        ["parent killed", "parent killed"],
        "doubled",
    ),
    "a result is recorded twice": (
        "from sgdphase._sweep import runner\n"
        "real = runner._Loop._taken_back\n"
        "runner._Loop._taken_back = lambda self, f: real(self, f) * 2",
        ["parent killed"],
        "tracebacks",  # the sweep notices, and ends
    ),
    "a training runs twice": (
        "from sgdphase._sweep import runner\n"
        "real = runner.run_pack\n"
        "def run_pack(*a, **k):\n"
        "    return real(*a, **k) and real(*a, **k)\n"
        "runner.run_pack = run_pack",
        ["parent killed"],
        "doubled",
    ),
}


OFTEN = ("a commit is dropped", "a training runs twice")
FAULTS = [name if name in OFTEN else pytest.param(name, marks=pytest.mark.torture)
          for name in PLANTED]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_counted(matrix: Any, fault: str) -> None:
    source, kinds, counted = PLANTED[fault]
    with (matrix.folder / "site" / "sitecustomize.py").open("a") as file:
        file.write(f"\n{source}\n")
    matrix.say = lambda text: None
    for kind in kinds:
        matrix.crash(kind, after=2)
    matrix.finish()
    assert sum(getattr(count, counted) for count in matrix.counts.values()) > 0, matrix.table()
