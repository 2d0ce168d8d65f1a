"""The trainer of the crash matrix: that of the skeletons, which saves checkpoints, slowed down.

It logs `KEY STEP` as it starts, where STEP is that of the checkpoint it continues from.
"""

from __future__ import annotations

import importlib.util
import os
import time
from pathlib import Path
from typing import Any

from sgdphase._records import Outcome, Training

# A copy of our own, which is changed.
_FILE = Path(__file__).parents[2] / "examples" / "skeletons" / "my_trainer.py"
_spec = importlib.util.spec_from_file_location("torture_skeleton", _FILE)
assert _spec is not None and _spec.loader is not None
my_trainer = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(my_trainer)
my_trainer.SAVE_EVERY = 10
_save = my_trainer.save


def _save_slowly(*state: Any) -> None:
    """Most of the time passes asleep: crashes are many, and processors few."""
    _save(*state)
    time.sleep(float(os.environ.get("TORTURE_PAUSE", "0")))


my_trainer.save = _save_slowly


def train(training: Training, *, checkpoint: Path | None = None, **options: Any) -> Outcome:
    saved = my_trainer.load(checkpoint)
    with Path(os.environ["TORTURE_LOG"]).open("a") as file:
        file.write(f"{training.key} {saved[1] if saved else 0}\n")
    return my_trainer.train(training, checkpoint=checkpoint, **options)


def expected_seconds(training: Training) -> float:
    return 0.3
