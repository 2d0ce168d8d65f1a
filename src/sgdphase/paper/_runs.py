"""The runs of a figure, narrowed down by parameter and read as curves or along trajectories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sgdphase import theory
from sgdphase._display import Columns, Shown, span
from sgdphase._records import Training
from sgdphase._sweep import Run, Table, table_of
from sgdphase._sweep.table import flat
from sgdphase._typing import FloatArray
from sgdphase.diagram import PhaseDiagram, Plane, phase_diagram, plane_from_table
from sgdphase.stats import logarithms

Trajectory = Mapping[str, FloatArray]
# What is measured of a run: an observable, `time`, `steps`, or a function of the run.
Number = str | Callable[[Run], float]
# Which trainings count.
Where = Callable[[Training], bool]


@dataclass(frozen=True, repr=False)
class Runs(Shown):
    """Runs of one figure, in any order; `seed` is a parameter like the others.

    Attributes
    ----------
    runs : tuple of Run

    Examples
    --------
    >>> from sgdphase import Outcome, Run, grid
    >>> plan = grid(dim=8, lr=[1.0, 2.0], batch=1, seeds=2)
    >>> runs = Runs(tuple(Run(t, Outcome("fitted", 1, t.lr, {"w1": t.lr}), 0.0) for t in plan))
    >>> [values.tolist() for values in runs.curve("lr", "w1")]
    [[1.0, 2.0], [[1.0, 1.0], [2.0, 2.0]]]
    >>> runs.values("lr"), len(runs.where(lr=2.0).runs), runs.only("dim")
    ([1.0, 2.0], 2, 8)
    """

    runs: tuple[Run, ...]

    def _lines(self) -> list[str]:
        return [f"{len(self.runs)} runs of a figure"]

    def _summary(self) -> Columns:
        names = self._parameters[0] if self.runs else ()
        return {"parameter": list(names), "values": [span(self.values(name)) for name in names]}

    def _table(self) -> Columns:
        return self.table()

    @cached_property
    def _parameters(self) -> list[dict[str, Any]]:
        return [flat(run.training) for run in self.runs]

    def where(self, **fixed: Any) -> Runs:
        """Those whose parameters (`train_size`, `chi`, `lr`, ...) have `fixed` values."""
        return self._kept(
            all(own[name] == value for name, value in fixed.items()) for own in self._parameters
        )

    def _kept(self, which: Iterable[bool]) -> Runs:
        """Those for which it is true; they keep their parameters, which take time to make."""
        places = [place for place, keep in enumerate(which) if keep]
        kept = Runs(tuple(self.runs[place] for place in places))
        vars(kept)["_parameters"] = [self._parameters[place] for place in places]
        return kept

    @property
    def models(self) -> set[str]:
        """The models that were trained."""
        return {run.training.model for run in self.runs}

    def values(self, parameter: str) -> list[Any]:
        """The values that a `parameter` takes, in increasing order."""
        return sorted({own[parameter] for own in self._parameters})

    def split(self, parameter: str) -> list[Runs]:
        """The runs of each value of a `parameter`, in increasing order."""
        return [self.where(**{parameter: value}) for value in self.values(parameter)]

    def only(self, parameter: str) -> Any:
        """The value that a `parameter` has in all runs."""
        (value,) = self.values(parameter)
        return value

    def that(self, where: Where | None) -> Runs:
        """Those for whose training `where` is true."""
        return self if where is None else self._kept(where(run.training) for run in self.runs)

    def at(self, **places: int | slice) -> Runs:
        """Those at `places` among the values of parameters: `batch=-1` is the largest batch."""
        chosen: dict[str, Any] = {name: self.values(name)[at] for name, at in places.items()}
        among = {n: v if isinstance(v, list) else [v] for n, v in chosen.items()}
        return self._kept(
            all(own[name] in values for name, values in among.items()) for own in self._parameters
        )

    def curve(self, x: str, y: Number, **fixed: Any) -> tuple[FloatArray, FloatArray]:
        """A number `y`, as `[n, seeds]`, at the values `[n]` of a parameter `x`; NaN if missing.

        Where other parameters than `fixed` vary, it is the geometric mean over them in each seed.
        """
        chosen = self.where(**fixed)
        xs, seeds = chosen.values(x), chosen.values("seed")
        cells: dict[tuple[int, int], list[float]] = {}
        for run, at in zip(chosen.runs, chosen._parameters, strict=True):
            place = xs.index(at[x]), seeds.index(at["seed"])
            cells.setdefault(place, []).append(number(run, y))
        ys = np.full((len(xs), len(seeds)), nan)
        for place, values in cells.items():
            several = len(values) > 1
            ys[place] = np.exp(np.mean(logarithms(values))) if several else values[0]
        return np.array(xs, dtype=np.float64), ys

    def by_seed(self, **fixed: Any) -> list[Run]:
        """The runs with `fixed` parameters, in order of seeds."""
        return sorted(self.where(**fixed).runs, key=lambda run: run.training.seed)

    def trajectories(self, **fixed: Any) -> Sequence[Trajectory]:
        """The trajectory of each run with `fixed` parameters, in order of seeds."""
        return [run.outcome.trajectory for run in self.by_seed(**fixed)]

    def table(self) -> Table:
        """The runs as columns."""
        return table_of(self.runs, self._parameters)

    def plane(self, observable: str = "alignment") -> Plane:
        """An `observable` in the plane of learning rates and batches."""
        return plane_from_table(self.table(), observable=observable)

    @cached_property
    def diagram(self) -> PhaseDiagram:
        """The phase diagram of the alignment; its bootstrap takes seconds."""
        return phase_diagram(self.plane())

    @cached_property
    def with_exact_errors(self) -> Runs:
        """The same runs of perceptrons, with the test error of infinitely many points."""
        runs: list[Run] = []
        for part in self.split("chi"):
            lam = [number(run, "w1") / number(run, "w_perp") for run in part.runs]
            errors = expected_error(np.nan_to_num(lam), part.only("chi"))
            for run, error in zip(part.runs, errors.tolist(), strict=True):
                error = error if run.outcome.status == "fitted" else nan
                runs.append(with_observables(run, {**run.outcome.observables, "test_error": error}))
        return Runs(tuple(runs))

    def fitted(self) -> Runs:
        """The same runs, with NaN for all final numbers of those that did not fit their points.

        A network at a high temperature may diverge, or lose its gradient and run until its budget
        is spent. Neither has an alignment or an error *at zero loss*.
        """
        # A training that diverged may lack numbers that the others have.
        nothing = dict.fromkeys(
            (name for run in self.runs for name in run.outcome.observables), nan
        )
        return Runs(tuple(run if run.outcome.status == "fitted" else with_observables(run, nothing)
                          for run in self.runs))  # fmt: skip


def with_observables(run: Run, observables: Mapping[str, float]) -> Run:
    """The same run with other final numbers."""
    return replace(run, outcome=replace(run.outcome, observables=observables))


def number(run: Run, y: Number) -> float:
    """A number of a run; NaN if it failed."""
    if run.outcome.status == "failed":
        return nan
    if callable(y):
        return y(run)
    return float(getattr(run.outcome, y) if y in ("time", "steps") else run.outcome[y])


def at(time: ArrayLike, along: Trajectory, values: FloatArray) -> FloatArray:
    """Values of a trajectory at other times; constant before its start and after its end."""
    log_t = np.log(np.asarray(time, dtype=np.float64))
    return np.asarray(np.interp(log_t, np.log(along["time"]), values))


def time_grid(runs: Sequence[Run]) -> FloatArray:
    """Times from the first step to the last of any of the runs, four per octave."""
    first = min(float(run.outcome.trajectory["time"][0]) for run in runs)
    last = max(run.outcome.time for run in runs)
    return np.geomspace(first, last, 2 + int(4 * np.log2(last / first)))


def mean_at(
    time: ArrayLike, runs: Sequence[Run], values: Callable[[Trajectory], FloatArray]
) -> FloatArray:
    """Mean over seeds of `values` of a trajectory at these times; NaN where it is not above 0."""
    paths = [run.outcome.trajectory for run in runs]
    average = np.mean([at(time, along, values(along)) for along in paths], axis=0)
    return np.where(average > 0, average, np.nan)


def expected_unfitted(along: Trajectory, chi: float) -> FloatArray:
    """Unfitted fraction of the data distribution: that of a test set of infinite size."""
    return theory.unfitted_fraction(along["lambda"], along["r"], chi)


def expected_error(lam: ArrayLike, chi: float) -> FloatArray:
    """Test error of a student with `lambda = w1/|w_perp|`: the points with `y f <= 0`."""
    angle = np.asarray(lam, dtype=np.float64)
    return theory.unfitted_fraction(angle, 0.0, chi)


def computed_error(run: Run) -> float:
    """Test error of a perceptron at the end, computed from its angle to the teacher; NaN if lost.

    A test set of 32768 points has a handful of errors, or none, where this is known exactly.
    """
    w1, w_perp = run.outcome["w1"], run.outcome["w_perp"]
    if not (np.isfinite(w1) and w_perp > 0):
        return nan
    return float(expected_error(w1 / w_perp, run.training.teacher.chi))


def unfitted_at_crossover(run: Run) -> float:
    """Unfitted fraction of the data distribution at `t_hat`; NaN if the run ends before."""
    along, t_hat = run.outcome.trajectory, run.outcome["crossover_time"]
    if not np.isfinite(t_hat):
        return float("nan")
    return float(at(t_hat, along, expected_unfitted(along, run.training.teacher.chi)))
