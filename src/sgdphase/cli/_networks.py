"""The data and the device of networks, as the command line names them."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sgdphase.errors import InputError
from sgdphase.problems._problem import NAMED

if TYPE_CHECKING:
    from sgdphase.problems import Problem


def image_problems() -> dict[str, Problem]:
    """The problems whose data are files, by name."""
    from sgdphase.problems import CifarAnimals, MnistParity

    return {problem.kind: problem for problem in (MnistParity(), CifarAnimals())}


def problem_of(data: str) -> Problem | str:
    """What `--data` says, as `grid` takes it: a user's file, or the name of a kind."""
    from sgdphase.problems import Arrays

    if data.endswith(".npz"):
        return Arrays(str(Path(data).resolve()))
    if data not in NAMED:
        raise InputError(f"data = '{data}': must be {', '.join(NAMED)}, or an .npz file")
    return data


def set_up(data_dir: Path | None, device: str | None = None, dask: str | None = None) -> None:
    """Where data are and where to compute, for this process and the workers it starts."""
    if data_dir is not None:
        from sgdphase.problems._files import use_data_dir

        use_data_dir(data_dir)
    if device is None:
        return
    if dask is not None:
        raise InputError(
            f"--device {device}: does not reach the workers of Dask; set SGDPHASE_DEVICE there"
        )
    importlib.import_module("sgdphase.networks").use_device(device)


def refuse_with_dask(address: str | None, **of_this_machine: object) -> None:
    """Raise `InputError` if options about workers of this machine are given with a cluster."""
    for name, value in of_this_machine.items():
        if address is not None and value not in (None, ""):
            raise InputError(f"--{name}: is of this machine, and --dask has its own workers")


def one_thread() -> None:
    """Batches are small: a second thread costs more than it gives, unless the user knows better."""
    if "OMP_NUM_THREADS" not in os.environ:
        importlib.import_module("sgdphase.networks").use_one_thread()
