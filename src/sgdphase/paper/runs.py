"""The runs of a figure, narrowed down by parameter and read as curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from sgdphase._sweep import Run, Table, table_of
from sgdphase._sweep.table import flat
from sgdphase._typing import FloatArray
from sgdphase.diagram import PhaseDiagram, Plane, phase_diagram, plane_from_table

Trajectory = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Runs:
    """Runs of one figure, in any order; `seed` is a parameter like the others."""

    runs: tuple[Run, ...]

    @cached_property
    def _parameters(self) -> list[dict[str, Any]]:
        return [flat(run.training) for run in self.runs]

    def where(self, **fixed: Any) -> Runs:
        """Those whose parameters (`train_size`, `chi`, `lr`, ...) have these values."""
        return Runs(
            tuple(
                run
                for run, own in zip(self.runs, self._parameters, strict=True)
                if all(own[name] == value for name, value in fixed.items())
            )
        )

    def values(self, parameter: str) -> list[Any]:
        """The values that a parameter takes, in increasing order."""
        return sorted({own[parameter] for own in self._parameters})

    def split(self, parameter: str) -> list[Runs]:
        """The runs of each value of a parameter, in increasing order."""
        return [self.where(**{parameter: value}) for value in self.values(parameter)]

    def only(self, parameter: str) -> Any:
        """The value that a parameter has in all runs."""
        (value,) = self.values(parameter)
        return value

    def curve(
        self, x: str, y: str | Callable[[Run], float], **fixed: Any
    ) -> tuple[FloatArray, FloatArray]:
        """`y [n, seeds]` at the values `x [n]` of a parameter; NaN where a run has none.

        `y` is an observable, `time`, `steps`, or a function of a run.
        """
        chosen = self.where(**fixed)
        xs, seeds = chosen.values(x), chosen.values("seed")
        ys = np.full((len(xs), len(seeds)), nan)
        for run, at in zip(chosen.runs, chosen._parameters, strict=True):
            if run.outcome.status == "failed":
                continue
            place = xs.index(at[x]), seeds.index(at["seed"])
            if callable(y):
                ys[place] = y(run)
            else:
                ys[place] = getattr(run.outcome, y) if y in ("time", "steps") else run.outcome[y]
        return np.array(xs, dtype=np.float64), ys

    def by_seed(self, **fixed: Any) -> list[Run]:
        """The runs with these parameters, in order of seeds."""
        return sorted(self.where(**fixed).runs, key=lambda run: run.training.seed)

    def trajectories(self, **fixed: Any) -> Sequence[Trajectory]:
        """The trajectory of each run, in order of seeds."""
        return [run.outcome.trajectory for run in self.by_seed(**fixed)]

    def table(self) -> Table:
        """The runs as columns."""
        return table_of(self.runs)

    def plane(self, observable: str = "alignment") -> Plane:
        """An observable in the plane of learning rates and batches."""
        return plane_from_table(self.table(), observable=observable)

    @cached_property
    def diagram(self) -> PhaseDiagram:
        """The phase diagram of the alignment; its bootstrap takes seconds."""
        return phase_diagram(self.plane())

    def fitted(self) -> Runs:
        """The same runs, with NaN for all final numbers of those that did not fit their points.

        A network at a high temperature may diverge, or lose its gradient and run until its budget
        is spent. Neither has an alignment or an error *at zero loss*.
        """
        # A training that diverged may lack numbers that the others have.
        nothing = dict.fromkeys(
            (name for run in self.runs for name in run.outcome.observables), nan
        )
        return Runs(
            tuple(
                run
                if run.outcome.status == "fitted"
                else replace(run, outcome=replace(run.outcome, observables=nothing))
                for run in self.runs
            )
        )
