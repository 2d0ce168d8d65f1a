"""Every public function and class documents its arguments or fields, with an example.

The examples themselves are run by pytest as doctests of the modules.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any

import pytest

ROOMS = ("", ".stats", ".theory", ".problems", ".perceptron", ".networks", ".diagram", ".paper")
MORE = {
    "_sweep": ("DaskWorkers", "Plan", "Run", "Store", "Summary", "grid", "sweep", "train"),
    "_sweep.exports": ("export",),
}


def public() -> dict[str, Any]:
    """Every public function and class by its full name."""
    pytest.importorskip("torch")
    named = [("sgdphase" + room, None) for room in ROOMS]
    named += [(f"sgdphase.{room}", names) for room, names in MORE.items()]
    every = {}
    for module_name, names in named:
        module = importlib.import_module(module_name)
        for name in names or module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value) or inspect.isclass(value):
                every[f"{value.__module__}.{value.__qualname__}"] = value
    return every


PUBLIC = public()
NAMES = {name.rpartition(".")[2] for name in PUBLIC}


def sections(doc: str) -> dict[str, str]:
    """The sections of a numpydoc text: a title underlined with dashes, and what follows."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", doc, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented(*bodies: str) -> set[str]:
    """The names of entries `a, b : type`, which stand at the start of a line."""
    heads = [
        line.split(":")[0] for body in bodies for line in body.splitlines() if line[:1].strip()
    ]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def arguments(function: Any) -> set[str]:
    return set(inspect.signature(function).parameters) - {"self", "cls"}


def expected(thing: Any) -> set[str]:
    """Arguments of a function or of a class, fields of a dataclass."""
    if is_dataclass(thing):
        return {field.name for field in fields(thing) if not field.name.startswith("_")}
    if inspect.isclass(thing):
        first = next(each for each in thing.__mro__ if "__init__" in vars(each))
        is_own = first.__module__.startswith("sgdphase") and not getattr(
            thing, "_is_protocol", False
        )
        return arguments(thing.__init__) if is_own else set()
    return arguments(thing)


def methods(cls: type) -> Iterator[tuple[str, Any]]:
    for name, value in vars(cls).items():
        if isinstance(value, property):
            value = value.fget
        elif isinstance(value, cached_property):
            value = value.func
        value = getattr(value, "__func__", value)
        if not name.startswith("_") and inspect.isfunction(value):
            yield name, value


@pytest.mark.parametrize("name", PUBLIC)
def test_arguments_and_fields_are_documented(name: str) -> None:
    thing = PUBLIC[name]
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        assert thing.__doc__
        return
    parts = sections(inspect.getdoc(thing) or "")
    assert documented(parts.get("Parameters", ""), parts.get("Attributes", "")) == expected(thing)


@pytest.mark.parametrize("name", PUBLIC)
def test_there_is_an_example(name: str) -> None:
    thing = PUBLIC[name]
    doc = inspect.getdoc(thing) or ""
    if inspect.isclass(thing):
        # What a function returns is seen in the example of that function.
        maker = re.search(r"[Rr]eturned by `+(\w+)`+", doc)
        if issubclass(thing, BaseException) or (maker and maker[1] in NAMES):
            return
    elif not arguments(thing):
        return
    assert ">>> " in sections(doc).get("Examples", "")


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isclass(PUBLIC[name])])
def test_methods_are_documented(name: str) -> None:
    for method, function in methods(PUBLIC[name]):
        assert inspect.getdoc(getattr(PUBLIC[name], method)), method
        # One that overrides another may leave the text to it.
        missing = [a for a in arguments(function) if f"`{a}`" not in (function.__doc__ or f"`{a}`")]
        assert not missing, f"{method}: {missing}"
