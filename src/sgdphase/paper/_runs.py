"""The runs of a figure, as its file asks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sgdphase._sweep import Run, Table, table_of
from sgdphase._sweep.table import flat
from sgdphase._typing import FloatArray


@dataclass(frozen=True)
class Runs:
    """Runs that can be narrowed down by parameter and read as curves."""

    runs: tuple[Run, ...]

    @cached_property
    def _parameters(self) -> list[dict[str, Any]]:
        return [flat(run) for run in self.runs]

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

    def curve(self, x: str, y: str, **fixed: Any) -> tuple[FloatArray, FloatArray]:
        """`y [n, seeds]` at the values `x [n]` of a parameter; NaN where a run has none."""
        chosen = self.where(**fixed)
        xs, seeds = chosen.values(x), chosen.values("seed")
        ys = np.full((len(xs), len(seeds)), np.nan)
        for run, at in zip(chosen.runs, chosen._parameters, strict=True):
            numbers = {"steps": run.outcome.steps, "time": run.outcome.time} | dict(
                run.outcome.observables
            )
            value = numbers[y] if run.outcome.status != "failed" else np.nan
            ys[xs.index(at[x]), seeds.index(at["seed"])] = value
        return np.array(xs, dtype=np.float64), ys

    def trajectories(self, **fixed: Any) -> Sequence[Mapping[str, FloatArray]]:
        """The trajectory of each run, in order of seeds."""
        chosen = self.where(**fixed).runs
        return [run.outcome.trajectory for run in sorted(chosen, key=lambda run: run.training.seed)]

    def table(self) -> Table:
        """The runs as columns."""
        return table_of(self.runs)
