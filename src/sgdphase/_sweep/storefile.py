"""The store as a file: what makes it ours, how it is made, opened and locked.

Nothing here writes to a file before it is known to be a sound store of this version or older.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from sgdphase.errors import InputError

APPLICATION_ID = 0x53474450  # "SGDP", where `file` and SQLite look for the owner of a database
VERSION = 1

# One row per training; `crc` covers the row, since SQLite has no checksum.
_SCHEMA = """
CREATE TABLE runs (
    key TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    engine INTEGER NOT NULL,
    training TEXT NOT NULL,
    status TEXT NOT NULL,
    steps INTEGER NOT NULL,
    time REAL,
    observables TEXT NOT NULL,
    traceback TEXT NOT NULL,
    seconds REAL NOT NULL,
    crc INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE trajectories (
    key TEXT PRIMARY KEY REFERENCES runs (key),
    names TEXT NOT NULL,
    data BLOB NOT NULL
) WITHOUT ROWID;
"""

_MOST_LINKS = 40
_MAGIC = b"SQLite format 3\x00"


class SweepError(RuntimeError):
    """A sweep cannot go on (disk full, cluster lost). The message is one line; runs are kept."""


def beside(path: Path, suffix: str) -> Path:
    """A file next to a store: `runs.sqlite-wal` for `-wal`. Next to its target, if it is a link."""
    path = target(path)
    return path.with_name(path.name + suffix)


def target(path: Path) -> Path:
    """The file that a link stands for, which need not exist.

    Links among its folders stay: other hosts may know the folder by this name only.
    """
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            return path
        path = path.parent / os.readlink(path)
    raise InputError(f"{path}: is a link that leads to itself")


class Identity(NamedTuple):
    """Which file has a path: another one there, or none, is not the same."""

    device: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Identity:
        status = path.stat()
        return cls(status.st_dev, status.st_ino)

    def is_at(self, path: Path) -> bool:
        try:
            return Identity.of(path) == self
        except OSError:
            return False


def is_empty(path: Path) -> bool:
    """Whether there is no store yet: no file, or one of 0 bytes, which SQLite takes as new too."""
    return not path.exists() or (path.is_file() and path.stat().st_size == 0)


def check(path: Path) -> None:
    """Raise `InputError` unless the file is absent, empty, or a sound store; change no byte."""
    if "\\udc" in ascii(str(path)):  # bytes that are no text; SQLite takes none
        raise InputError(f"{str(path)!a} is no text in UTF-8: a store needs another name")
    if is_empty(path):
        return
    if not path.is_file():
        raise InputError(f"{path}: is not a file; a store is one file, such as runs.sqlite")
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    owner, version = header[68:72], int.from_bytes(header[60:64], "big")
    if (
        header[:16] != _MAGIC[: len(header)]
        or owner != APPLICATION_ID.to_bytes(4, "big")[: len(owner)]
    ):
        raise InputError(f"{path}: is not a store of sgdphase, and was left as it is")
    if len(header) == 100 and version > VERSION:
        raise InputError(
            f"{path}: is a store of version {version}, made by a newer sgdphase; this one reads "
            f"version {VERSION}. It was left as it is"
        )
    with reading(path) as connection:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise damaged(path, verdict)
        if version < 1:
            raise damaged(path, "its version is 0")
        # Statements of somebody else, which reading or writing would carry out.
        foreign = connection.execute(
            "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')"
        ).fetchone()
        if foreign:
            raise damaged(path, f"it has the {foreign[0]} {foreign[1]}, and no store has one")
        for table in ("runs", "trajectories"):
            connection.execute(f"SELECT key FROM {table} LIMIT 1")


def damaged(path: Path, reason: object) -> InputError:
    """The error for a store whose content makes no sense."""
    text = " ".join(str(reason).split())
    return InputError(f"{path}: is a damaged or truncated store ({text}), and was left as it is")


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write; what SQLite finds wrong with the file is an `InputError`."""
    # A writer killed at its very end leaves a journal, which only a writer may roll back.
    mode = "rw" if beside(path, "-journal").exists() else "ro"
    try:
        with closing(_connect(path, mode)) as connection:
            yield connection
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise InputError(f"{path}: is locked by another program; try again") from None
        raise damaged(path, error) from None
    except sqlite3.DatabaseError as error:
        raise damaged(path, error) from None


@contextmanager
def writing(path: Path) -> Iterator[tuple[sqlite3.Connection, Identity]]:
    """The one connection that writes; a second one is refused. Creates the file if needed."""
    with _lock(path), ExitStack() as stack:
        if is_empty(path):
            _create(target(path))
        else:
            check(path)
        try:
            connection = stack.enter_context(closing(_connect(path, "rw")))
            # WAL lets others read during a sweep; a commit that returned is on the disk, and is in
            # the file itself rather than in its log, so that copying the one file is enough.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA wal_autocheckpoint = 1")
            # Opens the log now: the connection that opens it first removes it.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("COMMIT")
            identity = Identity.of(path)
        except (OSError, sqlite3.OperationalError) as error:
            raise InputError(f"{path}: cannot be written ({error})") from None
        try:
            yield connection, identity
        finally:
            _come_to_rest(path, connection, identity)


def _come_to_rest(path: Path, connection: sqlite3.Connection, identity: Identity) -> None:
    """At rest the store is one plain file, readable where nothing can be written.

    A reader that is at it now, or a full disk, prevents that: then it stays as it is.
    """
    if identity.is_at(path):
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = DELETE")
    elif not path.exists():
        # Logs of a file that is gone; the next store of this name must not find them. If there is
        # another file, they may be that one's.
        connection.close()
        for suffix in ("-wal", "-shm"):
            with suppress(OSError):
                beside(path, suffix).unlink()


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, timeout=30.0, isolation_level=None)
    connection.execute("PRAGMA trusted_schema = OFF")  # the file may come from anybody
    return connection


def _create(path: Path) -> None:
    """Create the store under another name and rename it, so that nobody sees half a store."""
    for suffix in ("-wal", "-journal"):
        if beside(path, suffix).exists():
            raise InputError(
                f"{beside(path, suffix)}: belongs to a store that is no longer there; put "
                f"{path.name} back or remove this file"
            )
    new = beside(path, "-new")
    try:
        new.unlink(missing_ok=True)
        with closing(sqlite3.connect(new)) as connection:
            make_tables(connection)
        new.replace(path)
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            new.unlink()
        raise InputError(f"{path}: cannot be created ({error})") from None


def make_tables(connection: sqlite3.Connection) -> None:
    """Make an empty database a store."""
    connection.executescript(_SCHEMA)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold `runs.sqlite-lock`; the system releases it when the process ends in any way."""
    lock = beside(path, "-lock")
    # A link that somebody planted is not followed; Windows has no such flag.
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    while True:
        try:
            handle = os.open(lock, flags, 0o666)
        except OSError as error:
            if error.errno == errno.ELOOP and lock.is_symlink():
                raise InputError(f"{lock}: is a link, and a lock never is; remove it") from None
            raise InputError(f"{path}: cannot be written ({error.strerror})") from None
        try:
            _lock_file(handle)
        except OSError:
            os.close(handle)
            raise InputError(
                f"{path}: another sweep is writing to it; wait for it, or use another store"
            ) from None
        # Its last holder may have removed the file between the two calls above.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(lock)):
                break
        os.close(handle)
    try:
        yield
    finally:
        # Windows does not remove a file that is open; a lock file that stays does no harm. One of
        # another sweep does: it stays, if somebody removed ours.
        with suppress(OSError):
            if os.path.samestat(os.fstat(handle), os.stat(lock)):
                lock.unlink()
        os.close(handle)


def _lock_file(handle: int) -> None:
    if os.name == "nt":  # pragma: no cover
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
