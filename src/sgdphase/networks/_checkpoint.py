"""The state of a training in a file, written now and then so that a killed one can go on.

A zip of plain arrays and one JSON text (numpy's .npz): nothing in it is executed when it is read.
A damaged file is ignored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Trainings shorter than this are not worth saving.
EVERY_SECONDS = 60.0


def save(path: Path, numbers: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write under another name and move, so that the file is always whole.

    If the disk is full, the training goes on with an older checkpoint or none.
    """
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with new.open("wb") as file:
            np.savez(file, allow_pickle=False, numbers=np.array(json.dumps(numbers)), **arrays)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()


def load(path: Path | None) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """What was saved, or None."""
    if path is None or not path.exists():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
            arrays = {name: saved[name] for name in saved.files}
        return json.loads(str(arrays.pop("numbers"))), arrays
    except Exception:  # a damaged zip raises many kinds
        return None
