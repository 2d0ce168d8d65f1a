"""The runs of a figure as small tables: all that its picture and its verdicts are made from.

`NAME.csv.gz` has a row per run: its parameters, status, steps, time, seconds and final observables.
Its first line is a comment with the provenance. `NAME.trajectories.csv.gz`, if the figure draws
trajectories, has a row per point; `run` counts the rows of the first table from 0.

Final observables have 9 digits, trajectories 5: a figure is drawn and decided from what is written
here, so that who reads the tables sees the same numbers.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, get_args

import numpy as np

from sgdphase._parameters import BY_NAME
from sgdphase._records import Outcome, Status, Training
from sgdphase._sweep import Run
from sgdphase._sweep.table import RESULTS, flat
from sgdphase._typing import FloatArray
from sgdphase.errors import InputError
from sgdphase.paper._runs import Runs
from sgdphase.problems import problem_class

_FINAL, _IN_TIME = "%.9g", "%.5g"
_RUNS, _TRAJECTORIES = ".csv.gz", ".trajectories.csv.gz"


def write_tables(
    folder: Path, name: str, runs: Runs, provenance: Mapping[str, Any], in_time: Sequence[str] = ()
) -> None:
    """Write the tables of figure `name`, with these observables `in_time`."""
    folder.mkdir(parents=True, exist_ok=True)
    parameters = [flat(run.training) for run in runs.runs]
    chosen = list(dict.fromkeys(key for row in parameters for key in row))
    observed = list(dict.fromkeys(key for run in runs.runs for key in run.outcome.observables))
    rows = [
        [
            *(_text(row.get(key)) for key in chosen),
            run.outcome.status,
            run.outcome.steps,
            repr(run.outcome.time),
            f"{run.seconds:.3g}",
            *(_number(_FINAL, run.outcome.observables.get(key)) for key in observed),
        ]
        for run, row in zip(runs.runs, parameters, strict=True)
    ]
    head = f"# {json.dumps(provenance)}\n"
    _write(folder / f"{name}{_RUNS}", head, [*chosen, *RESULTS, *observed], rows)
    if in_time:
        _write(folder / f"{name}{_TRAJECTORIES}", "", ["run", *in_time], _points(runs, in_time))


def read_tables(
    folder: Path, name: str, in_time: Sequence[str] = ()
) -> tuple[Runs, dict[str, Any]]:
    """The runs of figure `name` and their provenance, as `write_tables` wrote them.

    With columns `in_time`, there must be a table of trajectories.
    """
    path = folder / f"{name}{_RUNS}"
    head, _, text = _read(path).partition("\n")
    try:
        provenance = json.loads(head.removeprefix("#"))
        second = folder / f"{name}{_TRAJECTORIES}"
        paths = _trajectories(second) if in_time or second.exists() else {}
        rows = csv.DictReader(io.StringIO(text))
        runs = tuple(_run(row, paths.get(place, {})) for place, row in enumerate(rows))
    except InputError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"'{path}': is not a table of runs ({error})") from None
    return Runs(runs), provenance


def digest(folder: Path, name: str) -> str:
    """A hash of the tables of figure `name`."""
    content = hashlib.sha256(_read(folder / f"{name}{_RUNS}").encode())
    second = folder / f"{name}{_TRAJECTORIES}"
    if second.exists():
        content.update(_read(second).encode())
    return content.hexdigest()[:16]


def _points(runs: Runs, names: Sequence[str]) -> Iterable[Sequence[Any]]:
    for place, run in enumerate(runs.runs):
        columns = [run.outcome.trajectory.get(key) for key in names]
        for values in zip(*(c for c in columns if c is not None), strict=True):
            numbers = iter(values)
            row = (None if c is None else next(numbers) for c in columns)
            yield [place, *(_number(_IN_TIME, value) for value in row)]


def _trajectories(path: Path) -> dict[int, dict[str, FloatArray]]:
    """Of each run that has one."""
    names, *rows = csv.reader(io.StringIO(_read(path)))
    result = {}
    for place, points in groupby(rows, key=itemgetter(0)):
        columns = zip(*points, strict=True)
        result[int(place)] = {
            key: np.array(column, dtype=np.float64)
            for key, column in zip(names, columns, strict=True)
            if key != "run" and column[0]
        }
    return result


def _run(row: Mapping[str, str], trajectory: Mapping[str, FloatArray]) -> Run:
    values = {key: _value(text) for key, text in row.items() if text != ""}
    kind = values.pop("problem")
    own = {each.name for each in fields(problem_class(kind)) if each.name in values}
    problem = {key: values.pop(key) for key in own}
    status, steps, time, seconds = (values.pop(key) for key in RESULTS)
    if status not in get_args(Status):
        raise ValueError(f"status {status}")
    given = {key: values.pop(key) for key in list(values) if key in BY_NAME}
    del given["temperature"]
    limits = {key for key, value in given.items() if BY_NAME[key].budget and value == math.inf}
    parameters = {key: value for key, value in given.items() if key not in limits}
    training = Training.from_dict(parameters | {"problem": problem | {"kind": kind}})
    observables = {key: float(value) for key, value in values.items()}
    outcome = Outcome(status, steps, float(time), observables, trajectory)
    return Run(training, outcome, float(seconds))


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _number(form: str, value: float | None) -> str:
    return "" if value is None else form % value


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _write(path: Path, head: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    text = io.StringIO(newline="")
    text.write(head)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    # No time stamp: the same runs give the same file.
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def _read(path: Path) -> str:
    try:
        return gzip.decompress(path.read_bytes()).decode()
    except FileNotFoundError:
        raise InputError(f"'{path}': does not exist") from None
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"'{path}': cannot be read ({error})") from None
