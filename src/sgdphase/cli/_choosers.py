"""Options that choose runs of a store, for the commands that draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from sgdphase.cli._options import integer_option, number_option
from sgdphase.cli._values import number
from sgdphase.errors import InputError

Observable = Annotated[
    str,
    typer.Option(help="What tells the regimes: alignment, w1, weight_change or any column."),
]
TrainSize = Annotated[int | None, integer_option("--train-size", "Runs of this size.")]
Dim = Annotated[int | None, integer_option("--dim", "Runs in this dimension.")]
Chi = Annotated[float | None, number_option("--chi", "Runs with this chi.")]
Margin = Annotated[float | None, number_option("--margin", "Runs with this margin.")]
Where = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Runs with this value of any other parameter."),
]
Factor = Annotated[
    float, number_option("--factor", "The GD line is where m is FACTOR times its GD value.")
]


def chosen(where: Sequence[str] | None, **named: Any) -> dict[str, Any]:
    """The values that runs must have: those `named` by an option of their own, and the others."""
    fixed = {name: value for name, value in named.items() if value is not None}
    for text in where or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise InputError(f"--where {text}: must be NAME=VALUE, such as momentum=0.9")
        if name in ("observable", "table"):
            raise InputError(f"--where {text}: {name} is not a parameter of a run")
        name = name.replace("-", "_")
        if name in fixed:
            raise InputError(f"--where {text}: {name} is chosen already, as {fixed[name]}")
        try:
            fixed[name] = number(value)
        except InputError:  # such as model=fc
            fixed[name] = value
    return fixed
