"""All figures by name, in the order of the paper."""

from __future__ import annotations

from collections.abc import Iterable

from sgdphase.errors import InputError
from sgdphase.figures import fig1a
from sgdphase.figures._frame import Figure

FIGURES: dict[str, Figure] = {module.FIGURE.name: module.FIGURE for module in (fig1a,)}


def chosen(names: Iterable[str]) -> list[Figure]:
    """The figures of these names; `all` is all of them."""
    wanted = list(names)
    if wanted == ["all"]:
        return list(FIGURES.values())
    for name in wanted:
        if name not in FIGURES:
            raise InputError(f"'{name}' is not a figure; there are {', '.join(FIGURES)}, and all")
    return [FIGURES[name] for name in wanted]
