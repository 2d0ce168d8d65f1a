"""What is left of a store whose file was deleted, moved or replaced during a sweep.

SQLite writes on to a file without a name: every run is in it until the connection is closed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from tempfile import gettempdir, mkstemp

from sgdphase._sweep.storefile import Identity, target


def rescued(path: Path, identity: Identity, fill: Callable[[sqlite3.Connection], None]) -> str:
    """Save what the store had to another file by `fill`, and say where.

    The copy lies in the folder of the store, unless the folder is gone too, or is on another disk
    now, as one is whose disk was unmounted: the next mount would hide the copy.
    """
    what = f"{path}: was deleted, moved or replaced during the sweep"
    folders = [Path(gettempdir())]
    with suppress(OSError):
        folders.insert(0, Path.cwd())
    with suppress(OSError):
        folder = target(path).parent
        if Identity.of(folder).device == identity.device:
            folders.insert(0, folder)
    reason: object = None
    for folder in folders:
        copy = None
        try:
            handle, copy = mkstemp(path.suffix, f"{path.stem}-rescued-", folder)
            os.close(handle)
            with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
                fill(connection)
                connection.execute("PRAGMA journal_mode = DELETE")
                (count,) = connection.execute("SELECT count(*) FROM runs").fetchone()
        except (OSError, sqlite3.Error) as error:
            reason = error
            if copy is not None:
                with suppress(OSError):
                    os.unlink(copy)
        else:
            return (
                f"{what}; its {count} runs were saved as {copy}: name this file {path.name}, and "
                "the same command goes on from there"
            )
    return f"{what}, and its runs could not be saved ({reason})"
