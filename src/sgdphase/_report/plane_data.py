"""A plane as data of a page: per cell means and scatter over seeds, regimes, boundaries.

`python -m sgdphase._report.plane_data docs/gallery/runs/fig1a.csv.gz` prints the plane that the
package carries (`explorer/fig1a.json`).
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgdphase._typing import FloatArray
from sgdphase.diagram import PhaseDiagram, Plane, phase_diagram, plane_from_table
from sgdphase.diagram._run_files import run_columns
from sgdphase.stats import plain
from sgdphase.stats._bootstrap import finite_mean

DIGITS = 5


def plane_data(plane: Plane, title: str = "", steps: FloatArray | None = None) -> dict[str, Any]:
    """What a page shows of a plane, for JSON: columns over the cells, `batch` varying fastest.

    `value` is the geometric mean over the fitted seeds, `error` the mean test error, `*_sd` are
    standard deviations over seeds. `steps [lr, batch, seed]` are averaged too.
    """
    diagram = phase_diagram(plane)
    value = np.where(plane.value > 0, plane.value, np.nan)
    columns: dict[str, Any] = {
        "value": diagram.grid("value"),
        "valueSd": _scatter(value),
        "error": diagram.grid("test_error"),
        "errorSd": None if plane.test_error is None else _scatter(plane.test_error),
        "steps": None
        if steps is None
        else finite_mean(np.where(plane.status == "fitted", steps, np.nan), -1),
        "confidence": diagram.grid("confidence"),
    }
    return {
        "title": title,
        "setting": {name: plain(item) for name, item in plane.fixed.items()},
        "seeds": diagram.seeds,
        "lr": plane.lr.tolist(),
        "batch": plane.batch.tolist(),
        **{name: _numbers(column) for name, column in columns.items() if column is not None},
        "regime": diagram.grid("regime").ravel().tolist(),
        "fitted": diagram.grid("fitted").ravel().tolist(),
        "runs": (plane.status != "").sum(axis=-1).ravel().tolist(),
        "lines": _lines(diagram),
    }


def table_plane(columns: dict[str, NDArray[Any]], title: str, **fixed: Any) -> dict[str, Any]:
    """The plane of a table of runs, with the number of steps."""
    plane = plane_from_table(columns, **fixed)
    steps = None
    if "steps" in columns:
        steps = plane_from_table(columns, "steps", **fixed).value
    return plane_data(plane, title, steps)


def _scatter(values: FloatArray) -> FloatArray:
    n = np.isfinite(values).sum(axis=-1)
    squares = np.nansum((values - finite_mean(values, -1)[..., None]) ** 2, axis=-1)
    variance = np.divide(squares, n - 1, out=np.full(n.shape, np.nan), where=n > 1)
    return np.asarray(np.sqrt(variance))


def _numbers(column: FloatArray) -> list[float | None]:
    return [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in np.ravel(column)]


def _lines(diagram: PhaseDiagram) -> dict[str, Any]:
    return {
        "criticalBatch": plain(diagram.critical_batch),
        "criticalTemperature": plain(diagram.critical_temperature),
        "firstStepLr": plain(diagram.first_step_lr),
        "gdLine": plain(diagram.gd_line),
    }


if __name__ == "__main__":
    print(json.dumps(table_plane(run_columns(sys.argv[1]), "fig1a"), allow_nan=False))
