"""The toy trainer is importable here and in the workers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sgdphase._sweep import Plan, Store, grid

HERE = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE)
    path = os.pathsep.join([HERE, *filter(None, sys.path)])
    monkeypatch.setenv("PYTHONPATH", path)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs.sqlite")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv("TOY_LOG", str(path))
    return path


def _toy_plan(function: str = "train", batch: Sequence[int] = (1, 2, 4, 8), seeds: int = 3) -> Plan:
    model = f"toy_trainer:{function}"
    return grid(dim=8, train_size=64, lr=[0.5, 1.0], batch=batch, seeds=seeds, model=model)


@pytest.fixture
def toy() -> Callable[..., Plan]:
    return _toy_plan
