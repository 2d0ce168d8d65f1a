"""`diagram`, `equivalents`, `rule` and `steps` on tables of runs, as typed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from sgdphase._sweep import Store, export
from tests.cli.test_diagram import fill


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Valleys at `lr = 0.02 batch^0.5`, for two sizes of a model, as someone exported them."""
    rng = np.random.default_rng(0)
    lines = ["learning_rate,bs,val_loss,width"]
    for width in (64, 128):
        for batch in (16, 32, 64, 128, 256):
            for lr in 0.01 * 2.0 ** np.arange(0, 7, 0.5):
                t = math.log(lr / 0.02 / batch**0.5)
                loss = 1 + 0.1 * t * t + 0.002 * rng.standard_normal()
                lines.append(f"{lr},{batch},{loss if t < 2 else 'nan'},{width}")
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(lines))
    return path


NAMED = ("--lr", "learning_rate", "--batch", "bs", "--value", "val_loss", "--by", "width")


def test_rule(sgdphase, runs):
    code, out, _ = sgdphase("rule", "runs.csv", *NAMED, "--out", "best.png")
    assert code == 0
    assert out.count("Rule: lr ~ batch^0.") == 2
    assert "count as diverged" in out
    assert Path("best.png").stat().st_size > 5000
    code, out, _ = sgdphase("rule", "runs.csv", *NAMED, "--json")
    for table in json.loads(out)["tables"]:
        assert table["law"]["exponent"]["low"] < 0.5 < table["law"]["exponent"]["high"]


def test_equivalents(sgdphase, runs):
    yours = ("--your-lr", "0.04", "--your-batch", "16")
    code, out, _ = sgdphase("equivalents", "runs.csv", "--where", "width=64", *yours)
    assert code == 0
    assert "0.04 (yours)" in out and "Raise the batch to 256" in out
    code, out, _ = sgdphase("equivalents", "runs.csv", "--where", "width=64", *yours, "--json")
    answer = json.loads(out)
    assert [row["batch"] for row in answer["equivalents"]] == [32, 64, 128, 256]
    # 90 % intervals of four rows: two or more miss with probability 0.05.
    true = {row["batch"]: 0.04 * (row["batch"] / 16) ** 0.5 for row in answer["equivalents"]}
    within = [r["lr"]["low"] < true[r["batch"]] < r["lr"]["high"] for r in answer["equivalents"]]
    assert sum(within) >= 3


def test_a_table_that_is_too_small_is_named_and_the_others_are_answered(sgdphase, runs):
    runs.write_text(runs.read_text() + "\n0.04,16,1.0,256")
    code, out, err = sgdphase("equivalents", "runs.csv", *NAMED)
    assert code == 0 and "width 64\n" in out
    assert "note: width 256: no batch has 3 learning rates" in err
    code, out, _ = sgdphase("equivalents", "runs.csv", *NAMED, "--json")
    assert [part["by"] for part in json.loads(out)] == [{"width": 64}, {"width": 128}]


def test_diagram_of_a_loss(sgdphase, runs):
    code, out, _ = sgdphase("diagram", "runs.csv", *NAMED[:6], "--where", "width=64")
    assert code == 0
    assert "Rule: lr ~" in out and "Your training" in out
    assert "Regimes: cannot tell from val_loss" in out


def test_diagram_of_an_exported_sweep_is_that_of_its_store(sgdphase, tmp_path):
    store = fill(tmp_path / "runs.sqlite")
    export(Store(store), "runs.csv")
    of_store = json.loads(sgdphase("diagram", "runs.sqlite", "--json")[1])
    of_table = json.loads(sgdphase("diagram", "runs.csv", "--value", "alignment", "--json")[1])
    assert of_table["regimes"]["critical_batch"] == of_store["critical_batch"]
    assert "noise-dominated" in sgdphase("diagram", "runs.csv", "--value", "alignment")[1]


def test_named_columns_of_a_store(sgdphase, tmp_path):
    fill(tmp_path / "runs.sqlite")
    of_store = json.loads(sgdphase("diagram", "runs.sqlite", "--json")[1])
    named = json.loads(sgdphase("diagram", "runs.sqlite", "--value", "alignment", "--json")[1])
    assert named["regimes"]["critical_batch"] == of_store["critical_batch"]


def test_steps(sgdphase):
    lines = ["parameters,batch,steps_to_target"]
    for size in (1e6, 1e7, 1e8):
        for batch in 2.0 ** np.arange(4, 14):
            lines.append(f"{size},{batch},{1000 * (1 + 0.1 * size**0.5 / batch)}")
    Path("steps.csv").write_text("\n".join(lines))
    words = ("--steps", "steps_to_target", "--by", "parameters", "--growth", "parameters")
    code, out, _ = sgdphase("steps", "steps.csv", *words)
    assert code == 0
    assert "Crossover ~ parameters^0.5" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rule", "no.csv"), "no.csv: no such file"),
        (("rule", "runs.csv", "--lr", "lrate"), "no column lrate (did you mean"),
        (("equivalents", "runs.csv", "--tolerance", "5"), "tolerance 5: must be between 0 and 1"),
        (("rule", "runs.csv", "--growth", "width"), "--growth width: must be a column of numbers"),
        (("rule", "runs.csv", "--out", "a.txt"), "a.txt: must end in .png"),
        (("diagram", "runs.csv", "--chi", "1"), "--chi 1.0: of columns that are named, --where"),
        (("steps", "runs.csv"), "the number of steps to the target? give --steps, one of learning"),
        (("steps", "runs.csv", "--steps", "stps"), "no column stps; there are learning_rate, bs, "),
        (("equivalents", "runs.csv", "--your-batch", "7"), "batch 7: the runs have"),
    ],
)
def test_wrong_words(sgdphase, runs, words, message):
    code, _, err = sgdphase(*words)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
