"""The plane of runs: one observable on the grid of learning rates, batches and seeds.

Nothing here knows what was trained. A run is a row of a table: its `lr`, `batch`, `seed` and
`status`, other parameters, and observables. Only a fitted run has a value: a training that was cut
off by its budget has not reached the point at which regimes are defined, unless nothing else can
end it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sgdphase._display import Columns, Shown, span
from sgdphase._models import MODELS
from sgdphase._parameters import PARAMETERS
from sgdphase._typing import FloatArray, IntArray, Mask, Names
from sgdphase.errors import InputError, one_line

# Parameters that make another experiment: runs that differ in one of them never share a plane.
# `digest` is that of a user's data.
EXPERIMENT = ("digest", *(parameter.name for parameter in PARAMETERS if parameter.experiment))
AXES = ("lr", "batch", "seed")


@dataclass(frozen=True, repr=False)
class Plane(Shown):
    """An observable on the grid of learning rates, batches and seeds.

    Attributes
    ----------
    observable : str; its name
    lr, batch, seed : ndarray
        The axes, increasing; `lr` and `batch` above 0.
    value : ndarray [lr, batch, seed]; NaN where no run was fitted
    status : ndarray [lr, batch, seed] of str
        Status of each run; empty where there is none.
    test_error : ndarray [lr, batch, seed] or None (the runs have none)
    fixed : mapping
        Parameters that all runs have in common, by name.

    Examples
    --------
    >>> value = np.array([[[1.0], [2.0]]])
    >>> plane = Plane("alignment", np.array([0.5]), np.array([1.0, 2.0]), np.array([0]), value,
    ...               np.full(value.shape, "fitted"))
    >>> plane.log_value.tolist()
    [[[0.0], [1.0]]]
    """

    observable: str
    lr: FloatArray
    batch: FloatArray
    seed: IntArray
    value: FloatArray
    status: Names
    test_error: FloatArray | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = (self.lr.size, self.batch.size, self.seed.size)
        arrays = {"value": self.value, "status": self.status}
        if self.test_error is not None:
            arrays["test_error"] = self.test_error
        for name, array in arrays.items():
            if array.shape != shape:
                raise InputError(f"{name} has shape {array.shape}: must be {shape}")

    def _lines(self) -> list[str]:
        fitted, runs = (self.status == "fitted").sum(), (self.status != "").sum()
        return [f"Plane of {self.observable}: {fitted} of {runs} runs fitted"]

    def _summary(self) -> Columns:
        axes = {"lr": self.lr.tolist(), "batch": self.batch.tolist(), "seed": self.seed.tolist()}
        values = axes | {name: [value] for name, value in self.fixed.items()}
        return {"parameter": list(values), "values": [span(each) for each in values.values()]}

    def _table(self) -> Columns:
        """One row per run."""
        there = self.status != ""
        i, j, k = np.nonzero(there)
        table: dict[str, Any] = {"lr": self.lr[i], "batch": self.batch[j], "seed": self.seed[k]}
        table |= {"status": self.status[there], self.observable: self.value[there]}
        return table if self.test_error is None else {**table, "test_error": self.test_error[there]}

    @property
    def log_value(self) -> FloatArray:
        """`log2` of the observable; NaN where it is not positive."""
        out = np.full(self.value.shape, np.nan)
        np.log2(self.value, out=out, where=self.value > 0)
        return out


class HasTable(Protocol):
    """What has a table of runs, as a store and the summary of a sweep have."""

    def table(self) -> Mapping[str, Any]: ...


# All that a plane is made from; a DataFrame and a Dataset have columns by name too.
Source = Plane | HasTable | Mapping[str, Any]


def plane_of(source: Source, observable: str | None = None, **fixed: Any) -> Plane:
    """The plane of whatever holds runs; a plane is returned as it is."""
    if isinstance(source, Plane):
        if observable is not None or fixed:
            raise InputError("a plane has its observable and its runs: choose where it is made")
        return source
    if isinstance(source, str | Path):
        raise InputError(
            f"{source}: is a path; open the store there, as sgdphase.Store('{source}')"
        )
    if hasattr(source, "data_vars"):
        return plane_from_dataset(source, observable or "alignment", **fixed)
    table = getattr(source, "table", None)
    columns: Any = table() if callable(table) else source
    return plane_from_table(columns, observable or "alignment", **fixed)


def check_observable(columns: Mapping[str, NDArray[Any]], observable: str) -> None:
    """Raise `InputError` unless a table has what a plane of this observable needs."""
    for name in (*AXES, "status", observable):
        if name not in columns:
            other = " (name another as observable)" if name == "alignment" else ""
            raise InputError(f"no column {name}{other}: the runs have {_listed(sorted(columns))}")
    if columns[observable].dtype.kind not in "biuf":
        raise InputError(f"column {observable}: holds texts; an observable is a number")


def plane_from_table(
    table: Mapping[str, Any], observable: str = "alignment", **fixed: Any
) -> Plane:
    """The plane of an observable, from a table of runs.

    Parameters
    ----------
    table : mapping of str to array_like
        Columns of equal length, one entry per run: `lr`, `batch`, `seed`, `status`, observables,
        and other parameters.
    observable : str, default "alignment"; a column
    **fixed
        Values that select runs, as `train_size=8192, chi=1.0`. If several experiments are left,
        the error lists the values to choose from.

    Examples
    --------
    >>> runs = dict(lr=[1.0, 2.0], batch=[1, 1], seed=[0, 0], status=["fitted", "fitted"],
    ...             alignment=[0.5, 1.0], train_size=[8, 16])
    >>> plane_from_table(runs)
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: several experiments among the runs: choose train_size from 8, 16
    >>> plane_from_table(runs, train_size=16).value.tolist()
    [[[1.0]]]
    """
    if not hasattr(table, "items"):
        raise InputError(f"runs = {one_line(table)}: must be a store, or a table with its columns")
    columns = {name: np.asarray(column) for name, column in table.items()}
    if not columns or all(column.size == 0 for column in columns.values()):
        raise InputError("no runs to draw a diagram from: sweep learning rates and batches first")
    check_observable(columns, observable)
    columns = choose(columns, fixed)
    common = _common(columns)

    lr, row = np.unique(_rounded(columns["lr"]), return_inverse=True)
    batch, column = np.unique(_rounded(columns["batch"]), return_inverse=True)
    seed, layer = np.unique(columns["seed"].astype(np.int64), return_inverse=True)
    at = (row, column, layer)
    shape = (lr.size, batch.size, seed.size)
    _refuse_repeats(columns, np.ravel_multi_index(at, shape))

    status = np.full(shape, "", dtype="U8")
    status[at] = columns["status"].astype("U8")
    ended = np.isin(status, ["fitted", "budget"] if _budget_ends(common) else ["fitted"])
    return Plane(
        observable=observable,
        lr=lr,
        batch=batch,
        seed=seed,
        value=_on_grid(columns[observable], at, ended),
        status=status,
        test_error=_on_grid(columns["test_error"], at, ended) if "test_error" in columns else None,
        fixed=common,
    )


def plane_from_dataset(dataset: Any, observable: str = "alignment", **fixed: Any) -> Plane:
    """The plane of an observable, from an xarray Dataset.

    Without a variable `status`, a run is fitted where its observable is finite.

    Parameters
    ----------
    dataset : xarray.Dataset
        Its dimensions are parameters, `lr` and `batch` among them.
    observable : str, default "alignment"; a variable
    **fixed
        Values that select runs, as in `plane_from_table`.

    Examples
    --------
    >>> import xarray
    >>> data = xarray.Dataset({"alignment": (("lr", "batch"), [[1.0, 2.0]])},
    ...                       {"lr": [0.5], "batch": [1, 2]})
    >>> plane_from_dataset(data).value.ravel().tolist()
    [1.0, 2.0]
    """
    if observable not in dataset.data_vars:
        raise InputError(f"no variable {observable}: there are {_listed(dataset.data_vars)}")
    main = dataset[observable]
    coords = [np.asarray(main.coords[name].values) for name in main.dims]
    mesh = np.meshgrid(*coords, indexing="ij")
    table: dict[str, Any] = {str(n): m.ravel() for n, m in zip(main.dims, mesh, strict=True)}
    for name, scalar in main.coords.items():
        if name not in table and scalar.ndim == 0:
            table[str(name)] = np.full(main.size, scalar.values[()])
    for name, variable in dataset.data_vars.items():
        if set(variable.dims) == set(main.dims):
            table[str(name)] = np.asarray(variable.transpose(*main.dims).values).ravel()
    if "status" not in table:
        finite = np.isfinite(table[observable].astype(np.float64))
        table["status"] = np.where(finite, "fitted", "")
    table.setdefault("seed", np.zeros(main.size, dtype=np.int64))
    ran = table["status"].astype("U8") != ""
    return plane_from_table({n: c[ran] for n, c in table.items()}, observable, **fixed)


def choose(columns: dict[str, NDArray[Any]], fixed: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """The rows that have these values; a name or a value that no run has is an error."""
    for name, wanted in fixed.items():
        if wanted is None:
            continue
        if name not in columns:
            raise InputError(f"{name}: no such parameter; the runs have {_listed(sorted(columns))}")
        keep = np.array([_same(value, wanted) for value in columns[name]], dtype=bool)
        if not keep.any():
            raise InputError(f"{name} = {wanted}: the runs have {_listed(_values(columns[name]))}")
        columns = {n: c[keep] for n, c in columns.items()}
    return columns


def _common(columns: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """What all runs share; several values of a parameter of the experiment are an error."""
    values = {name: _values(columns[name]) for name in EXPERIMENT if name in columns}
    several = {name: v for name, v in values.items() if len(v) > 1}
    if several:
        # Of a perceptron and a network: the model, rather than what only one of them has.
        shared = {name: v for name, v in several.items() if not {None, ""} & {*v}} or several
        choices = [f"{name} from {_listed(v)}" for name, v in shared.items()]
        raise InputError(f"several experiments among the runs: choose {'; '.join(choices)}")
    # Of a parameter that only other runs of the table have, there is no value.
    return {name: v[0] for name, v in values.items() if v[0] not in (None, "")}


def _refuse_repeats(columns: dict[str, NDArray[Any]], place: IntArray) -> None:
    order = np.argsort(place, kind="stable")
    first = place[order]
    repeated = np.flatnonzero(first[1:] == first[:-1])
    if repeated.size == 0:
        return
    pairs = [(order[i], order[i + 1]) for i in repeated]
    choices = []
    for name, column in columns.items():
        # Observables differ between any two runs; a parameter takes few values.
        few = len(_values(column)) <= max(8, len(column) // 8)
        if name != "status" and few and all(not _same(column[i], column[j]) for i, j in pairs):
            choices.append(f"{name} from {_listed(_values(column))}")
    raise InputError(
        f"{len(pairs)} runs repeat the lr, batch and seed of another: "
        f"choose {'; '.join(choices) or 'fewer of them'}"
    )


def _budget_ends(common: Mapping[str, Any]) -> bool:
    """Whether the budget is the end of these trainings; of runs from elsewhere it is not known."""
    model = MODELS.get(common.get("model") or "")
    given = common.get("loss") or "", common.get("weight_decay") or 0.0, common.get("l1") or 0.0
    return model is not None and model.budget_ends(*given)


def _on_grid(column: NDArray[Any], at: tuple[Any, ...], ended: Mask) -> FloatArray:
    out = np.full(ended.shape, np.nan)
    out[at] = np.array([np.nan if v is None else v for v in column], dtype=np.float64)
    out[~ended] = np.nan
    return out


def _rounded(column: NDArray[Any]) -> FloatArray:
    """Positive numbers to 12 digits, so that `T x batch` and `lr` fall on one grid line."""
    values = column.astype(np.float64)
    if not np.all(values > 0):
        raise InputError(f"lr or batch = {values.min():g}: must be above 0")
    distinct, where = np.unique(values, return_inverse=True)
    return np.array([float(f"{v:.12g}") for v in distinct])[where]


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, str) or isinstance(wanted, str) or value is None or wanted is None:
        return bool(value == wanted)
    return bool(np.isclose(value, wanted, rtol=1e-9, atol=0, equal_nan=True))


def _values(column: NDArray[Any]) -> list[Any]:
    distinct: dict[Any, None] = {}
    for value in column.tolist():
        distinct[None if value != value else value] = None
    return sorted(
        distinct, key=lambda v: (isinstance(v, str), v is not None, 0 if v is None else v)
    )


def _listed(values: Any) -> str:
    """A comma-separated list for a message, cut when it is long."""
    values = ["nothing" if v is None or v == "" else v for v in values]
    texts = [f"{v:g}" if isinstance(v, float) else str(v) for v in values]
    return ", ".join(texts[:24]) + (f" and {len(texts) - 24} more" if len(texts) > 24 else "")
