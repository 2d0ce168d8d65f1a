"""A table of runs that others made: which columns count, which runs diverged, what is mixed up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgdphase._display import Columns, Shown, span
from sgdphase._typing import FloatArray, IntArray, Mask
from sgdphase.diagram._cells import Plane, choose, plane_from_table
from sgdphase.diagram._column_names import NO_LR, bare, chosen_column, direction, found_column
from sgdphase.diagram._run_files import RunColumns, run_columns
from sgdphase.errors import InputError, listed

# Columns that count how far a run is: of a log with several rows per run the last row counts.
_COUNTERS = ("step", "globalstep", "iteration", "trainerglobalstep", "epoch")
# A value this many times the median of all is that of a run that diverged.
_HUGE = 1e6
# A column with so many values among repeated runs is a setting, not a result.
_FEW = 24
# Statuses of runs that say nothing about their settings.
_UNFINISHED = {"failed", "fail", "pruned", "running", "waiting", "crashed", "killed", "budget"}


@dataclass(frozen=True, eq=False, repr=False)
class RunTable(Shown):
    """Runs by learning rate and batch, returned by `run_table`.

    Attributes
    ----------
    lr, batch, value : ndarray [runs]
        `value` is NaN where a run diverged.
    seed : ndarray [runs]
    metric : str
        Name of the column of `value`.
    maximize : bool
        Whether more of it is better.
    by : mapping
        What all runs have in common, by column.
    notes : tuple of str
        What was left out, and what may be mixed up.
    """

    lr: FloatArray
    batch: FloatArray
    value: FloatArray
    seed: IntArray
    metric: str
    maximize: bool = False
    by: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def worse(self) -> FloatArray:
        """The value, with the sign by which less is better."""
        return -self.value if self.maximize else self.value

    @property
    def name(self) -> str:
        """What the runs have in common, as text."""
        return named_values(self.by)

    def plane(self) -> Plane:
        """The value on the grid of learning rates, batches and seeds, for `phase_diagram`."""
        places = set(zip(self.lr, self.batch, self.seed, strict=True))
        repeated = len(places) < self.lr.size
        seed = _repeats(self.lr, self.batch) if repeated else self.seed
        return plane_from_table(
            {"lr": self.lr, "batch": self.batch, "seed": seed, self.metric: self.value,
             "status": np.where(np.isnan(self.value), "diverged", "fitted")},
            self.metric,
        )  # fmt: skip

    def _lines(self) -> list[str]:
        diverged = int(np.isnan(self.value).sum())
        of = f" of {self.name}" if self.by else ""
        what = f"{self.value.size} runs{of}, {diverged} diverged; more {self.metric} is "
        return [what + ("better" if self.maximize else "worse"), *self.notes]

    def _summary(self) -> Columns:
        axes = {"lr": self.lr, "batch": self.batch, self.metric: self.value}
        spans = [span(np.unique(v[np.isfinite(v)]).tolist() or [""]) for v in axes.values()]
        return {"column": list(axes), "values": spans}

    def _table(self) -> Columns:
        return {"lr": self.lr, "batch": self.batch, "seed": self.seed, self.metric: self.value}


def run_table(source: Any, **options: Any) -> RunTable:
    """Runs that were made elsewhere, as one table; the input of `rule` and `table_equivalents`.

    Parameters
    ----------
    source : path, DataFrame, Optuna study, Store, list of records or dict of columns
        A file ends in .csv, .tsv, .jsonl, .json or .parquet.
    **options
        `lr`, `batch`, `value`, `seed`, `epochs`: names of columns, by default the usual names; an
        empty text is none;
        `maximize`: whether more of the value is better, by default told from its name;
        `where`: values that runs must have, by column.

    Examples
    --------
    >>> runs = {"learning_rate": [0.1, 0.2, 0.4], "bs": [8, 8, 8], "val_loss": [1.0, 0.9, 1e10]}
    >>> run_table(runs)
    3 runs, 1 diverged; more val_loss is worse
    1 of 3 runs counts as diverged: 1 above 1e6 times the median
    column    values
    lr        0.1 to 0.4 (3 values)
    batch     8
    val_loss  0.9 to 1 (2 values)
    """
    tables = run_tables(source, **options)
    if len(tables) > 1:
        names = ", ".join(tables[0].by)
        raise InputError(f"runs differ in {names}: choose some with where, or call run_tables")
    return tables[0]


def run_tables(
    source: Any,
    *,
    lr: str | None = None,
    batch: str | None = None,
    value: str | None = None,
    seed: str | None = None,
    epochs: str | None = None,
    maximize: bool | None = None,
    by: Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
) -> tuple[RunTable, ...]:
    """One table of runs for each combination of the values of the columns `by`.

    Parameters
    ----------
    source, lr, batch, value, seed, epochs, maximize, where
        As in `run_table`. Runs of different `epochs` are never compared.
    by : sequence of str
        Columns that separate runs which are not to be compared, as the size of a model.

    Examples
    --------
    >>> runs = {"lr": [0.1, 0.2], "batch": [8, 8], "loss": [1.0, 0.9], "width": [64, 128]}
    >>> [table.by for table in run_tables(runs, by=["width"])]
    [{'width': 64.0}, {'width': 128.0}]
    """
    by = (by,) if isinstance(by, str) else by
    wanted = {name: str(v) if isinstance(v, bool) else v for name, v in dict(where or {}).items()}
    columns = choose(run_columns(source), wanted)
    result = "value"
    if lr == "":  # steps to a target need none
        result = "steps"
        lr, columns = NO_LR, {**columns, NO_LR: np.ones(len(next(iter(columns.values()))))}
    names = {
        role: chosen_column(result if role == "value" else role, given, columns)
        for role, given in dict(lr=lr, batch=batch, value=value, seed=seed, epochs=epochs).items()
    }
    separate = [found_column(name, columns) for name in by]
    if names["epochs"] and names["epochs"] not in separate:
        separate += [names["epochs"]] if np.unique(columns[names["epochs"]]).size > 1 else []
    columns, left_out = _finished(columns, names)
    columns, earlier = _last_rows(columns, names, separate)
    left_out += earlier
    if len(set(separate)) < len(separate):
        raise InputError(f"by = {', '.join(by)}: names a column twice")
    groups: dict[tuple[Any, ...], list[int]] = {}
    # NaN is not equal to itself: an empty entry is a text here.
    parts = ([v if v == v else "" for v in columns[name].tolist()] for name in separate)
    keys = zip(*parts, strict=True) if separate else None
    for index, key in enumerate(keys or [()] * columns[names["lr"]].size):
        groups.setdefault(key, []).append(index)
    if maximize is None:
        maximize = direction(source, names["value"])
    return tuple(
        _table(
            {name: column[rows] for name, column in columns.items()},
            names,
            dict(zip(separate, key, strict=True)),
            maximize,
            left_out,
        )
        for key, rows in sorted(groups.items(), key=_numbers_first)
    )


def _numbers_first(group: tuple[tuple[Any, ...], Any]) -> list[tuple[bool, Any]]:
    return [(isinstance(value, str), value) for value in group[0]]


def _finished(columns: RunColumns, names: Mapping[str, str]) -> tuple[RunColumns, list[str]]:
    """The runs that ended, with a learning rate and a batch; and what was left out."""
    notes, keep = [], np.ones(columns[names["lr"]].size, dtype=bool)
    for name, column in columns.items():
        if bare(name) in ("status", "state") and column.dtype.kind == "U":
            ended = np.array(
                [text.rpartition(".")[2].lower() not in _UNFINISHED for text in column]
            )
            notes += _left_out(~ended, f"{name} is {listed(sorted({*column[~ended].tolist()}))}")
            keep &= ended
    for role in ("lr", "batch"):
        column = columns[names[role]]
        empty, bad = keep & np.isnan(column), keep & ~(np.isfinite(column) & (column > 0))
        notes += _left_out(empty, f"{names[role]} is empty or no number")
        notes += _left_out(bad & ~empty, f"{names[role]} is not above 0 and finite")
        keep &= ~bad
    if not keep.any():
        raise InputError(f"no run is left: {'; '.join(notes)}")
    lr, batch = (columns[names[role]][keep] for role in ("lr", "batch"))
    if names["lr"] != NO_LR and (batch < 1).any() and (lr >= 1).all() and not np.any(lr % 1):
        notes.append(
            f"{names['batch']} holds {batch.min():g} and {names['lr']} whole numbers: are --lr and "
            "--batch swapped?"
        )
    return {name: column[keep] for name, column in columns.items()}, notes


def _last_rows(
    columns: RunColumns, names: Mapping[str, str], separate: Sequence[str]
) -> tuple[RunColumns, list[str]]:
    """Of a log with a row per step, the last step of each setting."""
    for counter, steps in columns.items():
        if bare(counter) not in _COUNTERS or counter in (*names.values(), *separate):
            continue
        setting = [names[role] for role in ("lr", "batch", "seed") if names[role]] + [*separate]
        places = list(zip(*(columns[name].tolist() for name in setting), strict=True))
        last: dict[Any, Any] = {}
        for place, step in zip(places, steps.tolist(), strict=True):
            last[place] = max(step, last.get(place, step))
        keep = steps == np.array([last[place] for place in places])
        if len(last) <= keep.sum() < keep.size:
            note = _left_out(~keep, f"only the largest {counter} of each lr and batch counts")
            return {name: column[keep] for name, column in columns.items()}, note
    return columns, []


def _left_out(rows: Mask, why: str) -> list[str]:
    count = int(rows.sum())
    return [f"{count} run{'s' * (count > 1)} left out: {why}"] if count else []


def _table(
    columns: RunColumns, names: Mapping[str, str], by: dict[str, Any], maximize: bool,
    notes: Iterable[str],
) -> RunTable:  # fmt: skip
    value = columns[names["value"]].copy()
    diverged = _diverged(value)
    reasons = [f"{int(rows.sum())} {text}" for text, rows in diverged.items() if rows.any()]
    some = []
    if reasons:
        count = sum(int(rows.sum()) for rows in diverged.values())
        verb = "counts" if count == 1 else "count"
        some = [f"{count} of {value.size} runs {verb} as diverged: {', '.join(reasons)}"]
    value[np.any(list(diverged.values()), axis=0)] = np.nan
    lr, batch = columns[names["lr"]], columns[names["batch"]]
    if names["seed"]:
        seed = np.unique(columns[names["seed"]], return_inverse=True)[1]
    else:
        seed = _repeats(lr, batch)
    return RunTable(
        lr, batch, value, seed, names["value"], maximize, by,
        (*notes, *some, *_mixed(columns, names)),
    )  # fmt: skip


def _diverged(value: FloatArray) -> dict[str, Mask]:
    finite = np.isfinite(value)
    size = float(np.median(np.abs(value[finite]))) if finite.any() else 0.0
    with np.errstate(invalid="ignore"):
        huge = finite & (np.abs(value) > _HUGE * size) & (size > 0)
    return {"nan, empty or a word": np.isnan(value), "infinite": np.isinf(value),
            "above 1e6 times the median": huge}  # fmt: skip


def _repeats(lr: FloatArray, batch: FloatArray) -> IntArray:
    """A number for each of the runs of one learning rate and batch."""
    seen: dict[tuple[float, float], int] = {}
    numbers = []
    for place in zip(lr.tolist(), batch.tolist(), strict=True):
        seen[place] = seen.get(place, -1) + 1
        numbers.append(seen[place])
    return np.array(numbers, dtype=np.int64)


def _mixed(columns: RunColumns, names: Mapping[str, str]) -> list[str]:
    """Columns of few values that differ between runs of the same learning rate and batch."""
    lr, batch = columns[names["lr"]], columns[names["batch"]]
    places: dict[tuple[float, float], list[int]] = {}
    for index, place in enumerate(zip(lr.tolist(), batch.tolist(), strict=True)):
        places.setdefault(place, []).append(index)
    repeated = [rows for rows in places.values() if len(rows) > 1]
    several = [
        name
        for name, column in columns.items()
        if name not in names.values()
        and 1 < np.unique(column).size <= _FEW
        and any(np.unique(column[rows]).size > 1 for rows in repeated)
        and _is_setting(column, lr, batch)
    ]
    if not several:
        return []
    first = several[0]
    return [
        f"runs of the same lr and batch differ in {listed(several, 'and')}: separate them with "
        f"--by {first}, or choose some with --where {first}=...{_or_seed(columns, several)}"
    ]


def _or_seed(columns: RunColumns, several: Sequence[str]) -> str:
    """Small whole numbers may be seeds, which are not to be separated."""
    whole = [
        name
        for name in several
        if columns[name].dtype.kind == "f"
        and not np.any(columns[name] % 1)
        and not re.search(r"step|epoch|layer|width|depth|dim|size|warm|head", name.lower())
    ]
    return f"; if {whole[0]} is the seed, say --seed {whole[0]}" if whole else ""


def _is_setting(column: NDArray[Any], lr: FloatArray, batch: FloatArray) -> bool:
    """Whether each value of a column occurs at several places, as that of a result rarely does."""
    places: dict[Any, set[tuple[float, float]]] = {}
    for value, *place in zip(column.tolist(), lr.tolist(), batch.tolist(), strict=True):
        places.setdefault(value, set()).add((place[0], place[1]))
    several = [len(each) > 1 for each in places.values()]
    return len({*zip(lr.tolist(), batch.tolist(), strict=True)}) == 1 or all(several)


def named_values(values: Mapping[str, Any]) -> str:
    """Names and their values, as text.

    >>> named_values({"N": 4e9, "model": "mlp"})
    'N 4000000000, model mlp'
    """
    return ", ".join(f"{name} {_short(value)}" for name, value in values.items())


def _short(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else f"{value:g}" if isinstance(value, float) else str(value)
