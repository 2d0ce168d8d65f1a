"""What a picture shows in words: its setting, and what its plan left out of the paper's."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sgdphase._records import Training
from sgdphase.paper.settings import Setting
from sgdphase.stats import power_of_two, power_of_two_tex

# What the line names, in this order.
_NAMES: dict[str, Callable[[Training], Any]] = {
    "P": lambda training: training.train_size,
    "d": lambda training: getattr(training.problem, "dim", None),
    "width": lambda training: training.width,
    "eta": lambda training: training.lr,
    "B": lambda training: training.batch,
    "seeds": lambda training: training.seed,
    "test points": lambda training: training.test_size,
}


def left_out(plan: Sequence[Training], paper: Sequence[Training]) -> str:
    """What a plan and that of the paper's setting differ in."""
    parts = []
    for name, value in _NAMES.items():
        own, full = (_shown(name, map(value, trainings)) for trainings in (plan, paper))
        if own != full:
            parts.append(f"{name} {own} (paper scale {full})")
    return "; ".join(parts) or "at paper scale"


def write_left_out(figure: Any, plan: Sequence[Training], paper: Sequence[Training]) -> None:
    """The line, folded to the width of the picture."""
    letters = int(19 * figure.get_size_inches()[0])
    lines = textwrap.wrap(left_out(plan, paper), letters)
    figure.supxlabel("\n".join(lines), fontsize=7, color="0.4")


def _shown(name: str, values: Iterable[Any]) -> str:
    found = sorted({value for value in values if value is not None})
    if name == "seeds":
        return str(len(found))
    ends = found if len(found) < 2 else [found[0], found[-1]]
    return " to ".join(f"{end:g}" if 1 <= end < 256 else power_of_two(end) for end in ends)


def title(setting: Setting) -> str:
    """One line over a picture.

    >>> from sgdphase.paper.settings import fc
    >>> title(fc("paper"))
    'P = 32768, width 128, margin $2^{-15}$, 5 seeds'
    """
    margin = "1" if setting.margin == 1 else f"${power_of_two_tex(setting.margin)}$"
    return (
        f"P = {setting.train_size}, width {setting.width}, margin {margin}, "
        f"{setting.seeds} seed{'s' if setting.seeds > 1 else ''}"
    )


def omissions(setting: Setting) -> str:
    """What a reduced plane leaves out, in a sentence or two."""
    parts = []
    if setting.coldest > 0:
        cold, slow = power_of_two(setting.coldest), power_of_two(setting.slowest)
        parts.append(f"The cells of T < {cold} and eta < {slow} are left out.")
    if setting.max_samples is not None:
        parts.append(f"A training sees at most {power_of_two(setting.max_samples)} points.")
    return " ".join([*parts, setting.remark]).strip()
