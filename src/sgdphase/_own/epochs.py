"""A training in the usual way: shuffled epochs, with a loss, an optimizer and a schedule.

Every epoch visits each point once, in a new order, the last short batch included; under BatchNorm a
last batch of one point is left out, as one point has no statistics. Warm-up and schedule are
fractions of the training, so that they scale with its length. BatchNorm, dropout and augmentation
are on in training; metrics are those of the final weights in evaluation mode, the training loss
over the whole training set without augmentation.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module, functional

from sgdphase._own.module import TRIED, Loaded, Traits, loaded, traits, user_problem
from sgdphase._records import Outcome, Training
from sgdphase._streams import NETWORK_BATCHES, NOISE, training_stream
from sgdphase.networks._checkpoint import EVERY_SECONDS
from sgdphase.networks._coupled import batch_norms
from sgdphase.networks._fitting import outputs, trained
from sgdphase.networks._log import copies
from sgdphase.networks._losses import margins
from sgdphase.networks._observables import alignment, error, scores, weight_change


def train(training: Training, *, checkpoint: Path | None = None) -> Outcome:
    """Train for the epochs of the record; `finished`, or `diverged` if a number is not finite."""
    problem = user_problem(training)
    with problem.code.guest("model", training.seed):
        user = loaded(training)
        augment = problem.code.functions.get("augment")
        loss = LOSSES[training.loss]
        start = copies(trained(user.module))
        initial = float(loss(outputs(user.module, user.x), user.y))
        state = _State(user.module, _optimizer(user.module, training), checkpoint)
        state.resume()
        with problem.code.guest("augment", training.seed):
            finite = _descend(user, training, state, loss, augment)
        user.module.eval()
        values = _metrics(user, training.loss) | {
            "weight_change": weight_change(user.module, start),
            "initial_loss": initial,
        }
    time = training.lr * state.steps
    if finite and all(map(math.isfinite, values.values())):
        return Outcome("finished", state.steps, time, values)
    return Outcome("diverged", state.steps, time, dict.fromkeys(values, math.nan))


def look_at(training: Training) -> Traits:
    """Build the module of a training, try it, and take one step, so that errors show early."""
    problem = user_problem(training)
    with problem.code.guest("model", training.seed):
        user = loaded(training)
        x = user.x[:TRIED]
        user_traits = traits(user.module, x)
        augment = problem.code.functions.get("augment")
        user.module.train()
        x = x if augment is None else augment(x)
        torch.autograd.backward(LOSSES[training.loss](user.module(x), user.y[: len(x)]))
        return user_traits


def _cross_entropy(f: Tensor, y: Tensor) -> Tensor:
    if f.ndim == 1:
        return functional.softplus(-y * f).mean()
    return functional.cross_entropy(f, y)


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cross-entropy": _cross_entropy,
    "hinge": lambda f, y: functional.relu(1 - margins(f, y)).mean(),
    "mse": functional.mse_loss,
}


def learning_rate(training: Training, step: int, steps: int) -> float:
    """The learning rate at a step, counted from 0, of `steps`.

    >>> from sgdphase.problems import TeacherTask
    >>> plain = Training(TeacherTask(dim=2), train_size=8, lr=1.0, batch=2, model="function",
    ...     epochs=1, schedule="linear", warmup=0.5)
    >>> [learning_rate(plain, step, 4) for step in range(4)]
    [0.5, 1.0, 1.0, 0.5]
    """
    warmup = round(training.warmup * steps)
    if step < warmup:
        return training.lr * (step + 1) / warmup
    done = (step - warmup) / max(steps - warmup, 1)
    match training.schedule:
        case "cosine":
            return training.lr * 0.5 * (1 + math.cos(math.pi * done))
        case "linear":
            return training.lr * (1 - done)
        case _:
            return training.lr


def steps_per_epoch(points: int, batch: int, *, coupled: bool = False) -> int:
    """Batches per epoch; a last one of a single point is left out if points are coupled."""
    whole, rest = divmod(points, batch)
    return whole + (rest > (1 if coupled and whole else 0))


@dataclass
class _State:
    """The state of a training; saved between epochs, about once a minute."""

    module: Module
    optimizer: torch.optim.Optimizer
    path: Path | None
    epoch: int = 0
    steps: int = 0
    saved_at: float = field(default_factory=monotonic)

    def resume(self) -> None:
        """Continue from a checkpoint, if there is one that can be read."""
        if self.path is None or not self.path.exists():
            return
        try:
            saved: dict[str, Any] = torch.load(self.path, weights_only=True)
            self.module.load_state_dict(saved["module"])
            self.optimizer.load_state_dict(saved["optimizer"])
        except Exception:  # a damaged file raises many kinds
            return
        self.epoch, self.steps = saved["epoch"], saved["steps"]

    def save(self) -> None:
        """Save a checkpoint; a full disk does not end the training."""
        if self.path is None or monotonic() - self.saved_at < EVERY_SECONDS:
            return
        new = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        content = {
            "module": self.module.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "epoch": self.epoch,
            "steps": self.steps,
        }
        try:
            torch.save(content, new)
            new.replace(self.path)
        except (OSError, RuntimeError):
            with suppress(OSError):
                new.unlink()
        self.saved_at = monotonic()


def _optimizer(module: Module, training: Training) -> torch.optim.Optimizer:
    weights = trained(module)
    both: Any = {"lr": training.lr, "weight_decay": training.weight_decay}
    if training.optimizer == "adamw":
        return torch.optim.AdamW(weights, betas=(training.beta1, training.beta2), **both)
    return torch.optim.SGD(weights, momentum=training.momentum, **both)


def _descend(
    user: Loaded,
    training: Training,
    state: _State,
    loss: Callable[[Tensor, Tensor], Tensor],
    augment: Callable[[Tensor], Tensor] | None,
) -> bool:
    """Train in place; False if the loss is not finite."""
    coupled = bool(batch_norms(user.module))
    epochs = training.epochs or 0
    total = epochs * steps_per_epoch(len(user.x), training.batch, coupled=coupled)
    user.module.train()
    while state.epoch < epochs:
        # Random numbers (dropout, augmentation) depend on the seed and the epoch alone.
        number = int(training_stream(training.seed, NOISE, state.epoch).integers(2**63))
        torch.default_generator.manual_seed(number)
        np.random.seed(number % 2**32)
        stream = training_stream(training.seed, NETWORK_BATCHES, state.epoch)
        order = torch.from_numpy(stream.permutation(training.train_size))
        value = torch.zeros(())
        for points in torch.split(order, training.batch):
            if coupled and len(points) == 1:
                continue
            chosen = points.to(user.x.device)
            x, y = user.x[chosen], user.y[chosen]
            value = loss(user.module(x if augment is None else augment(x)), y)
            state.optimizer.zero_grad()
            torch.autograd.backward(value)
            for group in state.optimizer.param_groups:
                group["lr"] = learning_rate(training, state.steps, total)
            state.optimizer.step()
            state.steps += 1
        state.epoch += 1
        if not bool(torch.isfinite(value.detach())):
            return False
        state.save()
    return True


def metric_names(loss: str) -> tuple[str, ...]:
    """What can decide whether two trainings with this loss are the same."""
    if loss == "mse":
        return ("test_mse", "train_loss", "weight_change")
    return ("test_error", "test_loss", "train_error", "train_loss", "alignment", "weight_change")


def _metrics(user: Loaded, loss: str) -> dict[str, float]:
    """Of the present weights, in evaluation mode."""
    train, test = outputs(user.module, user.x), outputs(user.module, user.test_x)
    train_loss = float(LOSSES[loss](train.double(), _exact(user.y)))
    test_loss = float(LOSSES[loss](test.double(), _exact(user.test_y)))
    if loss == "mse":
        return {"test_mse": test_loss, "train_loss": train_loss}
    return {
        "test_error": error(margins(test, user.test_y)),
        "test_loss": test_loss,
        "train_error": error(margins(train, user.y)),
        "train_loss": train_loss,
        "alignment": alignment(scores(test, user.test_y)),
    }


def _exact(y: Tensor) -> Tensor:
    return y.double() if y.is_floating_point() else y
