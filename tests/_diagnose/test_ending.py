"""Why a search ended is said, and what it advises changes something."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sgdphase as sp
from sgdphase._diagnose.ending import finished, last_batch
from sgdphase.diagram import Equivalent
from sgdphase.stats import Estimate

NOTHING = Estimate(1.0, 1.0, 1.0)


def row(batch: int, exists: bool | None) -> Equivalent:
    return Equivalent(batch, NOTHING, exists, "cannot tell", 0, 5, {}, NOTHING)


@pytest.mark.parametrize(
    ("top", "largest", "exists", "said"),
    [
        (64, None, (True, True), ""),
        (64, None, (False, False), "at the two largest batches no lr is as good"),
        (64, 100, (True, True), "twice batch 64 is more than the 100 training points"),
        (64, 1000, (False, False), "at the two largest batches no lr is as good"),
        (64, 1000, (True, False), ""),
        (8192, 10**6, (True, True), "batch 8192 is 1024 times yours"),
    ],
)
def test_why_no_larger_batch_is_tried(
    top: int, largest: int | None, exists: tuple[bool, bool], said: str
) -> None:
    rows = [row(top // 2, exists[0]), row(top, exists[1])]
    text = last_batch(8, top, largest, rows)
    assert text.startswith(said) and bool(text) == bool(said)


def test_open_rows_are_named() -> None:
    unbracketed = replace(row(64, None), verdict="worse")
    assert finished([row(16, True), row(32, None), unbracketed], 40, "so") == (
        "batch 32: the limit of 40 seeds is reached; "
        "batch 64: the limit of tried learning rates is reached; so"
    )
    assert finished([row(16, True)], 40, "so") == "every row is decided; so"


LAW = """
import math
import numpy as np

def train(lr, batch, epochs, seed):
    noise = np.random.default_rng([seed, batch, epochs, round(1e6 * math.log(lr)) % 2**32])
    octaves = math.log2(lr / (0.02 * (batch / 32) ** 0.5))
    loss = 0.15 * (1 + 0.1 * octaves**2) * (1.07 if batch > 64 else 1.0)
    progress = lr * epochs / (batch / 32) ** 0.5 / 0.1
    x = noise.standard_normal(2)
    train_loss = progress**-0.3 * math.exp(0.03 * x[1])
    return {"test_loss": loss * math.exp(0.1 * x[0]), "train_loss": train_loss}
"""


def test_the_advised_seeds_go_on(tmp_path: Path) -> None:
    """Batch 256 is worse by 7 %, where 11 % count as the same: 40 seeds do not decide that."""
    path, store = tmp_path / "law.py", tmp_path / "runs.sqlite"
    path.write_text(LAW)

    def ask(**options: Any) -> Any:
        return sp.diagnose(path, lr=0.02, batch=32, epochs=5, batches=[64, 256], workers=0,
                           budget=300, store=store, say=lambda _: None, **options)  # fmt: skip

    first = ask()
    open_row = first.equivalents[1]
    assert (open_row.verdict, open_row.seeds) == ("cannot tell", 40)
    assert first.ended.startswith("batch 256: the limit of 40 seeds")
    assert f"The search ended: {first.ended}." in str(first)
    assert first.as_dict()["ended"] == first.ended
    (advice,) = filter(None, (re.search(r"--seeds (\d+)", line) for line in first.unknown))
    then = ask(seeds=int(advice[1]))
    assert then.equivalents[1].seeds >= int(advice[1]) > 40
    assert then.equivalents[1].verdict == "the same"
    assert then.ended == "every row is decided; no other batch was asked for"
    assert np.isfinite(then.equivalents[1].difference.low)


def test_a_spent_budget_is_said() -> None:
    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        time.sleep(0.1)
        end = np.random.default_rng([seed, batch]).standard_normal()
        return {"test_loss": 1 + 0.5 * end, "train_loss": 1 / lr}

    found = sp.diagnose(train=train, lr=0.1, batch=8, epochs=1, budget=1.0, batches=[16],
                        say=lambda _: None)  # fmt: skip
    assert found.ended == "the budget was spent; give a larger one"
