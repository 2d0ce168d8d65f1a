"""All figures by name, in the order of the paper; ours (figX) last."""

from __future__ import annotations

from collections.abc import Iterable

from sgdphase.errors import InputError
from sgdphase.paper import (
    fig1a,
    fig1b,
    fig1c,
    fig2,
    fig3,
    fig4a,
    fig4b,
    figS1a,
    figS1b,
    figS2a,
    figS2b,
    figS3a,
    figS3b,
    figS4a,
    figS4b,
    figS5,
    figS6,
    figS7a,
    figS7b,
    figS8a,
    figS8b,
    figS9a,
    figS9b,
    figS10a,
    figS10b,
    figS11a,
    figS11b,
    figX1,
    figX2,
    theory,
)
from sgdphase.paper._frame import Figure

_IN_ORDER = (
    fig1a.FIGURE,
    fig1a.FIGURE_CHI0,
    fig1b.FIGURE,
    fig1b.FIGURE_FULL,
    fig1c.FIGURE,
    fig2.FIGURE,
    fig3.FIGURE,
    fig3.FIGURE_INSET,
    fig4a.FIGURE,
    fig4b.FIGURE,
    figS1a.FIGURE,
    figS1b.FIGURE,
    figS2a.FIGURE,
    figS2b.FIGURE,
    figS3a.FIGURE,
    figS3b.FIGURE,
    figS4a.FIGURE,
    figS4b.FIGURE,
    *figS5.FIGURES,
    *figS6.FIGURES,
    figS7a.FIGURE,
    figS7b.FIGURE,
    figS8a.FIGURE,
    figS8b.FIGURE,
    figS9a.FIGURE,
    figS9b.FIGURE,
    figS10a.FIGURE,
    figS10b.FIGURE,
    figS11a.FIGURE,
    figS11b.FIGURE,
    theory.FIGURE,
    figX1.FIGURE,
    figX2.FIGURE,
)
FIGURES: dict[str, Figure] = {figure.name: figure for figure in _IN_ORDER}


def chosen(names: Iterable[str]) -> list[Figure]:
    """The figures of these names; `all` is all of them."""
    wanted = list(names)
    if "all" in wanted:
        return list(FIGURES.values())
    for name in wanted:
        if name not in FIGURES:
            raise InputError(f"'{name}' is not a figure; there are {', '.join(FIGURES)}, and all")
    return [FIGURES[name] for name in wanted]
