"""Where a training stands, and who looks at it."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass
class State:
    """Where a training stands: with the weights and velocities, all that is needed to go on.

    `changed` is the last step that changed a weight, and `active` the last one with an active
    batch, which may have no gradient. `gap` is the mean distance of active batches, `share` the
    mean part of active points in one, and `quiet` the number of steps since a batch had a point
    short of the goal, if weights change at every step. `carry` is the rounding error that the
    weights have yet to take up.
    """

    step: int = 0
    changed: int = 0
    active: int = 0
    gap: float = 1.0
    share: float = 1.0
    quiet: int = 0
    seconds: float = 0.0
    velocity: tuple[Tensor, ...] = ()
    carry: tuple[Tensor, ...] = ()

    @property
    def distance(self) -> float:
        """What to expect of the distance of active batches: none may have come for longer."""
        return max(self.gap, self.step - self.active)


class Watch:
    """Looks at the weights at steps of its choice; this one at none."""

    @property
    def next(self) -> int:
        """The next step it wants to see."""
        return 2**63

    def look(self, step: int) -> None:
        """See the weights as they are after `step` steps, `next` or later."""

    def pause(self, state: State) -> None:
        """Between steps: a moment to save the state."""


class DivergedError(Exception):
    """A margin is not finite."""
