"""The short form of the crash matrix (`make torture`): one crash of each cheap kind."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")


def test_nothing_is_lost_doubled_or_traced_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torture  # on the path of this room

    monkeypatch.setenv("TORTURE_LOG", "")  # the matrix changes it
    monkeypatch.setattr(torture, "EARLY", 0.0)
    monkeypatch.setattr(torture, "LATEST", 0.1)
    (tmp_path / "store").mkdir()
    matrix = torture.Matrix(tmp_path, random.Random(0), seeds=2, workers=1)
    for kind in ("parent killed", "store copied, original lost", "store deleted or moved"):
        matrix.crash(kind)
    matrix.finish()
    assert matrix.is_clean(), matrix.table()
    assert sum(count.effective for count in matrix.counts.values()) >= 2
    assert sum(count.resumed for count in matrix.counts.values()) >= 1
