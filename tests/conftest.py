"""What tests of several rooms share."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgdphase import TeacherTask
from sgdphase._parameters import Parameter

MEMORY = Path("/dev/shm")


def pytest_configure() -> None:
    """Stores are written to memory where there is room: waiting for a disk took half of the time.

    That a store outlives a killed process is tested as well there; a power cut is not tested.
    """
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 2**30:
        os.environ.setdefault("TMPDIR", str(MEMORY))
        tempfile.tempdir = None


def pytest_collection_finish() -> None:
    """What was imported stays: to look through it for garbage again and again takes time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def covered() -> Any:
    """Checks a count of intervals that hold the truth against their level.

    Three and a half standard deviations of the binomial: it fails by chance once in 2000 times,
    were the seeds not fixed.
    """

    def check(hits: int, tries: int, level: float, slack: float = 0.0) -> None:
        tolerance = 3.5 * np.sqrt(level * (1 - level) / tries) + slack
        assert abs(hits / tries - level) <= tolerance, f"{hits} of {tries} at level {level}"

    return check


@pytest.fixture
def other_value() -> Any:
    """A valid value of a parameter that is not its default, from the table alone."""

    def value(parameter: Parameter) -> Any:
        special = {"model": "module:name", "problem": TeacherTask(dim=5)}
        if parameter.name in special:
            return special[parameter.name]
        candidates: dict[type, Any] = {
            int: chain([3], range(1, 4096)),
            float: (2.0**k for k in chain([-2], range(-12, 12))),
            str: parameter.choices,
        }
        return next(
            each
            for each in candidates[parameter.type]
            if each != parameter.default and (not parameter.valid or parameter.valid.holds(each))
        )

    return value
