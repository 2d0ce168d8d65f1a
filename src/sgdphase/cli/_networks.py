"""Options that the commands on networks share."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from sgdphase._records import ACTIVATIONS, DYNAMICS, LOSSES, SAMPLERS
from sgdphase.cli._options import integer_option, number_option
from sgdphase.errors import InputError
from sgdphase.problems import Arrays, CifarAnimals, MnistParity, Problem, TeacherTask
from sgdphase.problems._files import use_data_dir

Data = Annotated[
    str,
    typer.Option(
        "--data",
        metavar="NAME|FILE",
        help="mnist-parity, cifar-animals, teacher, or an .npz file with x and y.",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder with the images; else SGDPHASE_DATA, else the cache."),
]
Device = Annotated[
    str | None, typer.Option("--device", help="Where torch computes: cpu, cuda, mps, ...")
]
Activation = Annotated[
    str,
    typer.Option("--activation", help=f"{', '.join(ACTIVATIONS)}."),
]
Loss = Annotated[str, typer.Option("--loss", help=f"One of {', '.join(LOSSES)}.")]
Sampler = Annotated[
    str,
    typer.Option("--sampler", help=f"{' or '.join(SAMPLERS)}: drawn anew each step, or shuffled."),
]
Dynamics = Annotated[
    str,
    typer.Option(
        "--dynamics",
        help=f"{', '.join(DYNAMICS)}: SGD, SGD on unfitted points, GD with Gaussian batch noise.",
    ),
]
TestSize = Annotated[int, integer_option("--test-size", "Test points.")]
MaxSteps = Annotated[int | None, integer_option("--max-steps", "Stop after N steps.")]
MaxTime = Annotated[float | None, number_option("--max-time", "Stop at this time (lr x steps).")]
MaxSamples = Annotated[
    int | None, integer_option("--max-samples", "Stop after N points (batch x steps).")
]
MaxSeconds = Annotated[
    float | None, number_option("--max-seconds", "Stop after this time of the clock.")
]


def problem_of(data: str, dim: Any = None, chi: Any = None) -> Problem:
    """The problem that `--data` names."""
    if data == TeacherTask.kind:
        return TeacherTask(128 if dim is None else dim, 1.0 if chi is None else chi)
    if dim is not None or chi is not None:
        raise InputError(f"dim and chi: are of the teacher task, and data = '{data}'")
    if data.endswith(".npz"):
        return Arrays(str(Path(data).resolve()))
    images: dict[str, Problem] = {p.kind: p for p in (MnistParity(), CifarAnimals())}
    if data not in images:
        names = ", ".join([*images, TeacherTask.kind])
        raise InputError(f"data = '{data}': must be {names}, or an .npz file")
    return images[data]


def set_up(data_dir: Path | None, device: str | None = None, dask: str | None = None) -> None:
    """Where data are and where to compute, for this process and the workers it starts."""
    if data_dir is not None:
        use_data_dir(data_dir)
    if device is None:
        return
    if dask is not None:
        raise InputError(
            f"--device {device}: does not reach the workers of Dask; set SGDPHASE_DEVICE there"
        )
    importlib.import_module("sgdphase.networks").use_device(device)


def one_thread() -> None:
    """Batches are small: a second thread costs more than it gives, unless the user knows better."""
    if "OMP_NUM_THREADS" not in os.environ:
        importlib.import_module("sgdphase.networks").use_one_thread()
