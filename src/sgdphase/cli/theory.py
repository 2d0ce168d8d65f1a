"""`sgdphase theory`: what the paper predicts, without any run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sgdphase._parameters import BY_NAME, shown
from sgdphase.cli._options import JSON, number_option, numbers_option, parameter_option
from sgdphase.cli._output import answer, plain, print_table
from sgdphase.cli._stop import Commands

Chi = Annotated[float, parameter_option("chi")]
Dim = Annotated[int, parameter_option("dim")]
Margin = Annotated[float, parameter_option("margin")]
# As text, so that `--help` shows a power of two.
MARGIN: Any = shown(BY_NAME["margin"].default)


def register(app: typer.Typer, line: str) -> None:
    group = typer.Typer(cls=Commands, help=line, no_args_is_help=True, rich_markup_mode=None)
    for command in (averages_command, constants_command, online_command, scales_command):
        group.command(command.__name__.removesuffix("_command"))(command)
    app.add_typer(group, name="theory")


def averages_command(
    chi: Chi = 1.0,
    lam: Annotated[float, number_option("--lam", "lambda = w1 / |w_perp|.")] = 1.0,
    r: Annotated[float, number_option("--r", "r = margin sqrt(d) / |w_perp|.")] = 0.0,
    json: Annotated[bool, JSON] = False,
) -> None:
    """Averages over the data, without 1/sqrt(d) and 1/d.

    Example: sgdphase theory averages --chi 1 --lam 10 --r 0.1
    """
    from sgdphase.theory import averages

    _print_record(averages(lam, r, chi), json)


def constants_command(chi: Chi = 1.0, json: Annotated[bool, JSON] = False) -> None:
    """Asymptotic constants, and the exponents gamma and b.

    Example: sgdphase theory constants --chi 1
    """
    from sgdphase.theory import constants

    _print_record(constants(chi), json)


def online_command(
    time: Annotated[Any, numbers_option("--time", "Times: a list 1,10,100 or 2^0..2^20.")],
    temperature: Annotated[float, parameter_option("temperature", "T = lr / batch.")] = 1.0,
    chi: Chi = 1.0,
    dim: Dim = 128,
    margin: Margin = MARGIN,
    weight_decay: Annotated[float, parameter_option("weight_decay", "Weight decay.")] = 0.0,
    json: Annotated[bool, JSON] = False,
) -> None:
    """The online dynamics from w = 0, without noise.

    Example: sgdphase theory online --chi 1 --dim 128 --margin 2^-7 --temperature 2 --time 1,1e3,1e6
    """
    import numpy as np

    from sgdphase.theory import online

    solution = online(
        np.array(time),
        chi=chi,
        dim=dim,
        margin=margin,
        temperature=temperature,
        weight_decay=weight_decay,
    )
    names = ["time", "w1", "w_perp", "unfitted", "lam", "r"]
    columns = [getattr(solution, name).tolist() for name in names]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    answer(rows, json, lambda: print_table(names, [list(row.values()) for row in rows]))


def scales_command(
    train_size: Annotated[int, parameter_option("train_size")] = 8192,
    dim: Dim = 128,
    chi: Chi = 1.0,
    margin: Margin = MARGIN,
    lr: Annotated[float | None, parameter_option("lr", "Learning rate (with --batch).")] = None,
    batch: Annotated[int | None, parameter_option("batch", "Batch size (with --lr).")] = None,
    json: Annotated[bool, JSON] = False,
) -> None:
    """Where the regimes meet, from the theory alone.

    Without --lr and --batch, times and weights are per unit of temperature.

    Example: sgdphase theory scales --train-size 8192 --dim 128 --chi 1 --margin 2^-7
    """
    from sgdphase.theory import scales

    record = scales(train_size=train_size, dim=dim, chi=chi, margin=margin, lr=lr, batch=batch)
    _print_record(record, json)


def _print_record(record: Any, json: bool) -> None:
    answer(record, json, lambda: print_table(["name", "value"], plain(record).items()))
