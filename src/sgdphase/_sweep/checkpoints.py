"""Where long trainings save their state, so that a killed sweep continues inside them.

Next to `runs.sqlite` the folder `runs.sqlite-checkpoints` has one file per running training. The
trainer writes it, in its worker; the sweep deletes it once the run is in the store. A training with
and one without a recorded trajectory have different files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sgdphase._sweep.storefile import beside
from sgdphase.errors import make_folder

_TRAJECTORY, _FINAL = "trajectory", "final"


def checkpoint_of(folder: Path | None, key: str, *, trajectory: bool) -> Path | None:
    """The file of a training; None if the worker, maybe on another machine, cannot write there."""
    if folder is None or not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return None
    return folder / f"{key}-{_TRAJECTORY if trajectory else _FINAL}"


@contextmanager
def checkpoint_folder(store: Path, *, needed: bool) -> Iterator[Path]:
    """The folder of a store, made if `needed`, and removed at the end if nothing is left in it."""
    folder = beside(store.absolute(), "-checkpoints")
    if needed:
        make_folder(folder)
    try:
        yield folder
    finally:
        # Not empty, or never made.
        with suppress(OSError):
            folder.rmdir()


def drop(folder: Path, is_done: Callable[[str, bool], bool]) -> None:
    """Delete what belongs to each `(key, trajectory)` that is done.

    That is every file whose name begins with that of the checkpoint: a worker that was killed in
    the middle of saving leaves the file that it was about to rename.
    """
    # A file that cannot be deleted does no harm: the next sweep tries again.
    with suppress(OSError):
        for path in list(folder.iterdir()):
            key, _, kind = path.name.partition("-")
            if is_done(key, kind.startswith(_TRAJECTORY)):
                with suppress(OSError):
                    path.unlink()
