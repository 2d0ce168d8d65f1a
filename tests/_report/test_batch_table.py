"""The page and the pictures of a table of equivalents show its numbers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import sgdphase as sp
from sgdphase._diagnose import Diagnosis
from sgdphase._report import diagnosis_page
from sgdphase._report.batch_table import metric_picture, rate_picture


@pytest.fixture(scope="module")
def found() -> Diagnosis:
    """lr ~ batch up to lr 0.8, above which nothing is gained."""

    def train(lr: float, batch: int, epochs: int, seed: int) -> dict[str, float]:
        rng = np.random.default_rng([seed, batch, round(1e6 * lr)])
        p = min(lr, 0.8) * epochs / batch
        scale = np.exp(0.01 * rng.normal(size=2))
        return {"test_error": 0.1 * scale[0] / (1 + p), "train_loss": scale[1] / (1 + p) ** 2,
                "steps": 1000 // batch}  # fmt: skip

    return sp.diagnose(train=train, lr=0.2, batch=8, epochs=100, batches=[16, 32, 128], budget=60,
                       say=lambda line: None)  # fmt: skip


def test_the_metric_stands_over_the_batch(found: Diagnosis) -> None:
    (axes,) = metric_picture(found).axes
    assert found.table is not None
    rows = sorted((found.table.yours, *found.equivalents), key=lambda row: row.batch)
    drawn = {
        (line.get_xdata()[0], round(float(line.get_ydata()[0]), 6))
        for line in axes.get_lines()
        if line.get_marker() == "o"
    }
    assert drawn == {(r.batch, round(100 * r.metrics["test_error"].value, 6)) for r in rows}
    (band,) = axes.patches
    low, high = band.get_y(), band.get_y() + band.get_height()
    ours = found.table.yours.metrics["test_error"].value
    assert (low + high) / 2 == pytest.approx(100 * ours)
    assert (high - low) / 2 == pytest.approx(100 * found.table.tolerance)
    assert {text.get_text() for text in axes.texts} >= {"lr 0.2", "lr 0.4"}


def test_the_rule_is_a_line_through_the_rows(found: Diagnosis) -> None:
    (axes,) = rate_picture(found).axes
    (rule,) = [line for line in axes.get_lines() if len(line.get_xdata()) == 50]
    x, y = np.log(rule.get_xdata()), np.log(rule.get_ydata())
    assert found.table is not None and found.table.rule is not None
    exponent = found.table.rule.exponent.value
    assert np.polyfit(x, y, 1)[0] == pytest.approx(exponent)
    assert math.exp(x[-1]) == pytest.approx(found.table.rule.up_to_batch)
    crosses = [line for line in axes.get_lines() if line.get_marker() == "x"]
    assert [line.get_xdata()[0] for line in crosses] == [
        row.batch for row in found.equivalents if row.exists is False
    ]


def test_the_page_can_be_sent(found: Diagnosis, tmp_path: Path) -> None:
    page = diagnosis_page(found, tmp_path).read_text()
    body = page.split("</style>")[1]
    assert "http" not in body and str(tmp_path) not in body
    order = ["Your training: batch 8", "Raise the batch to 32", "<table>", "data:image/png",
             "All metrics", "What was run", "Glossary", "Every run"]  # fmt: skip
    places = [body.index(text) for text in order]
    assert places == sorted(places)
    for row in found.equivalents:
        assert f">{row.batch}<" in body
