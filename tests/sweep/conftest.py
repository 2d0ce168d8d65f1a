"""The toy trainer is importable here and in the workers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE)
    path = os.pathsep.join([HERE, *filter(None, sys.path)])
    monkeypatch.setenv("PYTHONPATH", path)
