"""The user's module: built for a seed, tried on a few points, and fed in its own format."""

from __future__ import annotations

import copy
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module
from torch.nn.parameter import is_lazy

from sgdphase._own.problem import UserProblem
from sgdphase._records import Training
from sgdphase._streams import INITIALISATION, training_stream
from sgdphase.errors import InputError
from sgdphase.networks._coupled import batch_norms
from sgdphase.networks._device import device_of
from sgdphase.problems import Dataset

# Points that a module is tried on.
TRIED = 4
# Types that are tried unchanged before they are cast to the type of the weights.
_WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
# Where a model that gives a dict keeps its outputs.
OUTPUT_KEYS = ("logits", "output", "outputs", "prediction", "predictions")


@dataclass(frozen=True, eq=False)
class Loaded:
    """A fresh module on its device, in evaluation mode, and its points in the right format."""

    module: Module
    x: Tensor
    y: Tensor
    test_x: Tensor
    test_y: Tensor


def loaded(training: Training) -> Loaded:
    """The module of a seed with its training and test points."""
    problem = user_problem(training)
    problem.check_sizes(training.train_size, training.test_size)
    device, seed, regression = device_of(), training.seed, training.loss == "mse"
    module = fresh(problem, seed).to(device)
    train, test = _points(
        problem, training.train_size, training.test_size, seed, device, regression
    )
    form = Form.of(module, problem, train[0][:TRIED], train[1] if regression else None)
    (x, y), (test_x, test_y) = ((x.to(form.kind), form.labels(y)) for x, y in (train, test))
    return Loaded(form.module, x, y, test_x, test_y)


def user_problem(training: Training) -> UserProblem:
    if not isinstance(training.problem, UserProblem):
        raise InputError(f"problem = {training.problem.kind}: model own needs the user's data")
    return training.problem


def fresh(problem: UserProblem, seed: int) -> Module:
    """The user's module with the weights of a seed, in evaluation mode.

    It is a copy: `model()` may return the same object every time.
    """
    return _made(problem, seed)[0]


def _made(problem: UserProblem, seed: int) -> tuple[Module, bool]:
    """The same, and whether `model()` sets a random seed."""
    code = problem.code
    start = int(training_stream(seed, INITIALISATION).integers(2**63))
    module, sets_seed = code.call_unseeded("model", start)
    if not isinstance(module, Module):
        raise InputError(
            f"{code.name}: model() gives {type(module).__name__}: must give a torch.nn.Module"
        )
    module = copy.deepcopy(module).eval()
    if not any(weight.requires_grad for weight in module.parameters()):
        raise InputError(f"{code.name}: the module of model() has no weights to train")
    return module, sets_seed


def seed_notes(problem: UserProblem) -> tuple[str, ...]:
    (one, sets_seed), (other, _) = (_made(problem, seed) for seed in (0, 1))
    if _same_weights(one, other):
        split = "" if problem.test_points else " and in the points that are held out"
        return (
            "model() gives the same weights for every seed (pre-trained, or a fixed start): seeds "
            f"differ only in the order of the batches{split}",
        )
    if sets_seed:
        return (
            "model() sets a random seed, which is ignored here: each seed starts from different "
            "weights",
        )
    return ()


def loss_notes(problem: UserProblem, loss: str) -> tuple[str, ...]:
    last = [type(layer).__name__ for layer in _made(problem, 0)[0].modules()][-1]
    if loss == "cross-entropy" and last in ("Sigmoid", "Softmax"):
        return (
            f"the model ends in {last}: cross-entropy expects outputs before that layer, and "
            "learns badly from probabilities",
        )
    return ()


def _same_weights(one: Module, other: Module) -> bool:
    """Whether all trained weights start the same; layers without a shape yet do not."""
    pairs = [
        (a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True) if a.requires_grad
    ]
    return not any(is_lazy(a) or is_lazy(b) for a, b in pairs) and all(
        torch.equal(a, b) for a, b in pairs
    )


@dataclass(frozen=True)
class Traits:
    """Whether batches are `coupled`, and the layers that are `off` in evaluation mode."""

    coupled: bool
    off: tuple[str, ...]


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
                "the model gives different outputs for the same inputs in evaluation mode; switch "
                "off what is random when not self.training"
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
    """What acts in training mode only, besides BatchNorm: layers by name, if they are known."""
    trained = copy.deepcopy(module).train()
    for layer in batch_norms(trained):
        layer.eval()
    with torch.no_grad():
        if torch.allclose(trained(x), outputs, rtol=1e-3, atol=1e-6):
            return ()
    names = {type(layer).__name__ for layer in module.modules() if "Drop" in type(layer).__name__}
    return tuple(sorted(names)) or ("what it does in training mode only (dropout?)",)


@dataclass(frozen=True, eq=False)
class Form:
    """The format of a module's inputs (of type `kind`) and labels, from a few points.

    One output per point ([n] or [n, 1]) goes with two classes and labels +-1. Several outputs go
    with class numbers: the user's labels if they are such numbers, else their places in order. In
    a regression the outputs have the shape of the targets; [n] and [n, 1] are the same.
    """

    module: Module
    kind: torch.dtype
    numbers: Tensor | None
    regression: bool = False

    @classmethod
    def of(cls, module: Module, problem: UserProblem, some: Tensor, targets: Tensor | None) -> Form:
        name = problem.code.name
        # In the random state of the training's seed: lazy layers draw their weights here.
        first, kind = _first_outputs(module, some, name)
        if not first.is_floating_point():
            raise InputError(f"{name}: outputs are of type {first.dtype}: must have a gradient")
        shape = tuple(first.shape)
        flat = shape == (len(some),) or shape == (len(some), 1)
        if targets is not None:
            wanted = (len(some), *targets.shape[1:])
            if shape != wanted and not (flat and targets[0].numel() == 1):
                raise InputError(
                    f"{name}: the model gives shape {shape} for {len(some)} points and the targets "
                    f"have shape {wanted}: must be alike"
                )
            return cls(_Plain(module, flat), kind, None, regression=True)
        classes = problem.classes
        if flat and len(classes) == 2:
            return cls(_Plain(module, flat), kind, None)
        if flat:
            raise InputError(
                f"{name}: the model has one output and the data have {len(classes)} classes: must "
                "have an output for each class, or two classes; for a regression give --loss mse"
            )
        if len(shape) != 2 or shape[0] != len(some):
            raise InputError(
                f"{name}: the model gives shape {shape} for {len(some)} points: must be "
                f"({len(some)},) or ({len(some)}, classes)"
            )
        if shape[1] < len(classes):
            raise InputError(
                f"{name}: the model has {shape[1]} outputs and the data have {len(classes)} classes"
            )
        are_numbers = classes.dtype.kind in "biuf" and classes[0] >= 0 and classes[-1] < shape[1]
        numbers = classes.astype(np.int64) if are_numbers else np.arange(len(classes))
        return cls(_Plain(module, flat), kind, torch.from_numpy(numbers))

    def labels(self, y: Tensor) -> Tensor:
        if self.regression:
            shape = (len(y),) if y[0].numel() == 1 else y.shape
            return y.to(torch.get_default_dtype()).reshape(shape)
        if self.numbers is None:
            return 2.0 * y.to(torch.get_default_dtype()) - 1.0
        return self.numbers.to(y.device)[y]


def _first_outputs(module: Module, some: Tensor, name: str) -> tuple[Tensor, torch.dtype]:
    """What a module gives for a few points, and the type of inputs that it takes."""
    kind = next(weight.dtype for weight in module.parameters())
    with torch.no_grad():
        given: Any = None
        # Whole numbers may be tokens, which stay as they are, or pixels.
        wholes = (some.dtype, torch.int64) if some.dtype in _WHOLE else (torch.int64,)
        for whole in () if some.is_floating_point() else wholes:
            with suppress(RuntimeError):
                given, kind = module(some.to(whole)), whole
                break
        if given is None:
            given = module(some.to(kind))
    return outputs_of(given, name), kind


def outputs_of(given: Any, name: str = "the model") -> Tensor:
    """The outputs in what a model returns.

    A tensor is itself. A dict, or an object like it, gives the first of `OUTPUT_KEYS` that it has,
    or its only tensor; an object with such an attribute gives that. Any other tuple or list gives
    its first entry.

    >>> outputs_of((torch.ones(2), torch.zeros(2)))
    tensor([1., 1.])
    >>> outputs_of({"loss": torch.zeros(()), "logits": torch.ones(2)})
    tensor([1., 1.])
    """
    if isinstance(given, Tensor):
        return given
    if hasattr(given, "keys"):
        parts = {key: given[key] for key in given.keys()}  # noqa: SIM118
    else:
        parts = {key: getattr(given, key, None) for key in OUTPUT_KEYS}
    known = [parts[key] for key in OUTPUT_KEYS if parts.get(key) is not None]
    tensors = [part for part in parts.values() if isinstance(part, Tensor)]
    if known or len(tensors) == 1:
        return outputs_of((known or tensors)[0], name)
    if hasattr(given, "keys"):
        raise InputError(
            f"{name}: the model gives a dict with {', '.join(map(str, parts)) or 'nothing'}: must "
            f"have one named {' or '.join(OUTPUT_KEYS)}"
        )
    if isinstance(given, tuple | list) and given:
        return outputs_of(given[0], name)
    raise InputError(f"{name}: the model gives {type(given).__name__}: must give a tensor")


class _Plain(Module):
    """A module that gives a tensor; with one output per point, of shape [n]."""

    def __init__(self, module: Module, flat: bool) -> None:
        super().__init__()
        self.module = module
        self.flat = flat

    def forward(self, x: Tensor) -> Tensor:
        outputs = outputs_of(self.module(x))
        return outputs.reshape(len(x)) if self.flat else outputs


# The cells of one seed share its data; a sweep runs them one after the other.
@lru_cache(maxsize=1)
def _points(
    problem: UserProblem, train_size: int, test_size: int, seed: int, device: Any, regression: bool
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    def tensors(data: Dataset) -> tuple[Tensor, Tensor]:
        return torch.as_tensor(data.x).to(device), torch.as_tensor(data.y).to(device)

    return (
        tensors(problem.train_set(train_size, seed, targets=regression)),
        tensors(problem.test_set(test_size, seed, targets=regression)),
    )
