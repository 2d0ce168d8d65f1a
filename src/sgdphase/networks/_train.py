"""A training of a network, from record to record."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module

from sgdphase._models import MODELS
from sgdphase._records import Outcome, Training
from sgdphase._streams import INITIALISATION, training_stream
from sgdphase.errors import InputError
from sgdphase.networks import _checkpoint as checkpoints
from sgdphase.networks._amplification import amplification
from sgdphase.networks._descent import descend
from sgdphase.networks._device import device_of
from sgdphase.networks._fc import FullyConnected, without_onednn
from sgdphase.networks._fitting import Fitting
from sgdphase.networks._log import COLUMNS, Log, copies
from sgdphase.networks._ntk import ntk, ntk_change
from sgdphase.networks._observables import early_stopped, error, unfitted
from sgdphase.networks._state import State, Watch
from sgdphase.problems import Dataset, Problem
from sgdphase.problems._drawn import Directed

# The paper's number of training points for the kernel.
_KERNEL_POINTS = 128


@dataclass(frozen=True, eq=False)
class Points:
    """Inputs and labels on a device.

    Attributes
    ----------
    x : Tensor [n, ...]; inputs, float32
    y : Tensor [n]; labels +1 or -1, float32

    Examples
    --------
    >>> from sgdphase.problems import TeacherTask
    >>> points = Points.of(TeacherTask(dim=4).train_set(8, seed=0), torch.device("cpu"))
    >>> points.x.shape, points.x.dtype
    (torch.Size([8, 4]), torch.float32)
    """

    x: Tensor
    y: Tensor

    @classmethod
    def of(cls, data: Dataset, device: torch.device) -> Points:
        """The points of `data`, in single precision on `device`."""
        x, y = (torch.as_tensor(array, dtype=torch.float32) for array in (data.x, data.y))
        return cls(x.to(device), y.to(device))


def train(
    training: Training, *, trajectory: bool = False, checkpoint: Path | None = None
) -> Outcome:
    """Train the network of a record on its problem, until every point is fitted.

    >>> from sgdphase.problems import TeacherTask
    >>> task = TeacherTask(dim=8)
    >>> outcome = train(Training(task, train_size=16, lr=1.0, batch=4, model="fc", depth=1,
    ...                          width=8, test_size=64))
    >>> outcome.status, outcome["unfitted"]
    ('fitted', 0.0)
    """
    device = device_of()
    problem = training.problem
    problem.check_sizes(training.train_size, training.test_size)
    try:
        train_points, test_points = _points(
            problem, training.train_size, training.test_size, training.seed, device
        )
        module = build(training, tuple(train_points.x.shape[1:])).to(device)
        return fit(
            module, train_points, test_points, training, trajectory=trajectory,
            checkpoint=checkpoint,
        )  # fmt: skip
    except RuntimeError as error:  # torch has no type of its own for it on the CPU
        if "alloc" not in str(error):
            raise
        raise MemoryError(str(error).splitlines()[0]) from error


def build(training: Training, shape: tuple[int, ...]) -> Module:
    """The network of a training for inputs of a shape, with the weights of its seed."""
    seed = int(training_stream(training.seed, INITIALISATION).integers(2**63))
    generator = torch.Generator().manual_seed(seed)
    model = MODELS[training.model]
    if model.images and len(shape) != 3:
        raise InputError(
            f"problem = '{training.problem.kind}': {model.name} wants images (channels, height, "
            f"width), and these points have shape {shape}"
        )
    inputs = shape[0] if model.images else math.prod(shape)
    sizes = {name: getattr(training, name) for name in model.shape}
    if model.image_size:
        sizes["size"] = shape[1:]
    module, _, class_name = model.network.partition(":")
    network: type[Module] = getattr(import_module(module), class_name)
    return network(inputs, **sizes, generator=generator)


def fit(
    module: Module,
    train_points: Points,
    test_points: Points,
    training: Training,
    *,
    trajectory: bool = False,
    checkpoint: Path | None = None,
) -> Outcome:
    """Train any module in place, from its present weights, and observe it.

    Parameters
    ----------
    module : torch.nn.Module
        Gives one number per point, shape [n], each independent of the other points.
    train_points, test_points : Points; on the device of the module
    training : Training
        Learning rate, batch and so on; its `train_size` is that of `train_points`.
    trajectory : bool, default False
        Whether the outcome holds the observables in time.
    checkpoint : Path, default None
        File to save the state in now and then; an existing one is resumed.

    Examples
    --------
    >>> from sgdphase.problems import TeacherTask
    >>> task = TeacherTask(dim=8)
    >>> sets = [Points.of(task.train_set(16, seed), torch.device("cpu")) for seed in (0, 1)]
    >>> training = Training(task, train_size=16, lr=1.0, batch=4, model="fc")
    >>> module = FullyConnected(8, width=8, generator=torch.Generator().manual_seed(0))
    >>> fit(module, *sets, training).status
    'fitted'
    """
    if len(train_points.x) != training.train_size:
        raise InputError(
            f"{len(train_points.x)} training points: the training has train size "
            f"{training.train_size}"
        )
    with without_onednn() if isinstance(module, FullyConnected) else nullcontext():
        fitting = Fitting.of(module, train_points.x, train_points.y)
        if fitting.at_start.shape != train_points.y.shape:
            raise InputError(
                f"outputs of shape {tuple(fitting.at_start.shape)}: a module must give one number "
                f"per point, shape ({training.train_size},)"
            )
        test = Fitting.of(module, test_points.x, test_points.y)
        some = train_points.x[:_KERNEL_POINTS]
        kernel = ntk(module, some)

        def observe() -> dict[str, float]:
            more = {"ntk_change": ntk_change(ntk(module, some), kernel)}
            if isinstance(module, FullyConnected) and _has_axis(training.problem):
                more["amplification"] = amplification(module)
            return more

        return observed(
            fitting, test, training, observe, trajectory=trajectory, checkpoint=checkpoint
        )


def observed(
    fitting: Fitting,
    test: Fitting,
    training: Training,
    observe: Callable[[], dict[str, float]],
    *,
    trajectory: bool = False,
    checkpoint: Path | None = None,
) -> Outcome:
    """Train, and observe in time and at the end; `observe` adds its observables at the end."""
    log = Log(fitting, test, copies(fitting.parameters), training.goal, trajectory)
    watch = _Watch(log, fitting, checkpoint)
    state = watch.resumed()
    ending = descend(fitting, training, state, watch)
    if ending != "diverged" and not log.finish(state.changed):
        ending = "diverged"
    if ending == "budget" and training.has_blown_up(fitting.margins()):
        ending = "diverged"
    final = _at_end(log, fitting) | observe()
    if ending == "diverged":
        final = dict.fromkeys(final, math.nan)
    steps = state.changed
    along = log.arrays(training.lr) if trajectory else {}
    return Outcome(ending, steps, training.lr * steps, final | _on_the_way(log), along)


def _at_end(log: Log, fitting: Fitting) -> dict[str, float]:
    last = dict(zip(log.names, log.rows[-1], strict=True)) if log.rows else {}
    z = fitting.margins()
    logged = {name: last.get(name, math.nan) for name in COLUMNS[1:]}
    return logged | {"unfitted": unfitted(z, log.short), "train_error": error(z)}


def _on_the_way(log: Log) -> dict[str, float]:
    """Observables that also a training that diverged has."""
    best, when = early_stopped(log.column("step"), log.column("test_error"))
    first = log.column("alignment")[0] if log.rows else math.nan
    return {"test_error_early": best, "early_step": when, "first_step_alignment": first}


def _has_axis(problem: Problem) -> bool:
    return isinstance(problem, Directed) and problem.direction == "axis"


@dataclass
class _Watch(Watch):
    """Keeps the log, and the checkpoint if there is one."""

    log: Log
    fitting: Fitting
    path: Path | None
    saved_at: float = field(default_factory=monotonic)

    @property
    def next(self) -> int:
        return self.log.next

    def look(self, step: int) -> None:
        self.log.look(step)

    def pause(self, state: State) -> None:
        if self.path is None or monotonic() - self.saved_at < checkpoints.EVERY_SECONDS:
            return
        tensors = {"w": self.fitting.parameters, "v": state.velocity, "c": state.carry}
        arrays = {
            f"{kind}{number}": tensor.detach().cpu().numpy()
            for kind, many in tensors.items()
            for number, tensor in enumerate(many)
        }
        numbers = {
            name: value for name, value in vars(state).items() if not isinstance(value, tuple)
        }
        checkpoints.save(self.path, {"state": numbers, "rows": self.log.rows}, arrays)
        self.saved_at = monotonic()

    def resumed(self) -> State:
        """The saved state, with its weights restored; the start if nothing was saved."""
        saved = checkpoints.load(self.path)
        if saved is None:
            return State()
        numbers, arrays = saved
        self.log.rows = numbers["rows"]
        parameters = self.fitting.parameters

        def tensors(kind: str) -> tuple[Tensor, ...]:
            if f"{kind}0" not in arrays:
                return ()
            return tuple(
                torch.from_numpy(arrays[f"{kind}{number}"]).to(p)
                for number, p in enumerate(parameters)
            )

        with torch.no_grad():
            for parameter, value in zip(parameters, tensors("w"), strict=True):
                parameter.copy_(value)
        # Older checkpoints know only the last step that changed a weight.
        state = {"active": numbers["state"]["changed"]} | numbers["state"]
        return State(**state, velocity=tensors("v"), carry=tensors("c"))


# The cells of one seed share its data; a sweep runs them one after the other.
@lru_cache(maxsize=1)
def _points(
    problem: Problem, train_size: int, test_size: int, seed: int, device: Any
) -> tuple[Points, Points]:
    return (
        Points.of(problem.train_set(train_size, seed), device),
        Points.of(problem.test_set(test_size, seed), device),
    )
