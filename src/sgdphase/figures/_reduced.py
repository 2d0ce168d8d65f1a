"""A network's setting in words: what a picture shows, and what was reduced for it."""

from __future__ import annotations

from collections.abc import Callable

from sgdphase.diagram.notes import power_of_two
from sgdphase.figures._frame import Scale
from sgdphase.figures._networks import Setting

_EVERY = {2: "second", 4: "fourth"}


def title(setting: Setting) -> str:
    """One line over a picture.

    >>> from sgdphase.figures._networks import fc
    >>> title(fc("paper"))
    'P = 32768, width 128, margin $2^{-15}$, 5 seeds'
    """
    margin = power_of_two(setting.margin).replace("2^", "2^{") + "}"
    return (
        f"P = {setting.train_size}, width {setting.width}, "
        f"margin {f'${margin}$' if setting.margin != 1 else 1}, {setting.seeds} seeds"
    )


def reductions(of: Callable[[Scale], Setting], scale: Scale = "laptop") -> str:
    """How the plane at a scale differs from the paper's, in a sentence."""
    here, paper = of(scale), of("paper")
    parts = []
    for text, name in (
        ("P = {}", "train_size"),
        ("width {}", "width"),
        ("{} seeds", "seeds"),
        ("{} test points", "test_size"),
    ):
        mine, theirs = getattr(here, name), getattr(paper, name)
        if mine != theirs:
            parts.append(f"{text.format(mine)} instead of {theirs}")
    for text, name in (("eta", "rates"), ("B", "batches")):
        mine, theirs = getattr(here, name), getattr(paper, name)
        if mine != theirs:
            parts.append(f"{text} = {_range(mine)} instead of {_range(theirs)}")
    if here.step != paper.step:
        parts.append(f"every {_EVERY[here.step]} power of two")
    if here.max_samples is not None:
        parts.append(f"at most {power_of_two(here.max_samples)} points seen by a training")
    if here.coldest > 0:
        limits = f"T < {power_of_two(here.coldest)} and eta < {power_of_two(here.slowest)}"
        parts.append(f"without the cells of {limits}")
    return f"At {scale} scale: {', '.join(parts)}. {here.remark}".strip()


def _range(exponents: tuple[int, int]) -> str:
    return "2^{}..2^{}".format(*exponents)
