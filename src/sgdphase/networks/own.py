"""A training of the user's own module, from record to record."""

from __future__ import annotations

import copy
import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module

from sgdphase.errors import InputError
from sgdphase.networks.batches import INITIALISATION, stream
from sgdphase.networks.coupled import CoupledFitting, batch_norms
from sgdphase.networks.descent import State, descend
from sgdphase.networks.device import device_of
from sgdphase.networks.fitting import Fitting
from sgdphase.networks.losses import LOSSES
from sgdphase.networks.noise_scale import noise_scale
from sgdphase.networks.train import Points, observed
from sgdphase.problems import Dataset, Own
from sgdphase.records import Outcome, Training

# Points that a module is tried on.
_TRIED = 4
# Types that are tried as they are before they become those of the weights.
_WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
# The noise scale is a side dish: it must not take long.
_EPOCH_SECONDS = 30.0


def train(
    training: Training, *, trajectory: bool = False, checkpoint: Path | None = None
) -> Outcome:
    """Train the module that the user's `model()` gives on the user's data.

    It is trained in evaluation mode, but for BatchNorm: see `traits`.
    """
    problem = _own(training)
    with problem.code.guest("model", training.seed):
        fitting, test = _fittings(training)
        return observed(fitting, test, training, dict, trajectory=trajectory, checkpoint=checkpoint)


def noise_scales(training: Training) -> dict[str, float]:
    """The gradient noise scale at the `start`, and after one `epoch` of the training."""
    problem = _own(training)
    with problem.code.guest("model", training.seed):
        fitting, _ = _fittings(training)
        start = noise_scale(fitting, training)
        epoch = replace(training, max_samples=training.train_size, max_seconds=_EPOCH_SECONDS)
        descend(fitting, epoch, State(), _Unwatched())
        return {"start": start, "epoch": noise_scale(fitting, training)}


def _fittings(training: Training) -> tuple[Fitting, Fitting]:
    """The training points and the test points with a fresh module."""
    problem = _own(training)
    problem.check_sizes(training.train_size, training.test_size)
    device = device_of()
    module = fresh(problem, training.seed).to(device)
    train_points, test_points = _points(
        problem, training.train_size, training.test_size, training.seed, device
    )
    form = _Form.of(module, problem, train_points.x[:_TRIED])
    softness = training.margin if LOSSES[training.loss].soft else 0.0
    x, y = form.inputs(train_points.x), form.labels(train_points.y)
    test_x, test_y = form.inputs(test_points.x), form.labels(test_points.y)
    if traits(form.module, x[:_TRIED]).coupled:
        fitting = CoupledFitting.of(form.module, x, y, softness)
        return fitting, fitting.looking_at(form.module, test_x, test_y, fitting.statistics)
    return Fitting.of(form.module, x, y, softness), Fitting.of(form.module, test_x, test_y)


class _Unwatched:
    """Looks at nothing."""

    next = 2**63

    def look(self, step: int) -> None:
        pass

    def pause(self, state: State) -> None:
        pass


def fresh(problem: Own, seed: int) -> Module:
    """A module of the user's with the weights of a seed, in evaluation mode.

    It is a copy: what `model()` returns is left alone, be it the same object every time.
    """
    code = problem.code
    start = int(stream(seed, INITIALISATION).integers(2**63))
    module = code.call("model", start)
    if not isinstance(module, Module):
        raise InputError(
            f"{code.name}: model() gives {type(module).__name__}: must give a torch.nn.Module"
        )
    module = copy.deepcopy(module).eval()
    if not any(weight.requires_grad for weight in module.parameters()):
        raise InputError(f"{code.name}: the module of model() has no weights to train")
    return module


@dataclass(frozen=True)
class Traits:
    """What matters about a module: batches `coupled`, and what is off in evaluation mode."""

    coupled: bool
    off: tuple[str, ...]


def look_at(training: Training) -> Traits:
    """Build the module of a training, try it, and take one step: what is wrong shows here."""
    with _own(training).code.guest("model", training.seed):
        fitting, _ = _fittings(training)
        some = torch.arange(min(2, training.train_size))
        torch.autograd.grad(
            fitting.margins_with_gradient(some).sum(), fitting.parameters, materialize_grads=True
        )
        return traits(fitting.module, fitting.x[:_TRIED])


def traits(module: Module, x: Tensor) -> Traits:
    """Try a module, in evaluation mode, on a few points.

    It must give the same outputs every time. Points are coupled if it has BatchNorm, or if outputs
    for all at once differ from those one by one.
    """
    with torch.no_grad():
        torch.manual_seed(0)
        together = module(x)
        if not bool(torch.isfinite(together).all()):
            raise InputError("the model gives outputs that are not finite, before any step")
        torch.manual_seed(1)
        again = module(x)
        if not torch.equal(together, again) and not torch.allclose(together, again):
            raise InputError(
                "the model gives other outputs for the same inputs in evaluation mode: there is "
                "no predictor to speak of; switch off what is random when not self.training"
            )
        alone = [module(point) for point in torch.split(x, 1)]
        if alone[0].shape != together[:1].shape:
            raise InputError(
                f"the model gives shape {tuple(alone[0].shape)} for one point: must be "
                f"{tuple(together[:1].shape)} (squeeze() drops the dimension of the batch)"
            )
        single = torch.cat(alone)
    scale = float(together.abs().max())
    apart = float((together - single).abs().max())
    # Rounding differs with the size of a batch; a coupling through statistics is far larger.
    coupled = bool(batch_norms(module)) or apart > 1e-3 * max(scale, 1e-12)
    return Traits(coupled, _off(module, x, together))


def _off(module: Module, x: Tensor, outputs: Tensor) -> tuple[str, ...]:
    """What would act in training mode, BatchNorm apart: layers by name, or that there is some."""
    trained = copy.deepcopy(module).train()
    for layer in batch_norms(trained):
        layer.eval()
    with torch.no_grad():
        if torch.allclose(trained(x), outputs, rtol=1e-3, atol=1e-6):
            return ()
    names = {type(layer).__name__ for layer in module.modules() if "Drop" in type(layer).__name__}
    return tuple(sorted(names)) or ("what it does in training mode only (dropout?)",)


@dataclass(frozen=True, eq=False)
class _Form:
    """How a module wants its inputs (of type `kind`) and labels, told from a few points.

    One output a point ([n] or [n, 1]) goes with two classes and labels +-1, several with numbers
    of classes: the user's own labels where they are such numbers, else their places in order.
    """

    module: Module
    kind: torch.dtype
    numbers: Tensor | None

    @classmethod
    def of(cls, module: Module, problem: Own, some: Tensor) -> _Form:
        name, classes = problem.code.name, problem.classes
        kind = next(weight.dtype for weight in module.parameters())
        # In the random state of the training's seed: lazy layers draw their weights here.
        with torch.no_grad():
            found: Any = None
            # Whole numbers may be tokens, which want to stay so, or pixels.
            wholes = (some.dtype, torch.int64) if some.dtype in _WHOLE else (torch.int64,)
            for whole in () if some.is_floating_point() else wholes:
                with suppress(RuntimeError):
                    found, kind = module(some.to(whole)), whole
                    break
            if found is None:
                found = module(some.to(kind))
        if not isinstance(found, Tensor):
            raise InputError(f"{name}: the model gives {type(found).__name__}: must give a tensor")
        if not found.is_floating_point():
            raise InputError(f"{name}: outputs are of type {found.dtype}: must have a gradient")
        shape = tuple(found.shape)
        if shape == (len(some),) or shape == (len(some), 1):
            if len(classes) != 2:
                raise InputError(
                    f"{name}: the model has one output and the data have {len(classes)} classes: "
                    "must have an output for each class, or two classes"
                )
            return cls(_Flat(module), kind, None)
        if len(shape) != 2 or shape[0] != len(some):
            raise InputError(
                f"{name}: the model gives shape {shape} for {len(some)} points: must be "
                f"({len(some)},) or ({len(some)}, classes)"
            )
        if shape[1] < len(classes):
            raise InputError(
                f"{name}: the model has {shape[1]} outputs and the data have {len(classes)} classes"
            )
        are_numbers = classes[0] >= 0 and classes[-1] < shape[1]
        numbers = classes.astype(np.int64) if are_numbers else np.arange(len(classes))
        return cls(module, kind, torch.from_numpy(numbers))

    def inputs(self, x: Tensor) -> Tensor:
        return x.to(self.kind)

    def labels(self, y: Tensor) -> Tensor:
        if self.numbers is None:
            return 2.0 * y.to(torch.get_default_dtype()) - 1.0
        return self.numbers.to(y.device)[y]


class _Flat(Module):
    """A module with one output a point, as shape [n]."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.module(x)
        return found.reshape(len(x))


def _own(training: Training) -> Own:
    if not isinstance(training.problem, Own):
        raise InputError(f"problem = {training.problem.kind}: model own wants the user's own data")
    return training.problem


# The cells of one seed share its data; a sweep runs them one after the other.
@lru_cache(maxsize=1)
def _points(
    problem: Own, train_size: int, test_size: int, seed: int, device: Any
) -> tuple[Points, Points]:
    def points(data: Dataset) -> Points:
        x, y = torch.as_tensor(data.x), torch.as_tensor(data.y)
        return Points(x.to(device), y.to(device))

    return points(problem.train_set(train_size, seed)), points(problem.test_set(test_size, seed))


def expected_seconds(training: Training) -> float:
    """Unknown before one has run; long, so that each is handed out by itself."""
    return max(1.0, math.sqrt(training.train_size / 64))
