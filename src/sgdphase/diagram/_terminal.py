"""The map in the terminal: one block per cell, its letter readable without colour."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from sgdphase.diagram._phase import PhaseDiagram
from sgdphase.diagram._regimes import REGIMES
from sgdphase.stats import power_or_digits, shown

# Okabe and Ito's colours, distinct for colour-blind readers, with text that is readable on them.
_LOOK = {
    "noise-dominated": ("N", "black on #E69F00"),
    "first-step-dominated": ("F", "white on #0072B2"),
    "GD": ("G", "black on #56B4E9"),
    "unclear": ("?", "black on #BBBBBB"),
    "diverged": ("x", "white on black"),
    "missing": (".", ""),
}

# A line of text: its parts, each with a style as `rich` writes it.
Parts = list[tuple[str, str]]


def map_lines(d: PhaseDiagram) -> Iterator[Parts]:
    """A phase diagram in lines: the map, a legend, the numbers, and the notes."""
    fixed = ", ".join(
        f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in d.fixed.items()
    )
    seeds = f"{d.seeds} seed{'s' if d.seeds != 1 else ''}"
    yield [(f"{d.observable}, {seeds}" + (f" ({fixed})" if fixed else ""), "bold")]
    yield []
    yield from _map(d)
    yield []
    yield from _numbers(d)
    if d.notes:
        yield []
    for note in d.notes:
        yield [(f"note: {note}", "")]


def plain_lines(diagram: PhaseDiagram) -> list[str]:
    """The same as text without colours, in lines that fit a notebook."""
    lines = ("".join(text for text, _ in parts).rstrip() for parts in map_lines(diagram))
    return [part for line in lines for part in (wrap(line, 100) if len(line) > 100 else [line])]


def _map(d: PhaseDiagram) -> list[Parts]:
    regime = d.grid("regime")
    labels = [power_or_digits(lr) for lr in d.lr]
    width = max(map(len, labels))
    batches = [power_or_digits(b) for b in d.batch]
    cell = max(3, max(map(len, batches)) + 1)
    lines: list[Parts] = [[("lr".rjust(width), "")]]
    for row in reversed(range(d.lr.size)):
        line = [(labels[row].rjust(width) + " ", "")]
        for name in regime[row]:
            letter, style = _LOOK[name]
            line.append((letter.center(cell), style))
        lines.append(line)
    lines.append([(" " * (width + 1) + "".join(b.center(cell) for b in batches) + " batch", "")])
    lines.append([])
    there = [name for name in REGIMES if (regime == name).any()]
    for start in range(0, len(there), 3):
        legend = [(" " * (width + 1), "")]
        for name in there[start : start + 3]:
            letter, style = _LOOK[name]
            legend += [(f" {letter} ", style), (f" {name}  ", "")]
        lines.append(legend)
    return lines


def _numbers(d: PhaseDiagram) -> list[Parts]:
    rows = [
        ("critical batch B*", shown(d.critical_batch)),
        ("critical temperature T_c", shown(d.critical_temperature)),
        ("first-step lr", shown(d.first_step_lr)),
        ("slope of the GD line below B*", shown(d.slopes["below"])),
        ("slope of the GD line above B*", shown(d.slopes["above"])),
    ]
    if d.best is not None:
        b = d.best
        where = f"at lr {power_or_digits(b.lr)}, batch {power_or_digits(b.batch)} ({b.regime})"
        rows.append(("lowest test error", f"{shown(b.test_error)} {where}"))
    width = max(len(name) for name, _ in rows)
    intervals = f"{100 * d.level:g} % intervals in brackets; GD line at m = {d.factor:g} m_GD"
    return [
        *([(f"{name.ljust(width)}  {number}", "")] for name, number in rows),
        [(intervals, "dim")],
    ]
