"""Rows of the store and the runs they hold: the only way in, and the only way out.

A store may come from anybody. A checksum shows damage, not intent: so each value of a row is
checked for its type before a record is made of it, whatever the checksum says.
"""

from __future__ import annotations

import json
import math
import re
import shlex
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sgdphase._parameters import FIELDS
from sgdphase._records import ENGINES, Outcome, Training
from sgdphase._sweep.run import Run
from sgdphase._sweep.storefile import damaged
from sgdphase._typing import FloatArray
from sgdphase.errors import InputError, one_line

COLUMNS = "key, model, engine, training, status, steps, time, observables, traceback, seconds"

Row = tuple[Any, ...]

_NUMBER = (int, float)
_NONE = type(None)
_PLAIN: dict[str, Any] = {"int": int, "float": _NUMBER, "str": str, "bool": bool}
_TYPES: tuple[Any, ...] = (
    str, str, int, str, str, int, (*_NUMBER, _NONE), str, str, _NUMBER,
)  # fmt: skip
_PARAMETERS = {each.name: each for each in FIELDS if each.name != "problem"}
_SEED = re.compile('"seed": (0|[1-9][0-9]{0,17})(?=[,}])')
# Largest integer that arrays hold.
_LARGEST = 2**63
# Bytes of one trajectory: a few kilobytes can unpack to far more than the memory.
_LARGEST_TRAJECTORY = 2**30
# They would move the cursor of a terminal, or cannot be printed.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_MAY_HAVE_CONTROL = re.compile(r"[^ -~]|\\[ubf]")  # in JSON; most rows have none of these


def row_of(key: str, run: Run) -> Row:
    """The columns of a run, without its checksum."""
    outcome = run.outcome
    return (
        key,
        run.training.model,
        ENGINES.get(run.training.model, 0),
        json.dumps(run.training.as_dict(), default=lambda value: value.item()),
        outcome.status,
        outcome.steps,
        None if math.isnan(outcome.time) else outcome.time,
        json.dumps(dict(outcome.observables)),
        run.traceback,
        run.seconds,
    )


def crc(row: Iterable[Any]) -> int:
    """The checksum of a row."""
    return zlib.crc32(json.dumps(list(row)).encode())


def checked(path: Path, row: Iterable[Any], checksum: Any) -> Row:
    """The row, if each column has its type and the checksum is right."""
    row = tuple(row)
    for name, kind, value in zip(COLUMNS.split(", "), _TYPES, row, strict=True):
        if not isinstance(value, kind):
            raise damaged(path, f"row {one_line(row[0])}: its {name} is {one_line(value)}")
    if crc(row) != checksum:
        raise damaged(path, f"row {row[0]} is not as it was written")
    return row


def is_current(model: str, engine: int) -> bool:
    """Whether this is the installed version of the model's engine."""
    return engine == ENGINES.get(model, 0)


def run_of(path: Path, row: Row, trajectory: Row | None) -> Run:
    """The run of a checked row; a value that no run has is an `InputError` that names the row."""
    key, model, _, training, status, steps, time, observables, trace, seconds = row
    try:
        record = _training_of(training)
        if record.model != model:
            raise ValueError(f"its model is '{model}', and '{record.model}' in its training")
        outcome = Outcome(
            status,
            steps,
            math.nan if time is None else time,
            _numbers(_object(observables)),
            {} if trajectory is None else _unpacked(*trajectory),
        )
    except InputError as error:
        raise InputError(f"{path}: row {one_line(key)[1:-1]}: {error}") from None
    except (
        KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, zlib.error
    ) as error:  # fmt: skip
        said = f"has no {error}" if isinstance(error, KeyError) else one_line(str(error))[1:-1]
        raise damaged(path, f"row {one_line(key)[1:-1]}: {said}") from None
    return Run(record, outcome, seconds, trace)


def _training_of(text: str) -> Training:
    seed = _SEED.search(text)
    cell = _cell(text[: seed.start(1)], text[seed.end(1) :]) if seed else None
    if seed is None or cell is None:
        return _training(_object(text))
    return cell.with_seeds([int(seed[1])])[0]


# The trainings of one cell differ in their seed alone, and to check them takes most of the time.
@lru_cache(2**14)
def _cell(before: str, after: str) -> Training | None:
    """The training with seed 0; None if what stands between the texts is another seed."""
    if _object(f"{before}-1{after}").get("seed") != -1:
        return None
    return _training(_object(f"{before}0{after}"))


def _training(plain: dict[str, Any]) -> Training:
    problem = plain["problem"]
    if not isinstance(problem, dict):
        raise TypeError(f"problem = {one_line(problem)}")
    if problem["kind"] == "arrays" and not (problem.get("digest") and problem.get("points")):
        # It would be read from wherever the row says.
        raise ValueError("a file of arrays without its digest and number of points")
    if problem["kind"] == "command" and not shlex.split(problem["command"]):
        raise ValueError("an empty command")  # a page shows the first word
    for name, value in plain.items():
        parameter = _PARAMETERS.get(name)
        if parameter is not None and not (value is None and parameter.default is None):
            _require(name, value, _PLAIN.get(parameter.type.__name__))
    training = Training.from_dict(plain)
    for each in fields(training.problem):
        value, (kind, *others) = getattr(training.problem, each.name), str(each.type).split(" | ")
        if not (value is None and others == ["None"]):
            _require(each.name, value, _PLAIN.get(kind))
    hash(training)
    return training


def _require(name: str, value: Any, kind: Any) -> None:
    """Raise unless the value is of this plain kind; None: only the user's class knows it."""
    is_flag = isinstance(value, bool) and kind is not bool
    too_large = isinstance(value, int) and not -_LARGEST <= value < _LARGEST
    if kind is not None and (is_flag or too_large or not isinstance(value, kind)):
        raise TypeError(f"{name} = {one_line(value)}")


def _numbers(plain: dict[str, Any]) -> dict[str, float]:
    for name, value in plain.items():
        _require(name, value, _NUMBER)
    return plain


def _object(text: str) -> dict[str, Any]:
    """The JSON object, without characters that no terminal should get."""
    plain = json.loads(text)
    if not isinstance(plain, dict):
        raise TypeError(f"{one_line(text)} is not an object")
    if _MAY_HAVE_CONTROL.search(text):
        for each in _texts(plain):
            if _CONTROL.search(each):
                raise ValueError(f"{each[:60]!a} has control characters")
    return plain


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def packed(trajectory: Mapping[str, FloatArray]) -> tuple[str, bytes]:
    """Names, and the arrays one after the other as little-endian doubles, deflated."""
    columns = [np.asarray(column, "<f8").tobytes() for column in trajectory.values()]
    return json.dumps(list(trajectory)), zlib.compress(b"".join(columns))


def _unpacked(names: Any, data: Any) -> Mapping[str, FloatArray]:
    columns = json.loads(names)
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise TypeError(f"the names of its trajectory are {one_line(columns)}")
    stream = zlib.decompressobj()
    content = stream.decompress(data, _LARGEST_TRAJECTORY)
    if not stream.eof:
        raise ValueError("its trajectory is cut off, or larger than 1 GiB")
    flat = np.frombuffer(content, "<f8")
    return dict(zip(columns, flat.reshape(len(columns), -1), strict=True)) if columns else {}
