"""Options that several subcommands share."""

from __future__ import annotations

from typing import Any

import typer

from sgdphase.cli._values import integer, number, numbers


def number_option(flag: str, text: str) -> Any:
    """A number such as `2^-7`."""
    return typer.Option(flag, parser=number, metavar="NUMBER", help=text)


def integer_option(flag: str, text: str) -> Any:
    """A whole number such as `2^13`."""
    return typer.Option(flag, parser=integer, metavar="INTEGER", help=text)


def numbers_option(flag: str, text: str) -> Any:
    """A list or range of numbers; annotate the parameter as `Any`."""
    return typer.Option(flag, parser=numbers, metavar="NUMBERS", help=text)


JSON = typer.Option("--json", help="Print JSON instead of a table.")
