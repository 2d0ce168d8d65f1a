"""The store: every run once, in one file. See docs/store.md for its tables."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sgdphase._display import Columns, Shown, ShownTable
from sgdphase._records import Status
from sgdphase._sweep import storefile
from sgdphase._sweep.rescue import rescued
from sgdphase._sweep.rows import COLUMNS, Row, checked, crc, is_current, packed, row_of, run_of
from sgdphase._sweep.run import Run
from sgdphase._sweep.storefile import SweepError
from sgdphase._sweep.table import Table, table_of
from sgdphase.errors import InputError, require_type

# How many keys a query may name: old versions of SQLite take 999 parameters.
_KEYS = 500


class Stored(NamedTuple):
    """The status of a training in the store."""

    status: Status
    has_trajectory: bool


class RunList(Shown, list[Run]):
    """Runs, shown as the table they make."""

    def _lines(self) -> list[str]:
        return [f"{len(self)} runs", *ShownTable(self._table())._lines()[1:]]

    def _summary(self) -> Columns:
        return ShownTable(self._table())._summary()

    def _table(self) -> Columns:
        return table_of(self)


class Store(Shown):
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
        require_type("store", path, (str, Path), "a Store, or the path of one")
        self.path = Path(path)
        storefile.check(self.path)

    @property
    def is_empty(self) -> bool:
        """Whether there is no file yet."""
        return storefile.is_empty(self.path)

    def standing(self, keys: Iterable[str] | None = None) -> dict[str, Stored]:
        """Key and status of the stored trainings with these `keys` (default all)."""
        if self.is_empty:
            return {}
        what = "SELECT key, status, trajectories.key IS NOT NULL FROM runs"
        with storefile.reading(self.path) as connection:
            rows = _select(connection, f"{what} LEFT JOIN trajectories USING (key)", keys)
            return {key: Stored(status, bool(drawn)) for key, status, drawn in rows}

    def runs(
        self,
        model: str | None = None,
        *,
        keys: Iterable[str] | None = None,
        trajectories: bool = False,
    ) -> RunList:
        """The runs of `model` (default all), sorted by key, with their `trajectories` or without.

        With `keys` of trainings, only their runs are read, and come in this order. Runs that
        another version of the model's engine made are not among them.
        """
        keys = None if keys is None else list(dict.fromkeys(keys))
        with self._existing() as connection:
            blobs: dict[str, Row] = {}
            if trajectories:
                rows = _select(connection, "SELECT key, names, data FROM trajectories", keys)
                blobs = {key: (names, data) for key, names, data in rows}
            held = {row[0]: row for row in self._rows(connection, keys) if is_current(*row[1:3])}
        return RunList(
            run_of(self.path, held[key], blobs.get(key))
            for key in (held if keys is None else keys)
            if key in held and model in (None, held[key][1])
        )

    def table(self, model: str | None = None) -> Table:
        """The runs of `model` (default all) as columns: parameters, status, observables by name."""
        return ShownTable(table_of(self.runs(model)))

    def outdated(self) -> int:
        """Number of runs that another version of their engine made; they are never read."""
        query = "SELECT count(*), model, engine FROM runs GROUP BY model, engine"
        with self._existing() as connection:
            rows = connection.execute(query).fetchall()
        return sum(count for count, model, engine in rows if not is_current(model, engine))

    def _lines(self) -> list[str]:
        if self.is_empty:
            return [f"Store({str(self.path)!r}): no file yet; a sweep makes it"]
        return [f"Store({str(self.path)!r}): {sum(self._summary()['runs'])} runs"]

    def _summary(self) -> Columns:
        names = ("model", "status", "runs")
        if self.is_empty:
            return {}
        with storefile.reading(self.path) as connection:
            query = "SELECT model, status, count(*) FROM runs GROUP BY model, status"
            rows = connection.execute(query).fetchall()
        return {name: [row[k] for row in rows] for k, name in enumerate(names)}

    def _table(self) -> Columns:
        return self.table()

    @contextmanager
    def writer(self) -> Iterator[Writer]:
        """The right to write, held by one sweep at a time."""
        if not self.is_empty:
            # Every row is read, so that damage shows before the file is opened for writing.
            with self._existing() as connection:
                deque(self._rows(connection), maxlen=0)
        with storefile.writing(self.path) as (connection, identity):
            yield Writer(self.path, connection, identity)

    @contextmanager
    def _existing(self) -> Iterator[sqlite3.Connection]:
        if self.is_empty:
            raise InputError(f"{self.path}: there is no store; `sgdphase sweep` makes one")
        with storefile.reading(self.path) as connection:
            yield connection

    def _rows(
        self, connection: sqlite3.Connection, keys: Sequence[str] | None = None
    ) -> Iterator[Row]:
        for *row, checksum in _select(connection, f"SELECT {COLUMNS}, crc FROM runs", keys):
            yield checked(self.path, row, checksum)


@dataclass(frozen=True)
class Writer:
    """Writes runs; when `write` returns, they are on the disk, in the file that has this path."""

    path: Path
    connection: sqlite3.Connection
    identity: storefile.Identity

    def write(self, runs: Sequence[tuple[str, Run]], *, trajectory: bool) -> None:
        """Write all runs or none; each replaces the run that its key had."""
        try:
            _insert(self.connection, runs, trajectory=trajectory)
        except sqlite3.Error as error:
            self.check(runs, trajectory=trajectory)
            raise SweepError(
                f"{self.path}: cannot be written ({error}); what was reported done is kept, and "
                "the same command goes on from there"
            ) from None
        self.check()

    def check(self, unwritten: Sequence[tuple[str, Run]] = (), *, trajectory: bool = False) -> None:
        """Raise `SweepError` if the file is gone, after a copy was saved with all its runs.

        SQLite writes on to a file that was deleted: its runs would be lost with the connection.
        """
        if not self.identity.is_at(self.path):

            def fill(copy: sqlite3.Connection) -> None:
                try:
                    self.connection.backup(copy)
                except sqlite3.Error:  # its disk is gone: what is in memory
                    storefile.make_tables(copy)
                    _insert(copy, unwritten, trajectory=trajectory)

            raise SweepError(rescued(self.path, self.identity, fill))


def _insert(
    connection: sqlite3.Connection, runs: Iterable[tuple[str, Run]], *, trajectory: bool
) -> None:
    try:
        connection.execute("BEGIN IMMEDIATE")
        for key, run in runs:
            row = row_of(key, run)
            marks = ", ".join("?" * (len(row) + 1))
            connection.execute(
                f"INSERT OR REPLACE INTO runs ({COLUMNS}, crc) VALUES ({marks})",
                (*row, crc(row)),
            )
            # An empty trajectory is stored too: it says that one was asked for.
            connection.execute("DELETE FROM trajectories WHERE key = ?", (key,))
            if trajectory:
                connection.execute(
                    "INSERT INTO trajectories (key, names, data) VALUES (?, ?, ?)",
                    (key, *packed(run.outcome.trajectory)),
                )
        connection.execute("COMMIT")
    except sqlite3.Error:
        with suppress(sqlite3.Error):  # the disk may be gone
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise


def _select(
    connection: sqlite3.Connection, query: str, keys: Iterable[str] | None
) -> Iterator[Row]:
    """The rows of a query in the order of their keys, or those of `keys` in any order."""
    if keys is None:
        yield from connection.execute(f"{query} ORDER BY key")
        return
    wanted = list(keys)
    for start in range(0, len(wanted), _KEYS):
        part = wanted[start : start + _KEYS]
        yield from connection.execute(f"{query} WHERE key IN ({', '.join('?' * len(part))})", part)
