"""The options of `train` and `sweep` come from the table of parameters."""

from __future__ import annotations

import re
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from sgdphase import cli
from sgdphase._models import MODELS
from sgdphase._parameters import BY_NAME, PARAMETERS
from sgdphase.cli._options import model_command

COMMANDS = [(verb, model) for verb in ("train", "sweep") for model in MODELS.values() if model.what]
IDS = [f"{verb} {model.name}" for verb, model in COMMANDS]
HOW = {
    "train": {"json", "trajectory"},
    "sweep": {
        "store", "trajectories", "workers", "dask", "retry", "fail_fast", "dry_run", "json",
    },
}  # fmt: skip
# Known answers: some options that a model has, and some that it has not.
HAS = {
    "perceptron": {"dim", "chi", "lr", "batch", "seeds", "loss", "momentum", "l1", "max_time"},
    "fc": {"data", "dim", "direction", "depth", "width", "loss", "l1", "dynamics", "device"},
    "diagonal": {"data", "dim", "direction", "depth", "l1"},
    "vgg11": {"data", "width", "activation"},
    "cnn": {"data", "width", "activation"},
    "mobilenet": {"data", "width", "activation", "sampler", "data_dir"},
}
HAS_NOT = {
    "perceptron": {"data", "depth", "width", "direction", "sampler", "dynamics", "max_seconds"},
    "fc": {"plot"},
    "mobilenet": {"depth", "dim", "chi", "direction"},
    "vgg11": {"depth", "dim"},
    "cnn": {"depth", "dim"},
    "diagonal": {"width", "activation"},
}
NEVER = {"model", "seed", "problem", "epochs", "optimizer", "beta1"}


def options(verb: str, model: Any) -> dict[str, Any]:
    command: Any = get_command(cli.build())
    found = command.commands[verb].commands[model.name].params
    return {option.name: option for option in found if option.name != "help" and not option.hidden}


def of_table(verb: str, model: Any) -> list[str]:
    """The parameters that must be options: those that `grid` takes and the model has."""
    return [
        parameter.argument
        for parameter in PARAMETERS
        if parameter.grid
        and model.has(parameter)
        and parameter.name not in ("model", "problem")
        and (verb == "sweep" or parameter.of != "derived")
        and not (parameter.choices and len(model.choices_of(parameter)) < 2)
    ]


def received(model: Any, grid: bool, *words: str) -> dict[str, Any]:
    """What a command made from the table is given for these words."""
    given: dict[str, Any] = {}
    app = typer.Typer()
    app.command()(model_command(lambda _, values: given.update(values), model, grid))
    ended = CliRunner().invoke(app, [*words])
    assert ended.exit_code == 0, ended.output
    return given


@pytest.mark.parametrize(("verb", "model"), COMMANDS, ids=IDS)
def test_every_command_has_the_options_of_its_model(verb: str, model: Any) -> None:
    found = options(verb, model)
    of_data = {"data", "data_dir", "device"} if model.data else {"plot"}
    expected = {*of_table(verb, model), *HOW[verb], *of_data}
    assert found.keys() == expected - ({"plot"} if verb == "sweep" else set())
    assert HAS.get(model.name, set()) <= found.keys()
    assert not (HAS_NOT.get(model.name, set()) | NEVER) & found.keys()
    for name, option in found.items():
        assert option.opts == [f"--{name.replace('_', '-')}"], name
        assert option.help, name


@pytest.mark.parametrize("verb", ["train", "sweep"])
def test_the_list_of_models_is_not_cut(verb: str) -> None:
    said = CliRunner().invoke(cli.build(), [verb, "--help"], terminal_width=80).output
    lines = said.partition("Commands:")[2].strip().splitlines()
    assert [line.split()[0] for line in lines] == [
        *(m.name for m in MODELS.values() if m.what),
        *(["command"] if verb == "sweep" else []),
    ]
    assert not any(line.endswith("...") for line in lines)


def test_the_list_of_theory_is_not_cut() -> None:
    said = CliRunner().invoke(cli.build(), ["theory", "--help"], terminal_width=80).output
    lines = said.partition("Commands:")[2].strip().splitlines()
    assert len(lines) == 4 and all(re.search(r"[^.]{15}\.$", line) for line in lines)


@pytest.mark.parametrize(("verb", "model"), COMMANDS, ids=IDS)
def test_defaults_are_those_of_the_table(verb: str, model: Any) -> None:
    grid = verb == "sweep"
    for name, value in received(model, grid).items():
        if name in ("data", "seeds"):
            assert value == {"data": model.data or "teacher", "seeds": 1}[name]
            continue
        parameter = BY_NAME[name]
        expected = model.default(parameter)
        if grid and name in ("lr", "batch", "temperature"):  # two of them must be given
            expected = None
        if model.data and parameter.of == "problem":  # of the teacher task, one problem of several
            expected = None
        if grid and parameter.grid == "values" and expected is not None:
            expected = [expected]
        assert value == expected, name


@pytest.mark.parametrize(("verb", "model"), COMMANDS, ids=IDS)
def test_values_have_the_types_of_the_table(verb: str, model: Any) -> None:
    texts = {int: "2^3", float: "2^-7", str: "relu"}
    names = [name for name in received(model, verb == "sweep") if name in BY_NAME]
    words = [
        word
        for name in names
        for word in (f"--{name.replace('_', '-')}", texts[BY_NAME[name].type])
    ]
    given = received(model, verb == "sweep", *words)
    for name in names:
        parameter, value = BY_NAME[name], given[name]
        if verb == "sweep" and parameter.grid == "values":
            (value,) = value
        assert type(value) is parameter.type, name
        assert value == {int: 8, float: 2.0**-7, str: "relu"}[parameter.type], name


@pytest.mark.parametrize(("verb", "model"), COMMANDS, ids=IDS)
def test_help_shows_options_in_the_order_of_the_table(verb: str, model: Any) -> None:
    text = CliRunner().invoke(cli.build(), [verb, model.name, "--help"]).output
    flat = " ".join(text.split())
    names = [f" --{name.replace('_', '-')} " for name in of_table(verb, model)]
    table = flat[flat.index("Options:") :]
    places = [table.index(name) for name in names]
    assert places == sorted(places)
    margin = "2^-15" if "width" in model.shape else "2^-7"
    assert f"[default: {margin}]" in flat
    assert "Loss: hinge, quadratic-hinge, smooth-hinge, square or logistic." in flat


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train", "perceptron", "--momentum", "1"), "momentum = 1.0: must be a number from 0 to"),
        (("train", "perceptron", "--max-samples", "0"), "max samples = 0: must be an integer of"),
        (("train", "fc", "--data", "teacher", "--width", "0"), "width = 0: must be an integer"),
        (("train", "fc", "--data", "teacher", "--width", "1.5"), "'1.5' is not a whole number"),
        (("train", "mobilenet", "--depth", "2"), "No such option"),
        (("train", "mobilenet", "--data", "x"), "must be teacher, stripe, sphere, mnist-parity, c"),
        (("train", "vgg11", "--data", "stripe"), "problem = stripe: vgg11 learns images: mnis"),
        (
            ("train", "perceptron", "--data", "stripe"),
            "'stripe': the perceptron learns the teacher",
        ),
        (
            ("sweep", "perceptron", "--data", "a.npz", "--store", "s"),
            "fc and diagonal learn others",
        ),
        (
            ("train", "teacher"),
            "is a problem (--data teacher), not a model; must be perceptron, fc,",
        ),
        (
            ("theory", "scale"),
            "no such command (did you mean scales?); must be averages, constants",
        ),
        (
            ("train", "diagonal", "--data", "stripe"),
            "diagonal is linear in the point and may never",
        ),
        (("train", "fc", "--data", "stripe", "--chi", "1"), "chi = 1.0: stripe has no chi"),
        (("train", "fc", "--data", "sphere", "--direction", "random"), "sphere has no direction"),
        (("train", "diagonal", "--direction", "up"), "direction = 'up': must be axis or random"),
        (("train", "diagonal", "--l1", "-1"), "l1 = -1.0: must be a finite number: 0, or from"),
        (("train", "diagonal", "--depth", "0"), "depth = 0: must be an integer of at least 1"),
        (("train", "cnn", "--width", "0"), "width = 0: must be an integer of at least 1"),
        (("train", "perceptron", "--loss", "square"), "a perceptron may never fit all points"),
        (("train", "perceptron", "--loss", "log"), "loss = 'log': must be hinge, quadratic-hinge"),
        (("train", "perceptron", "--loss", "logistic", "--plot", "a.png"), "--plot: the theory is"),
        (("train", "perceptron", "--l1", "1"), "l1 = 1.0: such a training never ends; give max_t"),
        (("figure", "fig1a", "--workers", "x"), "'--workers': 'x' is not a number such as 0.5"),
        (("figure", "fig1A"), "'fig1A' is not a figure (did you mean fig1a?); there are fig1a, "),
        (("diagnose", "no.py", "--lr", "1", "--batch", "2", "--epochs", "3"), "no.py: cannot be"),
    ],
)
def test_a_value_out_of_range_is_refused_in_one_line(  # type: ignore[no-untyped-def]
    words, said, capsys, monkeypatch
) -> None:
    monkeypatch.setattr("sys.argv", ["sgdphase", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    out, err = capsys.readouterr()
    assert (end.value.code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_a_sweep_of_networks_takes_several_teacher_tasks(tmp_path) -> None:  # type: ignore[no-untyped-def]
    words = "sweep fc --data teacher --dim 8,16 --chi 0,1 --train-size 32 --lr 1 --batch 2"
    store = str(tmp_path / "runs.sqlite")
    ended = CliRunner().invoke(cli.build(), [*words.split(), "--store", store, "--dry-run"])
    assert "4 trainings, 0 done, 4 to run" in ended.output
