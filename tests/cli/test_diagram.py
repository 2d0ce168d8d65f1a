"""`sgdphase diagram` on stores of made-up runs."""

from __future__ import annotations

import json

import numpy as np
import pytest
import typer

from sgdphase._records import Outcome, Training
from sgdphase._sweep import Run, Store
from sgdphase.cli import diagram
from sgdphase.errors import InputError
from sgdphase.problems import TeacherTask

LR, BATCH = 2.0 ** np.arange(-6, 7), 2 ** np.arange(0, 10)


def fill(path, *, train_size=512, seeds=3, batches=BATCH):
    """Runs whose alignment is that of three sharp regimes with B* = 16."""
    rng = np.random.default_rng(train_size)
    runs = []
    for seed in range(seeds):
        common = np.exp(0.2 * rng.standard_normal())
        for lr in LR:
            for batch in batches:
                m = (0.05**3 + (0.8 * lr / batch) ** 3 + (0.05 * lr) ** 3) ** (1 / 3)
                m *= common * np.exp(0.05 * rng.standard_normal())
                task = TeacherTask(dim=8)
                t = Training(task, train_size, float(lr), int(batch), seed=seed)
                outcome = Outcome("fitted", 1, lr, {"alignment": m, "w1": 2 * m, "test_error": 0.1})
                runs.append((t.key, Run(t, outcome, 0.0)))
    with Store(path).writer() as writer:
        writer.write(runs, trajectory=False)
    return path


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return fill(tmp_path_factory.mktemp("store") / "runs.sqlite")


@pytest.fixture
def sgdphase(capsys):
    app = typer.Typer(rich_markup_mode=None)
    app.callback()(lambda: None)
    app.command()(diagram.diagram)

    def run(*args):
        app(["diagram", *map(str, args)], standalone_mode=False)
        return capsys.readouterr()

    return run


def test_json(sgdphase, store):
    found = json.loads(sgdphase(store, "--json").out)
    assert {"cells", "critical_batch", "gd_line", "critical_temperature", "slopes"} <= set(found)
    assert len(found["cells"]) == LR.size * BATCH.size
    b = found["critical_batch"]
    assert b["low"] < b["value"] < b["high"] and b["value"] == pytest.approx(16, rel=0.1)
    assert [p["batch"] for p in found["gd_line"]] == BATCH.tolist()
    assert found["notes"] == []


def test_map(sgdphase, store):
    out = sgdphase(store).out
    assert "N  noise-dominated" in out and "critical batch B*" in out and "2^-6" in out


def test_picture_and_numbers_together(sgdphase, store, tmp_path):
    path = tmp_path / "diagram.png"
    printed = sgdphase(store, "--out", path, "--json", "--observable", "w1", "--factor", "1.5")
    assert path.stat().st_size > 5000
    assert (
        json.loads(printed.out)["observable"] == "w1" and json.loads(printed.out)["factor"] == 1.5
    )
    assert f"wrote {path}" in sgdphase(store, "--out", path).err


def test_several_sizes_need_a_choice(sgdphase, tmp_path):
    path = fill(fill(tmp_path / "runs.sqlite"), train_size=1024)
    with pytest.raises(InputError, match="choose train_size from 512, 1024"):
        sgdphase(path)
    assert json.loads(sgdphase(path, "--train-size", "2^10", "--json").out)["fixed"]["chi"] == 1
    assert "N" in sgdphase(path, "--where", "train_size=2^9", "--where", "model=perceptron").out


def test_too_little_says_what_to_run(sgdphase, tmp_path):
    out = sgdphase(fill(tmp_path / "runs.sqlite", seeds=1, batches=[1, 2, 4])).out
    assert "run --seeds 3 or more" in out.replace("\n", " ")
    assert "no first-step-dominated cells" in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--observable", "loudness"], "no column loudness: the runs have .*alignment"),
        (["--chi", "3"], r"chi = 3\.0: the runs have 1"),
        (["--where", "momentum"], "must be NAME=VALUE"),
        (["--where", "pi=3"], "pi: no such parameter; the runs have"),
        (["--factor", "1/2"], "factor = 0.5: must be a number above 1"),
        (["--out", "d.gif"], r"d\.gif: must end in \.png, \.pdf or \.svg"),
    ],
)
def test_bad_input_is_said_in_one_line(sgdphase, store, args, message):
    with pytest.raises(InputError, match=message) as caught:
        sgdphase(store, *args)
    assert "\n" not in str(caught.value)


def test_no_store(sgdphase, tmp_path):
    with pytest.raises(InputError, match=r"none\.sqlite"):
        sgdphase(tmp_path / "none.sqlite")
