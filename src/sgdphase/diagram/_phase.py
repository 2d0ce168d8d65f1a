"""The phase diagram as an object: cells with regimes, boundaries with intervals, and what to run.

A boundary that the data do not hold is None, and a note says which runs would give it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgdphase._display import Columns, Shown
from sgdphase._typing import FloatArray, Names
from sgdphase.diagram._boundaries import LinePoint, branches, critical_batch, gd_line
from sgdphase.diagram._cells import Plane, Source, plane_of
from sgdphase.diagram._notes import boundary_notes, run_notes
from sgdphase.diagram._regimes import CONFIDENCE, Regime, classify
from sgdphase.errors import InputError
from sgdphase.stats import LEVEL, REPLICATES, Estimate, interval, plain, seed_replicates
from sgdphase.stats._bootstrap import finite_mean


@dataclass(frozen=True)
class Cell:
    """A cell of the diagram returned by `phase_diagram`.

    Attributes
    ----------
    lr, batch : float
    regime : str
        "noise-dominated", "first-step-dominated", "GD", "unclear", "diverged" or "missing".
    confidence : float
        Share of bootstrap replicates of the same regime, from 0 to 1.
    value, sem, test_error : float
        Geometric mean of the observable over seeds, its standard error (all the scatter between
        seeds; comparisons between cells are more precise), and the mean test error.
    slope_lr, slope_batch : float
        Slopes of the logarithm of the observable.
    fitted : int; number of seeds that were fitted
    """

    lr: float
    batch: float
    regime: Regime
    confidence: float
    value: float
    sem: float
    test_error: float
    slope_lr: float
    slope_batch: float
    fitted: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("lr", "batch", "regime", "confidence", "value", "sem")
        return {name: plain(getattr(self, name)) for name in names}


@dataclass(frozen=True)
class Best:
    """The cell of lowest test error in the diagram returned by `phase_diagram`.

    Attributes
    ----------
    lr, batch : float; the cell, of those with every seed
    regime : str; of the cell
    test_error : Estimate
    confidence : float
        Share of bootstrap replicates whose lowest cell is of the same regime.
    """

    lr: float
    batch: float
    regime: Regime
    test_error: Estimate
    confidence: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON: `value`, `low` and `high` are the test error."""
        cell = {"lr": self.lr, "batch": self.batch, "regime": self.regime}
        return {**cell, **self.test_error.as_dict(), "confidence": plain(self.confidence)}


@dataclass(frozen=True, repr=False)
class PhaseDiagram(Shown):
    """Regimes and boundaries, returned by `phase_diagram`; `docs/diagram.md` explains each number.

    Attributes
    ----------
    observable : str; of the plane
    fixed : mapping
        Parameters that all runs have in common, by name.
    factor, level : float; as given
    seeds : int; number of seeds
    lr, batch : ndarray; the axes
    cells : tuple of Cell
        Row by row, `batch` varying fastest.
    critical_batch, critical_temperature, first_step_lr : Estimate or None
        None where the runs do not hold the boundary.
    gd_line : tuple of LinePoint
    slopes : mapping of str to Estimate or None
        Of the GD line, `below` and `above` the critical batch.
    best : Best or None
    notes : tuple of str
        What is missing, and which runs would give it.
    """

    observable: str
    fixed: Mapping[str, Any]
    factor: float
    level: float
    seeds: int
    lr: FloatArray
    batch: FloatArray
    cells: tuple[Cell, ...]
    critical_batch: Estimate | None
    gd_line: tuple[LinePoint, ...]
    critical_temperature: Estimate | None
    first_step_lr: Estimate | None
    slopes: Mapping[str, Estimate | None]
    best: Best | None
    notes: tuple[str, ...]

    def grid(self, name: str) -> NDArray[Any]:
        """The field `name` of the cells as an array `[lr, batch]`."""
        column = np.array([getattr(cell, name) for cell in self.cells])
        return column.reshape(self.lr.size, self.batch.size)

    def _lines(self) -> list[str]:
        from sgdphase.diagram._terminal import plain_lines  # which draws a diagram

        return plain_lines(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    def _table(self) -> Columns:
        """One row per cell."""
        names = [field.name for field in fields(Cell)]
        return {name: [getattr(cell, name) for cell in self.cells] for name in names}

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; None where the data give no number."""
        # Each cell has its lr and its batch.
        return {n: plain(value) for n, value in vars(self).items() if n not in ("lr", "batch")}


def phase_diagram(
    runs: Source,
    observable: str | None = None,
    *,
    factor: float = 2.0,
    level: float = LEVEL,
    confidence: float = CONFIDENCE,
    replicates: int = REPLICATES,
    seed: int = 0,
    **fixed: Any,
) -> PhaseDiagram:
    """Regimes and boundaries of an observable `m` in the plane of learning rates and batches.

    - `gd_line`: `lr_c(batch)`, where `m` is `factor` times its GD value
    - `critical_batch`: `B*`, where the power laws of `m/lr` cross
    - `critical_temperature`: `lr_c/batch` over the batches up to `B*/2`
    - `first_step_lr`: `lr_c` over the batches from `2 B*`
    - `slopes`: of `log lr_c` in `log batch`, `below` and `above` `B*` in the same way

    Without `B*` the whole line counts as one branch, if only one of the two regimes is present.

    Parameters
    ----------
    runs : Store, Summary, mapping of columns, DataFrame, Dataset or Plane
        A store, what `sweep` returned, or a table as `plane_from_table` takes it.
    observable : str, default "alignment", or the observable of a `Plane`
    factor : float, default 2; above 1
    level : float, default 0.9; coverage of the intervals
    confidence : float, default 0.8
        A cell is `unclear` if fewer of its replicates, from 0 to 1, have the same regime.
    replicates : int, default 1000; number of bootstrap replicates
    seed : int, default 0; of the bootstrap
    **fixed
        Values that select runs, as `train_size=8192, chi=1.0`.

    Examples
    --------
    >>> import tempfile
    >>> from sgdphase import grid, sweep
    >>> plan = grid(dim=8, train_size=32, lr=[0.5, 1.0], batch=[1, 8])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(phase_diagram(sweep(plan, f"{folder}/runs.sqlite", workers=0)).cells)
    4
    >>> lr, batch, scatter = 2.0 ** np.arange(-9, 3), 2.0 ** np.arange(9), np.array([0.9, 1, 1.1])
    >>> m = np.maximum(1, np.maximum(64 / batch, 4) * lr[:, None])[..., None] * scatter
    >>> plane = Plane("alignment", lr, batch, np.arange(3), m, np.full(m.shape, "fitted"))
    >>> diagram = phase_diagram(plane)
    >>> round(diagram.critical_batch.value, 2), round(1 / diagram.critical_temperature.value, 2)
    (16.0, 32.0)
    """
    if not 1 < factor < np.inf:
        raise InputError(f"factor = {factor}: must be a number above 1, as 2 or 1.3")
    plane = plane_of(runs, observable, **fixed)
    regimes = classify(plane, replicates=replicates, confidence=confidence, seed=seed)
    rng = np.random.default_rng([seed, 1])
    b_star = critical_batch(plane, regimes.regime, level, rng, replicates)
    line = gd_line(plane, regimes.regime, factor, rng, replicates)
    below, above = branches(line, b_star, regimes.regime, level, rng)
    best = _best(plane, regimes.regime, level, rng, replicates)

    log_value = plane.log_value
    n = np.isfinite(log_value).sum(axis=-1)
    mean = finite_mean(log_value, axis=-1)
    squares = finite_mean((log_value - mean[..., None]) ** 2, axis=-1)
    spread = np.sqrt(np.divide(squares, n - 1, out=np.full(mean.shape, np.nan), where=n > 1))
    value, sem = 2.0**mean, 2.0**mean * np.log(2) * spread
    errors = np.full(log_value.shape, np.nan) if plane.test_error is None else plane.test_error
    error = finite_mean(errors, axis=-1)
    slopes = regimes.slope_lr, regimes.slope_batch
    columns = (regimes.confidence, value, sem, error, *slopes, n)
    cells = tuple(
        Cell(float(lr), float(batch), str(regimes.regime[i, j]), *(c[i, j].item() for c in columns))  # type: ignore[arg-type]
        for i, lr in enumerate(plane.lr)
        for j, batch in enumerate(plane.batch)
    )
    return PhaseDiagram(
        observable=plane.observable,
        factor=factor,
        level=level,
        seeds=int(plane.seed.size),
        lr=plane.lr,
        batch=plane.batch,
        cells=cells,
        critical_batch=b_star,
        gd_line=() if line is None else line.points(level),
        critical_temperature=below.level if below else None,
        first_step_lr=above.level if above else None,
        slopes={"below": below.slope if below else None, "above": above.slope if above else None},
        best=best,
        fixed=plane.fixed,
        notes=(
            *run_notes(plane),
            *boundary_notes(plane, regimes.regime, line, b_star, below, above),
        ),
    )


def _best(
    plane: Plane,
    regime: Names,
    level: float,
    rng: np.random.Generator,
    replicates: int,
) -> Best | None:
    """The cell of lowest mean test error; only cells with equally many seeds are compared."""
    if plane.test_error is None:
        return None
    seeds = np.isfinite(plane.test_error).sum(axis=-1)
    if not seeds.any():
        return None
    full = np.argwhere(seeds == seeds.max())
    errors = plane.test_error[full[:, 0], full[:, 1]]
    mean = finite_mean(errors, axis=-1)
    copies = seed_replicates(errors, rng, replicates)
    lowest = int(mean.argmin())
    i, j = full[lowest]
    names = regime[full[:, 0], full[:, 1]]
    share = np.nan
    if np.isfinite(copies).all():
        share = float(np.mean(names[copies.argmin(axis=1)] == names[lowest]))
    return Best(
        lr=float(plane.lr[i]),
        batch=float(plane.batch[j]),
        regime=str(regime[i, j]),  # type: ignore[arg-type]
        # An error is not below 0, whatever its noise.
        test_error=interval(float(mean[lowest]), np.maximum(copies[:, lowest], 0.0), level),
        confidence=share,
    )
