"""Options that several subcommands share, and those made from the table of parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any

import typer

from sgdphase._models import MODELS, Model
from sgdphase._parameters import BY_NAME, PARAMETERS, REQUIRED, Parameter, shown
from sgdphase.cli._stop import Commands
from sgdphase.cli._values import for_option, integer, integers, number, numbers
from sgdphase.errors import InputError, listed
from sgdphase.problems._problem import IMAGES, NAMED

JSON = typer.Option("--json", help="Print one JSON document instead of text.")
StoreFile = Annotated[Path, typer.Argument(help="The store, such as runs.sqlite.")]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", help="Folder with the images; by default SGDPHASE_DATA, else the cache."
    ),
]
Device = Annotated[
    str | None, typer.Option("--device", help="Where torch computes: cpu, cuda, mps, ...")
]
Dask = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster at ADDRESS.")
]

# Two of them are given to a sweep, and the third follows.
_PLANE = ("lr", "batch", "temperature")
_SEVERAL = {int: integers, float: numbers}


def number_option(flag: str, text: str) -> Any:
    return typer.Option(flag, parser=for_option(number), metavar="NUMBER", help=text)


def integer_option(flag: str, text: str) -> Any:
    return typer.Option(flag, parser=for_option(integer), metavar="INTEGER", help=text)


WorkerCount = Annotated[
    int | None, integer_option("--workers", "Processes; by default one per core, 0 for none.")
]
# Of a command.
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME=WHERE",
        help="Where the command writes a number: val_loss=json:FILE:KEY (FILE in the run's own "
        "folder; KEY is NAME if left out), jsonl:FILE:KEY (last line with it) or stdout:REGEX "
        "(last match). Again for more; the first is the main one.",
    ),
]
Depends = Annotated[
    str,
    typer.Option(
        metavar="FILES",
        help="Files and folders, as model.py,conf/, besides those that the command names: if "
        "their content changes, runs are made again.",
    ),
]
Shell = Annotated[
    bool,
    typer.Option("--shell", help="Let a shell read the command; write files as {start}/train.py."),
]
Timeout = Annotated[
    str | None, typer.Option(metavar="TIME", help="A run that takes longer has failed: 90s, 10m.")
]
Gpus = Annotated[
    str,
    typer.Option(
        metavar="LIST",
        help="GPUs, as 0,1: each run sees one (CUDA_VISIBLE_DEVICES); by default one run per GPU.",
    ),
]
Slots = Annotated[
    int | None,
    typer.Option(
        "--slots",
        "--workers",
        parser=for_option(integer),
        metavar="INTEGER",
        help="Runs at a time, each in a process; by default one per core or GPU, 0 for none.",
    ),
]


def parts(text: str) -> list[str]:
    """A list as `0,1`.

    >>> parts("train.py, conf/"), parts("")
    (['train.py', 'conf/'], [])
    """
    return [part.strip() for part in text.split(",") if part.strip()]


def numbers_option(flag: str, text: str) -> Any:
    """A list or range of numbers; annotate the parameter as `Any`."""
    return typer.Option(flag, parser=for_option(numbers), metavar="NUMBERS", help=text)


def parameter_option(
    name: str, text: str = "", *, choices: Collection[str] = (), default: str = ""
) -> Any:
    """The option of a parameter in the table, with one value.

    `text` is its help, if the table's does not do; `choices` are its values, if they are fewer;
    `default` says what happens where it is not given.
    """
    parameter = BY_NAME[name]
    flag = f"--{parameter.argument.replace('_', '-')}"
    text = text or parameter.help
    if parameter.choices:
        text = f"{text}: {listed(choices or parameter.choices)}."
    if default:
        text = f"{text.rstrip('.')}; by default {default}."
    if parameter.type is str:
        return typer.Option(flag, metavar="NAME", help=text)
    return (integer_option if parameter.type is int else number_option)(flag, text)


class _Models(Commands):
    """A command for each model."""

    def other(self, name: str) -> str:
        if name in NAMED:
            return f"is a problem (--data {name}), not a model"
        return super().other(name)


def register_models(
    app: typer.Typer,
    name: str,
    line: str,
    run: Callable[..., None],
    text: Callable[[Model], str],
    *,
    grid: bool,
) -> typer.Typer:
    """Attach a command with a subcommand per model: `run(model, given, **others)`.

    Options are the parameters of the model, from the table, which come as `given`; with `grid` they
    take several values. The keyword arguments of `run` are the other options. `line` is the help of
    the command, `text` that of a subcommand.
    """
    group = typer.Typer(cls=_Models, help=line, no_args_is_help=True, rich_markup_mode=None)
    for model in MODELS.values():
        if model.what:
            short = f"{model.what[0].upper()}{model.what[1:]}."
            command = group.command(model.name, help=text(model), short_help=short)
            command(model_command(run, model, grid))
    app.add_typer(group, name=name)
    return group


def model_command(run: Callable[..., None], model: Model, grid: bool) -> Callable[..., None]:
    """The function of a subcommand, with its options as arguments."""
    # A plot is over the theory, which is of the teacher task; data are of the other models.
    without = ("plot",) if model.data else ("data_dir", "device")
    others = [
        option
        for option in inspect.signature(run, eval_str=True).parameters.values()
        if option.kind is option.KEYWORD_ONLY and option.name not in without
    ]
    ours = [_option(model, each, grid) for each in PARAMETERS if _is_option(model, each, grid)]

    def command(**values: Any) -> None:
        given = {option.name: values.pop(option.name) for option in ours}
        run(model, given, **values)

    required = [option for option in others if option.default is option.empty]
    optional = [option for option in others if option.default is not option.empty]
    command.__signature__ = inspect.Signature([*required, *ours, *optional])  # type: ignore[attr-defined]
    return command


def _is_option(model: Model, parameter: Parameter, grid: bool) -> bool:
    if parameter.name == "model":  # the subcommand
        return False
    if parameter.name == "problem":  # a command of the user has its own
        return bool(model.what)
    if parameter.of == "derived":
        return grid
    alone = parameter.choices and len(model.choices_of(parameter)) == 1
    return parameter.grid is not None and model.has(parameter) and not alone


def _option(model: Model, parameter: Parameter, grid: bool) -> inspect.Parameter:
    """An option as an argument, with the type that it has in the record."""
    kind: Any
    name, default, kind = parameter.name, model.default(parameter), parameter.type
    text = model.help.get(name, parameter.help)
    if name == "problem" and not model.data:
        # Not in its help, but who gives it is told why.
        option = typer.Option("--data", parser=for_option(_teacher), hidden=True)
        return _argument("data", Annotated[str, option], "teacher")
    if name == "problem":
        names = ", ".join(IMAGES if model.images else NAMED)
        option = typer.Option(
            "--data", metavar="NAME|FILE", help=f"{names}, or an .npz file with x and y."
        )
        return _argument("data", Annotated[str, option], model.data)
    if name == "seed":  # how many of them
        return _argument("seeds", Annotated[int, parameter_option(name)], 1)
    if model.data and parameter.of == "problem":
        text = f"Of data that have it: {text[0].lower()}{text[1:].rstrip('.')}"
        if kind is str:
            option = parameter_option(name, text, default=default)
            return _argument(name, Annotated[str | None, option], None)
        text, default = f"{text}; by default {default:g}.", None
    if kind is str:
        option = parameter_option(name, choices=model.choices_of(parameter))
        return _argument(name, Annotated[str, option], default)
    in_python = model.shape.get(name, parameter.default)
    if name in model.defaults and in_python is not REQUIRED:
        text = f"{text.rstrip('.')} (in Python: {shown(in_python)})."
    if grid and name in _PLANE:
        default = None
    default = None if default is None else shown(default)
    if grid and parameter.grid == "values":
        flag = f"--{name.replace('_', '-')}"
        option = typer.Option(flag, parser=for_option(_SEVERAL[kind]), metavar="RANGE", help=text)
        return _argument(name, Annotated[Any, option], default)
    kind = kind if default is not None else kind | None
    return _argument(name, Annotated[kind, parameter_option(name, text)], default)


def _teacher(data: str) -> str:
    """The only problem of the perceptron."""
    if data != "teacher":
        others = [model.name for model in MODELS.values() if model.data and not model.images]
        raise InputError(
            f"'{data}': the perceptron learns the teacher task only; {listed(others, 'and')} learn "
            "others"
        )
    return data


def _argument(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )
