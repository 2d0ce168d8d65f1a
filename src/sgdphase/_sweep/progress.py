"""Progress of a running sweep: bars in a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Self, TextIO

from sgdphase._records import STATUSES, Status
from sgdphase._sweep.run import Run
from sgdphase._sweep.tally import Tally
from sgdphase.stats import duration

if TYPE_CHECKING:
    from rich.console import Console

_COLOURS: dict[Status, str] = {
    "fitted": "green",
    "finished": "green",
    "diverged": "yellow",
    "budget": "cyan",
    "failed": "red",
}


class Progress:
    """Shown the tally after each write, with the `(key, run)` pairs that are now in the store.

    This one shows nothing.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def show(self, tally: Tally, runs: Sequence[tuple[str, Run]]) -> None:
        pass


class Lines(Progress):
    """One line at growing intervals, for logs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._started = self._last = monotonic()
        self._waits_for = ""

    def show(self, tally: Tally, runs: Sequence[tuple[str, Run]]) -> None:
        now = monotonic()
        pause = min(max(2.0, 0.1 * (now - self._started)), 60.0)
        if tally.waiting and tally.waiting == self._waits_for:
            pause = 60.0
        if now - self._last >= pause or (runs and not tally.costs):
            self._last, self._waits_for = now, tally.waiting
            print(line_of(tally), file=self._stream, flush=True)


class Bars(Progress):
    """A bar with counts by status, rate and time left."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bars = RichProgress(
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            console=console,
        )
        self._task = self._bars.add_task("")

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def show(self, tally: Tally, runs: Sequence[tuple[str, Run]]) -> None:
        counts = [
            f"[{_COLOURS[status]}]{status} {tally.statuses[status]}[/]"
            for status in STATUSES
            if tally.statuses[status]
        ]
        self._bars.update(
            self._task,
            total=tally.planned,
            completed=tally.done,
            description="  ".join([*counts, *_pace(tally)]),
        )


def progress_on() -> Progress:
    """Bars if standard error is a terminal, lines if not."""
    from rich.console import Console

    console = Console(file=sys.stderr)
    return Bars(console) if console.is_terminal else Lines(sys.stderr)


def line_of(tally: Tally) -> str:
    """How far a sweep is, in one line."""
    parts = [f"{tally.done} of {tally.planned} done", statuses_in_words(tally.statuses)]
    return ", ".join(part for part in [*parts, *_pace(tally)] if part)


def statuses_in_words(counts: dict[str, int]) -> str:
    """Counts by status, such as `fitted 12, failed 1`."""
    return ", ".join(f"{status} {counts[status]}" for status in STATUSES if counts.get(status))


def _pace(tally: Tally) -> list[str]:
    if not tally.costs:
        return []
    if tally.waiting:
        return [tally.waiting]
    left = tally.seconds_left()
    if math.isnan(left):
        return []
    about = "about " if left >= 1 else ""
    return [f"{tally.rate():.3g}/s", f"{about}{duration(left)} left"]
