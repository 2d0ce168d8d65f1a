"""A store as a file for other programs: CSV, Parquet, netCDF."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from sgdphase._extras import extra
from sgdphase._records import Outcome
from sgdphase._sweep.run import Run
from sgdphase._sweep.store import Store
from sgdphase._sweep.table import RESULTS, flat, table_of
from sgdphase.errors import InputError, check_output

_LARGEST_GRID = 20_000_000


def export(
    store: Store | str | Path,
    path: str | Path,
    *,
    model: str | None = None,
    trajectories: bool = False,
) -> list[Path]:
    """Write the runs of a store to a file for other programs; returns the paths written.

    `.csv` has one row per run, and with `trajectories` a second file `.trajectories.csv` with one
    row per point; `.parquet` has one row per run and each trajectory as a list; `.nc` has
    the parameters that take more than one value as its dimensions.

    Parameters
    ----------
    store : Store, str or Path
    path : str or Path
        Its ending names the format: .csv, .parquet or .nc.
    model : str, default all models; write its runs only
    trajectories : bool, default False
        Whether to write observables in time too.

    Examples
    --------
    >>> import tempfile
    >>> from sgdphase import grid, sweep
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan, store = grid(dim=8, train_size=32, lr=1.0, batch=[1, 2]), f"{folder}/runs.sqlite"
    ...     [written] = export(sweep(plan, store, workers=0).store, f"{folder}/runs.csv")
    ...     len(written.read_text().splitlines())
    3
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise InputError(f"'{path}': must end in {', '.join(FORMATS)}")
    check_output(path)
    store = store if isinstance(store, Store) else Store(store)
    runs = store.runs(model, trajectories=trajectories)
    if not runs:
        chosen = "" if model is None else f" of model '{model}'"
        raise InputError(f"{store.path}: holds no runs{chosen}")
    if trajectories and not _observed(runs):
        raise InputError(f"{store.path}: holds no trajectories; sweep with trajectories first")
    try:
        return FORMATS[path.suffix](runs, path, trajectories)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None


def _netcdf(runs: Sequence[Run], path: Path, trajectories: bool) -> list[Path]:
    """A Dataset whose dimensions are the parameters that take more than one value.

    The others are scalar coordinates. Cells that were not run are nan, with status `missing`.
    Trajectories are variables `trajectory_<name>` with a last dimension `point`, ended by nan.
    """
    xarray, _ = extra("xarray", "export"), extra("netCDF4", "export")
    table = table_of(runs)
    parameters = dict.fromkeys(name for run in runs for name in flat(run.training))
    distinct = {name: np.unique(table[name]) for name in parameters}
    # Of lr, batch and temperature the pair that spans the least.
    pairs = combinations(("lr", "batch", "temperature"), 2)
    kept = min(pairs, key=lambda pair: len(distinct[pair[0]]) * len(distinct[pair[1]]))
    (dropped,) = {"lr", "batch", "temperature"} - {*kept}
    axes = {n: axis for n, axis in distinct.items() if len(axis) > 1 and n != dropped}
    constants = {name: axis[0] for name, axis in distinct.items() if len(axis) == 1}
    dims, shape = list(axes), tuple(len(axis) for axis in axes.values())
    if math.prod(shape) > _LARGEST_GRID:
        raise InputError(
            f"the runs span a grid of {' x '.join(map(str, shape))} cells ({', '.join(dims)}); "
            "export them as .csv or .parquet"
        )
    place = tuple(np.searchsorted(axis, table[name]) for name, axis in axes.items())
    variables: dict[str, Any] = {}
    for name in [*RESULTS, *(name for name in table if name not in (*distinct, *RESULTS))]:
        column = table[name]
        texts = column.dtype.kind == "U"
        cells = np.full(shape, "missing" if texts else math.nan, object if texts else float)
        cells[place] = column
        variables[name] = (dims, cells)
    longest = max(_length(run.outcome) for run in runs)
    for name in _observed(runs):
        cells = np.full((*shape, longest), math.nan)
        for index, run in enumerate(runs):
            column = run.outcome.trajectory.get(name, np.empty(0))
            cells[(*(axis[index] for axis in place), slice(0, len(column)))] = column
        variables[f"trajectory_{name}"] = ([*dims, "point"], cells)
    dataset = xarray.Dataset(variables, coords={**axes, **constants})
    dataset.to_netcdf(path, engine="netcdf4")
    return [path]


def _csv(runs: Sequence[Run], path: Path, trajectories: bool) -> list[Path]:
    columns = _columns(runs)
    write_csv(path, list(columns), zip(*columns.values(), strict=True))
    if not trajectories:
        return [path]
    second = path.with_suffix(".trajectories.csv")
    names = _observed(runs)
    rows = (
        (run.training.key, number, *values)
        for run in runs
        for number, values in enumerate(points(run.outcome, names))
    )
    write_csv(second, ["key", "point", *names], rows)
    return [path, second]


def _columns(runs: Sequence[Run]) -> dict[str, Any]:
    """The table of runs between their keys and their tracebacks."""
    table = {name: column.tolist() for name, column in table_of(runs).items()}
    keys, traces = [run.training.key for run in runs], [run.traceback for run in runs]
    return {"key": keys, **table, "traceback": traces}


def _observed(runs: Sequence[Run]) -> list[str]:
    """What the trajectories hold; nothing if the runs were read without them."""
    return list(dict.fromkeys(name for run in runs for name in run.outcome.trajectory))


def _length(outcome: Outcome) -> int:
    return max(map(len, outcome.trajectory.values()), default=0)


def points(outcome: Outcome, names: Sequence[str]) -> Any:
    """The points of a trajectory, with nan for what it does not hold."""
    absent = np.full(_length(outcome), math.nan)
    columns = (outcome.trajectory.get(name, absent).tolist() for name in names)
    return zip(*columns, strict=True)


def write_csv(path: Path, names: Sequence[str], rows: Any) -> None:
    """A file with a row of names, and the rows."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def _parquet(runs: Sequence[Run], path: Path, trajectories: bool) -> list[Path]:
    arrow, parquet = extra("pyarrow", "export"), extra("pyarrow.parquet", "export")
    columns = _columns(runs)
    for name in _observed(runs):
        lists = [run.outcome.trajectory.get(name) for run in runs]
        columns[f"trajectory_{name}"] = arrow.array(lists, arrow.list_(arrow.float64()))
    parquet.write_table(arrow.table(columns), path)
    return [path]


FORMATS: dict[str, Callable[[Sequence[Run], Path, bool], list[Path]]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".nc": _netcdf,
}
