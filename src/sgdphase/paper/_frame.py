"""What a figure is: what to run at each scale, how to draw it, which claims it decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sgdphase._records import Training
from sgdphase.paper._claims import Claim
from sgdphase.paper._runs import Runs

Scale = Literal["quick", "laptop", "paper"]
SCALES: tuple[Scale, ...] = get_args(Scale)


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, or one of ours (`figX1`).

    `plan(scale)` are its trainings, `draw(runs, scale)` gives a matplotlib figure, and
    `claims(runs, scale)` the lines it adds to the ledger. A `remark` says what a reader of the
    verdicts should know, such as what was changed after a first run.
    """

    name: str
    shows: str
    plan: Callable[[Scale], Sequence[Training]]
    draw: Callable[[Runs, Scale], Any]
    claims: Callable[[Runs, Scale], list[Claim]]
    trajectories: bool = False
    remark: str = ""
