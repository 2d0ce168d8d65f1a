"""The fully connected network's way through batches in compiled steps, on a CPU."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sgdphase._records import Training
from sgdphase.networks._batches import ahead
from sgdphase.networks._compiled_layers import KINDS
from sgdphase.networks._fitting import Fitting, is_whole
from sgdphase.networks._state import DivergedError, State, Watch
from sgdphase.networks._window import walk

# The precision of its activations.
_KIND = torch.float32
# Above so many weights of a layer, or points in a batch, torch spends its time on the products.
_WEIGHTS, _BATCH = 2**19, 2048
# A window has this many points times the root of the distance of active points. The end of a window
# costs a pass over the first layer; a step costs a correction of that layer at all later points.
_POINTS, _MOST = 32, 512
# What the look at some batches costs whatever their number, in points; not critical.
_CALL = 2.5


@dataclass(frozen=True, eq=False)
class Walk:
    """The points and weights of a network; `weights` and `carry` are those of all layers in a row.

    Meanwhile the parameters of the module are views of `weights`, and `carries` of `carry`; `own`
    are the parameters with the tensors that they were.
    """

    data: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    weights: NDArray[Any]
    carry: NDArray[Any]
    carries: tuple[Tensor, ...]
    sizes: tuple[int, int, int]
    scales: tuple[float, ...]
    kind: int
    own: tuple[tuple[Tensor, Tensor], ...]

    @classmethod
    def of(cls, fitting: Fitting, batch: int, carry: tuple[Tensor, ...]) -> Self | None:
        """For the network of a fitting; None if it is not one that it can train, or too large."""
        module, parameters = fitting.module, fitting.parameters
        if not is_whole(module) or fitting.x.device.type != "cpu" or batch > _BATCH:
            return None
        if any(p.dtype != _KIND or p.numel() > _WEIGHTS for p in parameters):
            return None
        inputs, width = module.first_weight.shape
        weights = torch.cat([p.detach().flatten() for p in parameters])
        rests = torch.zeros_like(weights)
        views, carries = (_views(row, parameters) for row in (weights, rests))
        own = tuple((parameter, parameter.data) for parameter in parameters)
        for parameter, view in zip(parameters, views, strict=True):
            parameter.data = view
        for old, new in zip(carry, carries, strict=False):  # none at the start
            new.copy_(old)
        x, y, at_start = fitting.x.flatten(1).contiguous(), fitting.y, fitting.at_start
        return cls(
            (x.numpy(), y.numpy(), at_start.numpy()), weights.numpy(), rests.numpy(), carries,
            (inputs, width, len(parameters) - 1), module.scales, KINDS[module.activation],
            own,
        )  # fmt: skip

    def leave(self) -> None:
        """Give the weights back to the tensors of the module, which others may hold."""
        for parameter, own in self.own:
            own.copy_(parameter.data)
            parameter.data = own

    def go(self, training: Training, state: State, watch: Watch) -> bool:
        """Pass some batches, not beyond the step to be seen next; whether one was active."""
        many = min(_window(state.distance, training.batch), watch.next - state.step)
        batches = ahead(training, state.step)[: min(many, training.step_limit - state.step)]
        scales = np.array([*self.scales, training.lr / training.batch], self.weights.dtype)
        short = self.weights.dtype.type(training.margin)
        means = np.array([state.gap, state.share])
        changed, active, finite = walk(
            *self.data, batches, self.weights, self.carry, self.sizes, scales, self.kind, short,
            _CALL, state.changed - state.step, means,
        )  # fmt: skip
        state.changed = state.step + changed
        state.gap, state.share = means.tolist()
        if not finite:
            raise DivergedError
        state.step += len(batches)
        if state.step >= watch.next:
            watch.look(state.step)
        return bool(active)


def _window(gap: float, batch: int) -> int:
    """How many batches to pass at a time, if active ones are `gap` apart."""
    return max(round(min(_POINTS * math.sqrt(gap * batch), _MOST) / batch), 1)


def _views(row: Tensor, like: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    parts = torch.split(row, [tensor.numel() for tensor in like])
    return tuple(part.view_as(tensor) for part, tensor in zip(parts, like, strict=True))
