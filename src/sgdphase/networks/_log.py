"""Observables in time, at steps 1, 2, 4, ..."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from sgdphase._typing import FloatArray
from sgdphase.networks._fitting import Fitting, outputs
from sgdphase.networks._observables import alignment, error, scores, unfitted, weight_change

COLUMNS = ("step", "alignment", "test_error", "weight_change")
# Cost a pass over the training set: only for a trajectory.
MORE_COLUMNS = ("unfitted", "train_error")

# Each look costs a pass over the test set; a factor of two keeps them few.
_FACTOR = 2


@dataclass
class Log:
    """Rows of numbers about the training points `train` and the test points `test`."""

    train: Fitting
    test: Fitting
    start: Sequence[Tensor]
    short: float
    trajectory: bool
    rows: list[list[float]] = field(default_factory=list)

    @property
    def next(self) -> int:
        return int(self.rows[-1][0]) * _FACTOR if self.rows else 1

    def look(self, step: int) -> None:
        """A row for every step that was due up to `step`: the weights were the same in between."""
        values = self._values()
        while self.next <= step:
            self.rows.append([self.next, *values])

    def finish(self, steps: int) -> bool:
        """Add the row of the last step that changed a weight, if the test outputs are finite."""
        kept = [row for row in self.rows if row[0] < steps]
        last = [steps, *self._values()]
        finite = math.isfinite(last[1])
        self.rows = [*kept, last] if finite else self.rows
        return finite

    def _values(self) -> list[float]:
        z = self.test.margins()
        values = [
            alignment(self._scores(z)),
            error(z),
            weight_change(self.train.module, self.start),
        ]
        if self.trajectory:
            z = self.train.margins()
            values += [unfitted(z, self.short), error(z)]
        return values

    def _scores(self, margins: Tensor) -> Tensor:
        """Of the test points: with one output they are the margins."""
        test = self.test
        if test.at_start.ndim == 1:
            return margins
        # The margins have just set the statistics of normalisation, if there are any.
        return scores(outputs(test.module, test.x) - test.at_start, test.y)

    def column(self, name: str) -> list[float]:
        place = self.names.index(name)
        return [row[place] for row in self.rows]

    @property
    def names(self) -> tuple[str, ...]:
        return COLUMNS + MORE_COLUMNS if self.trajectory else COLUMNS

    def arrays(self, lr: float) -> dict[str, FloatArray]:
        """The trajectory: one array per name, with `time = lr x step`."""
        columns = {name: np.array(self.column(name), dtype=np.float64) for name in self.names}
        return {"step": columns.pop("step"), "time": lr * np.array(self.column("step")), **columns}


def copies(parameters: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The weights as they are now."""
    return tuple(torch.clone(p.detach()) for p in parameters)
