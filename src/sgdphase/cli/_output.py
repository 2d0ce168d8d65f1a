"""What is printed: tables for people, JSON for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, is_dataclass
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

# Of texts in a pipe or a file, and at most in a terminal.
_COLUMNS = 100


def answer(value: Any, as_json: bool, text: Callable[[], object] = lambda: None) -> None:
    """The answer of a command: one JSON document with `--json`, otherwise what `text` prints.

    In JSON, what is not a finite number is null.
    """
    if as_json:
        print(json.dumps(plain(value), indent=2, allow_nan=False))
    else:
        text()


def plain(value: Any) -> Any:
    """Records, arrays and numpy numbers as what JSON has."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # of numpy, which this module need not load
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    title: str = "",
    words: Sequence[str] = (),
) -> None:
    """A table on stdout: names (the first column) and columns of words left, values right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    for column in columns:
        left = column in (columns[0], *words)
        # In a narrow terminal words wrap; a name or a number is cut last.
        wraps = column in words
        table.add_column(
            column, justify="left" if left else "right", no_wrap=not wraps, overflow="fold"
        )
    for row in rows:
        table.add_row(*(show(item) for item in row))
    # A file or a pipe has no width: nothing is cut there.
    out = console(width=None if sys.stdout.isatty() else 1000)
    if title:
        out.print(title, soft_wrap=True)
    out.print(table)


def text_width() -> int:
    """Columns that lines of text may have: those of the terminal, if it has fewer."""
    return min(get_terminal_size().columns, _COLUMNS) if sys.stdout.isatty() else _COLUMNS


def console(width: int | None = None) -> Console:
    """stdout, for what has a style. If its reader has gone, `main` ends the command, not rich."""
    from rich.console import Console

    def gone() -> None:
        raise BrokenPipeError

    # A name of a user's may read as markup, and is not.
    made = Console(markup=False, emoji=False, highlight=False, width=width)
    made.on_broken_pipe = gone  # type: ignore[method-assign]
    return made


def show(value: Any) -> str:
    """A number with five digits, anything else as it is."""
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.5g}"
    return str(value)
