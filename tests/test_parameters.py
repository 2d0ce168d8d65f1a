"""The tables of parameters and models, and that one edit of them is enough."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import sgdphase
from sgdphase import Training, grid
from sgdphase._models import EPOCH_LOSSES, MODELS, NETWORKS
from sgdphase._parameters import BY_NAME, FIELDS, PARAMETERS, POSITIVE, REQUIRED

ROOT = Path(__file__).parents[1]
PACKAGE = Path(sgdphase.__file__).parent


def test_rows_are_read_off_the_fields_of_the_record() -> None:
    assert [field.name for field in fields(Training)] == [row.name for row in FIELDS]
    lr, depth, seed = (BY_NAME[name] for name in ("lr", "depth", "seed"))
    assert (lr.type, lr.default, lr.valid, lr.argument) == (float, REQUIRED, POSITIVE, "lr")
    assert (depth.type, depth.default) == (int, None)
    assert "fc" in (depth.models or ()) and "mobilenet" not in (depth.models or ())
    assert (seed.type, seed.default, seed.argument) == (int, 0, "seeds")
    assert {"fc", "mobilenet"} <= set(NETWORKS) == set(BY_NAME["dynamics"].models or ())


def test_the_order_is_that_of_columns_and_options() -> None:
    names = list(BY_NAME)
    assert len(names) == len(PARAMETERS)
    known = ["model", "depth", "problem", "dim", "chi", "direction", "train_size", "lr", "batch",
             "temperature", "margin", "seed", "test_size", "max_steps"]  # fmt: skip
    assert [name for name in names if name in known] == known


def test_the_record_has_plain_types_for_help_and_editors() -> None:
    given = inspect.signature(Training).parameters
    assert list(given)[:4] == ["problem", "train_size", "lr", "batch"]
    assert given["depth"].annotation == get_type_hints(Training)["depth"] == int | None
    assert "\ndepth : int, default the model's\n    Hidden layers" in (Training.__doc__ or "")


def test_grid_shows_the_arguments_of_the_table() -> None:
    given = inspect.signature(grid).parameters
    arguments = {each.argument: each for each in PARAMETERS if each.grid}
    assert set(given) == set(arguments)
    # Two of them are given; a problem may be given or not; a number of seeds.
    other = dict.fromkeys(("problem", "lr", "batch", "temperature")) | {"seeds": 1}
    other |= {each.name: None for each in PARAMETERS if each.of == "problem"}
    for name, parameter in arguments.items():
        assert given[name].default == other.get(name, MODELS["perceptron"].default(parameter)), name
    assert given["width"].annotation == "int | Sequence[int] | None"
    assert given["loss"].annotation == "str"


def test_rows_are_complete() -> None:
    for parameter in PARAMETERS:
        assert parameter.help
        assert parameter.type in (int, float, str, object)
        assert not parameter.models or set(parameter.models) <= set(MODELS)
        if parameter.of == "training" and parameter.type in (int, float):
            assert parameter.valid is not None
        if parameter.of == "training" and parameter.type is str and parameter.name != "model":
            assert parameter.choices
    for model in MODELS.values():
        values = {**model.defaults, **model.shape}
        assert all(model.has(BY_NAME[name]) for name in (*values, *model.choices, *model.help))


@pytest.mark.parametrize("model", [model for model in MODELS.values() if model.what])
def test_a_model_has_its_own_defaults(model: Any) -> None:
    assert model.default(BY_NAME["train_size"]) is not REQUIRED
    assert model.choices_of(BY_NAME["loss"])[0] == "hinge"
    assert MODELS["own"].choices_of(BY_NAME["loss"], epochs=True) == EPOCH_LOSSES


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_takes_its_shape(name: str) -> None:
    pytest.importorskip("torch")
    module, _, network = MODELS[name].network.partition(":")
    taken = inspect.signature(getattr(import_module(module), network)).parameters
    assert {*MODELS[name].shape, "generator"} <= set(taken)


def edited(section: str, folder: Path) -> Any:
    """Runs Python in a copy of the package with the diffs that CONTRIBUTING shows."""
    shutil.copytree(PACKAGE, folder / "sgdphase", ignore=shutil.ignore_patterns("__pycache__"))
    text = (ROOT / "CONTRIBUTING.md").read_text().partition(f"\n### {section}\n")[2]
    (diff,) = re.findall(r"```diff\n(.*?)```", text.partition("\n### ")[0], flags=re.DOTALL)
    path = None
    for part in re.split(r"^@@.*\n", diff, flags=re.MULTILINE):
        if named := re.search(r"^\+\+\+ b/src/(.*)$", part, flags=re.MULTILINE):
            path = folder / named[1]
            continue
        assert path is not None
        before, after = ("".join(line[1:] + "\n" for line in part.splitlines() if line[0] != sign)
                         for sign in "+-")  # fmt: skip
        assert path.read_text().count(before) == 1, before
        path.write_text(path.read_text().replace(before, after))

    path_list = os.pathsep.join([str(folder), *filter(None, sys.path)])

    def run(code: str) -> str:
        ended = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=folder,
            env=os.environ | {"PYTHONPATH": path_list},
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return run


def command(words: str) -> str:
    return (f"import sys; from sgdphase.cli import main; "
            f"sys.argv[1:] = {words.split()}; main()")  # fmt: skip


def test_a_parameter_is_one_edit(tmp_path: Path) -> None:
    run = edited("A parameter of a training", tmp_path)
    assert "--clip NUMBER" in run(command("train fc --help"))
    assert "--clip" not in run(command("train perceptron --help"))
    words = "sweep fc --data teacher --train-size 32 --lr 1 --batch 2 --clip 1..16 --store a.sqlite"
    assert '"left": 5' in run(command(f"{words} --dry-run --json"))
    said = run("""
import sgdphase as sp, inspect
from sgdphase._sweep.table import flat
plan = sp.grid(dim=8, train_size=16, lr=1.0, batch=2, model="fc", clip=[1, 2])
print([flat(training)["clip"] for training in plan], len({training.key for training in plan}))
print("clip" in inspect.signature(sp.grid).parameters, "clip : float" in sp.Training.__doc__)
print(sp.Training(sp.TeacherTask(dim=4), 8, 1.0, 2).key)
for options in ({"model": "fc", "clip": -1}, {"clip": 1.0}):
    try:
        sp.Training(sp.TeacherTask(), 8, 1.0, 2, **options)
    except sp.InputError as error:
        print(error)
""")
    *lines, last = said.splitlines()
    assert lines == [
        "[1.0, 2.0] 2",
        "True True",
        Training(sgdphase.TeacherTask(dim=4), 8, 1.0, 2).key,  # which stands
        "clip = -1: must be a finite number above 0, from 1e-100 to 1e+100",
    ]
    assert last.startswith("clip = 1.0: perceptron has no clip; it is a parameter of fc")


def test_a_network_is_one_edit_beside_its_file(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    run = edited("A network", tmp_path)
    skeleton = ROOT / "examples" / "skeletons" / "my_network.py"
    shutil.copy(skeleton, tmp_path / "sgdphase" / "networks" / "_quadratic.py")
    shown = run(command("train quadratic --help"))
    assert "--width INTEGER" in shown and "--depth" not in shown and "--activation" not in shown
    assert "Train a network with one hidden layer" in run(command("sweep quadratic --help"))
    said = run("""
import sgdphase as sp
(training,) = sp.grid(dim=4, train_size=16, lr=0.1, batch=2, test_size=32, max_steps=20,
                      model="quadratic")
print(training.width, sp.train(training).status)
""")
    assert said.split() in (["32", "fitted"], ["32", "budget"])
