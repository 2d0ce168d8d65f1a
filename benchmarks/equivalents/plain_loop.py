"""A training as anyone would write it: the judge of what `sgdphase diagnose` foretells.

Nothing of sgdphase's own loop is used. A seed has a split (where the file brings no test data), an
initialisation, an order of every epoch, and the random numbers of dropout and augmentation.
Trainings of one seed at another lr or batch share split and initialisation.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

# Points that are held out at most, where there are no test points.
TEST = 4096
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def train(
    path: Path,
    *,
    lr: float,
    batch: int,
    epochs: int,
    seed: int,
    loss: str = "cross-entropy",
    optimizer: str = "sgd",
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    schedule: str = "constant",
    warmup: float = 0.0,
) -> dict[str, float]:
    """Train the model of a file, or call its `train`; the metrics of the final weights."""
    torch.set_num_threads(1)
    file = load(path)
    if hasattr(file, "train"):
        found = file.train(lr=lr, batch=batch, epochs=epochs, seed=seed)
        return {name: float(value) for name, value in found.items()}
    # First the points: what they draw must not move the numbers of the seed.
    (x, y), (test_x, test_y) = points(path, seed, regression=loss == "mse")
    torch.manual_seed(seed)
    module = file.model()
    start = [weight.detach().clone() for weight in module.parameters()]
    initial = value_of(loss, outputs(module, x), y)
    if optimizer == "adamw":
        steps_by: Any = torch.optim.AdamW(module.parameters(), lr=lr, weight_decay=weight_decay)
    else:
        steps_by = torch.optim.SGD(
            module.parameters(), lr=lr, momentum=momentum, weight_decay=weight_decay
        )
    alone = any(isinstance(layer, BATCH_NORMS) for layer in module.modules())
    batches = [b for b in torch.arange(len(x)).split(batch) if not (alone and len(b) == 1)]
    total = epochs * len(batches)
    step = 0
    module.train()
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for places in batches:
            chosen = order[places]
            inputs = x[chosen]
            if hasattr(file, "augment"):
                inputs = file.augment(inputs)
            value = loss_of(loss, flat(module(inputs)), y[chosen])
            steps_by.zero_grad()
            value.backward()
            for group in steps_by.param_groups:
                group["lr"] = lr * share(step, total, schedule, warmup)
            steps_by.step()
            step += 1
        if not math.isfinite(float(value.detach())):
            break
    found = outputs(module, test_x)
    metrics = {"train_loss": value_of(loss, outputs(module, x), y), "initial_loss": initial}
    metrics["weight_change"] = change(module, start)
    if loss == "mse":
        return metrics | {"test_mse": value_of(loss, found, test_y)}
    if found.ndim == 1:
        right, aligned = test_y * found > 0, test_y * found
    else:
        true = found[torch.arange(len(found)), test_y]
        right = found.argmax(dim=1) == test_y
        aligned = true - (found.sum(dim=1) - true) / (found.shape[1] - 1)
    return metrics | {
        "test_error": 1 - float(right.double().mean()),
        "test_loss": value_of(loss, found, test_y),
        "alignment": float(aligned.mean()),
    }


def share(step: int, steps: int, schedule: str, warmup: float) -> float:
    """The learning rate of a step (the first is 0) in units of the given one.

    >>> [share(step, 4, "linear", 0.5) for step in range(4)]
    [0.5, 1.0, 1.0, 0.5]
    """
    rising = round(warmup * steps)
    if step < rising:
        return (step + 1) / rising
    passed = (step - rising) / (steps - rising)
    if schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * passed))
    return 1 - passed if schedule == "linear" else 1.0


def loss_of(loss: str, found: Tensor, y: Tensor) -> Tensor:
    if loss == "mse":
        return functional.mse_loss(found, y)
    if found.ndim == 1:
        margins = y * found
    elif loss == "hinge":
        true = found[torch.arange(len(found)), y]
        others = found.scatter(1, y[:, None], -math.inf)
        margins = true - others.max(dim=1).values
    else:
        return functional.cross_entropy(found, y)
    if loss == "hinge":
        return functional.relu(1 - margins).mean()
    return functional.softplus(-margins).mean()


def value_of(loss: str, found: Tensor, y: Tensor) -> float:
    return float(loss_of(loss, found, y if y.dtype == torch.int64 else y.double()))


def outputs(module: nn.Module, x: Tensor) -> Tensor:
    """In evaluation mode, in double precision; the module is left as it was."""
    before = module.training
    module.eval()
    with torch.no_grad():
        found = torch.cat([flat(module(part)) for part in x.split(1024)]).double()
    module.train(before)
    return found


def flat(found: Tensor) -> Tensor:
    """One output per point has shape [n]."""
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found


def change(module: nn.Module, start: list[Tensor]) -> float:
    pairs = list(zip(module.parameters(), start, strict=True))
    moved = sum(float((now.detach() - then).double().square().sum()) for now, then in pairs)
    return math.sqrt(moved / sum(float(then.double().square().sum()) for _, then in pairs))


def points(
    path: Path, seed: int, *, regression: bool
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Training and test points of a seed: without test data, a random fifth is the test set."""
    x, y = arrays(path, "data", regression)
    random = np.random.default_rng((seed, 1))
    if hasattr(load(path), "test_data"):
        return (x, y), arrays(path, "test_data", regression)
    order = torch.from_numpy(random.permutation(len(x)))
    size = min(len(x) // 5, TEST)
    rest, test = order[size:], order[:size]
    return (x[rest], y[rest]), (x[test], y[test])


@cache
def arrays(path: Path, function: str, regression: bool) -> tuple[Tensor, Tensor]:
    """Inputs and labels: numbers of classes, or +-1 where the model has one output."""
    file = load(path)
    x, y = (np.asarray(part) for part in getattr(file, function)())
    if regression:
        return torch.from_numpy(x), torch.from_numpy(y.astype(np.float32))
    numbers = torch.from_numpy(np.unique(y, return_inverse=True)[1])
    inputs = torch.from_numpy(x)
    with torch.no_grad():
        one = flat(file.model().eval()(inputs[:2])).ndim == 1
    return inputs, 2.0 * numbers - 1.0 if one else numbers


@cache
def load(path: Path) -> ModuleType:
    """The file of a user, with its folder on the path of imports."""
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(f"equivalents_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
