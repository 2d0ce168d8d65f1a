"""What is compiled is kept, is said, and is no reason to fail where nothing can be kept."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from typer.testing import CliRunner

from sgdphase import CifarAnimals, TeacherTask, Training, cli, grid, perceptron, sweep
from sgdphase._compiled import kept
from sgdphase._sweep.progress import Progress
from sgdphase._sweep.trainers import delay_of


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail():
    from numba import njit

    names: dict[str, Any] = {}
    exec(compile("def twice(x):\n    return 2 * x", "<nowhere>", "exec"), names)
    with pytest.raises(RuntimeError, match="no locator"):
        njit(cache=True)(names["twice"])
    assert kept(fastmath=True)(names["twice"])(21) == 42


SOURCE = """\
from sgdphase._compiled import kept
@kept()
def twice(x):
    return 2 * x
"""


def test_what_was_compiled_is_found_on_disk(tmp_path):
    (tmp_path / "double.py").write_text(SOURCE)
    ask = "from sgdphase._compiled import is_kept; print(is_kept('double', 'twice')); "
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}]; {ask} import double; double.twice(2)"
    said = [subprocess.check_output([sys.executable, "-c", code], text=True) for _ in range(2)]
    assert said == ["False\n", "True\n"]


def test_a_sweep_says_so_until_its_first_run(tmp_path, monkeypatch):
    monkeypatch.setattr(perceptron, "delay", lambda training: "compiling", raising=False)
    texts: list[str] = []

    class Said(Progress):
        def show(self, tally, runs):
            texts.append(tally.waiting)

    plan = grid(dim=8, train_size=32, lr=1.0, batch=[1, 2])
    sweep(plan, tmp_path / "runs.sqlite", workers=1, progress=Said())
    assert (texts[1], texts[-1]) == ("compiling", "")


def test_train_says_so_in_a_line(monkeypatch):
    monkeypatch.setattr(perceptron, "delay", lambda training: "compiling", raising=False)
    line = "train perceptron --train-size 32 --dim 8 --seeds 1 --lr 1 --batch 2 --json"
    result = CliRunner().invoke(cli.build(), line.split())
    assert (result.exit_code, result.stderr) == (0, "sgdphase: compiling\n")


@pytest.mark.parametrize(
    ("how", "loop"),
    [
        ({}, "run_sgd"),
        ({"momentum": 0.5}, "run_variant"),
        ({"loss": "logistic"}, "run_variant"),
        ({"model": "fc"}, "walk"),
        ({"model": "fc", "momentum": 0.5}, None),
        ({"model": "fc", "dynamics": "gaussian"}, None),
        ({"model": "mobilenet", "problem": CifarAnimals()}, "walk"),
        ({"model": "diagonal"}, None),
    ],
)
def test_only_what_the_training_runs_is_waited_for(how, loop, monkeypatch):
    """Said if the loop of this training is not on disk, whatever others are."""
    training = Training(**{"problem": TeacherTask(dim=8)} | how, train_size=32, lr=1.0, batch=2)
    for missing in ("run_sgd", "run_variant", "walk"):
        for module in ("sgdphase.perceptron._cost", "sgdphase.networks._cost"):
            name = f"{module}.is_kept"
            monkeypatch.setattr(name, lambda module, name, missing=missing: name != missing)
        assert bool(delay_of([training])) == (missing == loop)
