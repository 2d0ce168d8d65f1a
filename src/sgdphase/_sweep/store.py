"""The store: every run once, in one file. See docs/store.md for its tables."""

from __future__ import annotations

import json
import math
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgdphase._records import ENGINES, Outcome, Status, Training
from sgdphase._sweep import storefile
from sgdphase._sweep.run import Run
from sgdphase._sweep.storefile import SweepError
from sgdphase._sweep.table import Table, table_of
from sgdphase.errors import InputError

_COLUMNS = "key, model, engine, training, status, steps, time, observables, traceback, seconds"

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Stored:
    """How a training stands in the store."""

    status: Status
    has_trajectory: bool


class Store:
    """The runs in one SQLite file; the first sweep that writes to it makes the file.

    A file that is not a store, is damaged, or comes from a newer version raises `InputError` and
    is not changed.

    Parameters
    ----------
    path : str or Path; it need not exist

    Examples
    --------
    >>> import tempfile
    >>> from sgdphase import grid, sweep
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/runs.sqlite")
    ...     summary = sweep(grid(dim=8, train_size=32, lr=1.0, batch=[1, 2]), store, workers=0)
    ...     sorted(store.table()["batch"].tolist())
    [1, 2]
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        storefile.check(self.path)

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def standing(self) -> dict[str, Stored]:
        """Key and status of every stored training; empty if there is no file."""
        if storefile.is_empty(self.path):
            return {}
        with storefile.reading(self.path) as connection:
            drawn = {key for (key,) in connection.execute("SELECT key FROM trajectories")}
            return {row[0]: Stored(row[4], row[0] in drawn) for row in self._rows(connection, None)}

    def runs(self, model: str | None = None, *, trajectories: bool = False) -> list[Run]:
        """The runs of `model` (default all), sorted by key, with their `trajectories` or without.

        Runs that another version of the model's engine made are not among them.
        """
        with self._existing() as connection:
            blobs: dict[str, Row] = {}
            if trajectories:
                found = connection.execute("SELECT key, names, data FROM trajectories")
                blobs = {key: (names, data) for key, names, data in found}
            rows = [row for row in self._rows(connection, model) if _is_current(row)]
            return [self._run(row, blobs.get(row[0])) for row in rows]

    def table(self, model: str | None = None) -> Table:
        """The runs of `model` (default all) as columns: parameters, status, observables by name."""
        return table_of(self.runs(model))

    def outdated(self) -> int:
        """Number of runs that another version of their engine made; they are never read."""
        with self._existing() as connection:
            return sum(not _is_current(row) for row in self._rows(connection, None))

    @contextmanager
    def writer(self) -> Iterator[Writer]:
        """The right to write, held by one sweep at a time."""
        # Reads every row, so that damage shows before the file is opened for writing.
        self.standing()
        with storefile.writing(self.path) as connection:
            yield Writer(self.path, connection)

    @contextmanager
    def _existing(self) -> Iterator[sqlite3.Connection]:
        if storefile.is_empty(self.path):
            raise InputError(f"{self.path}: there is no store; `sgdphase sweep` makes one")
        with storefile.reading(self.path) as connection:
            yield connection

    def _rows(self, connection: sqlite3.Connection, model: str | None) -> Iterator[Row]:
        where = "" if model is None else "WHERE model = ?"
        found = connection.execute(
            f"SELECT {_COLUMNS}, crc FROM runs {where} ORDER BY key",
            () if model is None else (model,),
        )
        for *row, crc in found:
            if _crc(row) != crc:
                raise storefile.damaged(self.path, f"row {row[0]} is not as it was written")
            yield tuple(row)

    def _run(self, row: Row, blob: Row | None) -> Run:
        _, _, _, training, status, steps, time, observables, trace, seconds = row
        outcome = Outcome(
            status,
            steps,
            math.nan if time is None else time,
            json.loads(observables),
            {} if blob is None else self._unpacked(*blob),
        )
        return Run(Training.from_dict(json.loads(training)), outcome, seconds, trace)

    def _unpacked(self, names: str, data: bytes) -> Mapping[str, NDArray[np.float64]]:
        try:
            flat = np.frombuffer(zlib.decompress(data), "<f8")
            columns = json.loads(names)
            return (
                dict(zip(columns, flat.reshape(len(columns), -1), strict=True)) if columns else {}
            )
        except (zlib.error, ValueError) as error:
            raise storefile.damaged(self.path, error) from None


class Writer:
    """Writes runs; when `write` returns, they are on the disk."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    def write(self, runs: Iterable[tuple[str, Run]], *, trajectory: bool) -> None:
        """Put in the runs of these keys, all or none, each in place of what its key had."""
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            for key, run in runs:
                row = _row(key, run)
                marks = ", ".join("?" * (len(row) + 1))
                connection.execute(
                    f"INSERT OR REPLACE INTO runs ({_COLUMNS}, crc) VALUES ({marks})",
                    (*row, _crc(row)),
                )
                # An empty trajectory is stored too: it says that one was asked for.
                connection.execute("DELETE FROM trajectories WHERE key = ?", (key,))
                if trajectory:
                    connection.execute(
                        "INSERT INTO trajectories (key, names, data) VALUES (?, ?, ?)",
                        (key, *_packed(run.outcome.trajectory)),
                    )
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise SweepError(
                f"{self._path}: cannot be written ({error}); what was reported done is kept, and "
                "the same command goes on from there"
            ) from None


def _row(key: str, run: Run) -> Row:
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


def _crc(row: Iterable[Any]) -> int:
    return zlib.crc32(json.dumps(list(row)).encode())


def _is_current(row: Row) -> bool:
    return int(row[2]) == ENGINES.get(row[1], 0)


def _packed(trajectory: Mapping[str, NDArray[np.float64]]) -> tuple[str, bytes]:
    """Names, and the arrays one after the other as little-endian doubles, deflated."""
    columns = [np.asarray(column, "<f8").tobytes() for column in trajectory.values()]
    return json.dumps(list(trajectory)), zlib.compress(b"".join(columns))
