"""Ways through batches in compiled steps, on a CPU: of the paper's two networks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sgdphase._records import Training
from sgdphase.networks import _mobilenet_steps, _window
from sgdphase.networks._batches import ahead
from sgdphase.networks._compiled_layers import KINDS
from sgdphase.networks._fc import FullyConnected
from sgdphase.networks._fitting import Fitting, is_whole
from sgdphase.networks._passes import AT_A_TIME, Passes
from sgdphase.networks._state import DivergedError, State, Watch

# The precision of the fully connected network's activations.
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
    own: tuple[tuple[Tensor, Tensor], ...]

    @classmethod
    def _of(cls, fitting: Fitting, carry: tuple[Tensor, ...], **more: Any) -> Self:
        parameters = fitting.parameters
        weights = torch.cat([p.detach().flatten() for p in parameters])
        rests = torch.zeros_like(weights)
        views, carries = (_views(row, parameters) for row in (weights, rests))
        own = tuple((parameter, parameter.data) for parameter in parameters)
        for parameter, view in zip(parameters, views, strict=True):
            parameter.data = view
        for old, new in zip(carry, carries, strict=False):  # none at the start
            new.copy_(old)
        data = (fitting.x.contiguous().numpy(), fitting.y.numpy(), fitting.at_start.numpy())
        return cls(data, weights.numpy(), rests.numpy(), carries, own, **more)

    def leave(self) -> None:
        """Give the weights back to the tensors of the module, which others may hold."""
        for parameter, own in self.own:
            own.copy_(parameter.data)
            parameter.data = own

    def go(self, training: Training, state: State, watch: Watch) -> bool:
        """Pass some batches, not beyond the step to be seen next; whether one was active."""
        many = min(self._at_a_time(state.distance, training.batch), watch.next - state.step)
        batches = ahead(training, state.step)[: min(many, training.step_limit - state.step)]
        pace = np.array([state.gap, state.share, state.active - state.step])
        changed, active, finite = self._pass(
            batches, training.lr / training.batch, training.margin, state.changed - state.step,
            pace,
        )  # fmt: skip
        state.changed = state.step + changed
        state.gap, state.share, last = pace.tolist()
        state.active = state.step + round(last)
        if not finite:
            raise DivergedError
        state.step += len(batches)
        if state.step >= watch.next:
            watch.look(state.step)
        return bool(active)

    def _at_a_time(self, gap: float, batch: int) -> int:
        """How many batches to pass at a time, if active ones are `gap` apart."""
        raise NotImplementedError

    def _pass(
        self, batches: Any, rate: float, short: float, changed: int, pace: NDArray[Any]
    ) -> tuple[int, int, bool]:
        """Pass them, with the meanings of `_window.walk`."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class _FcWalk(Walk):
    sizes: tuple[int, int, int]
    scales: tuple[float, ...]
    kind: int

    def _at_a_time(self, gap: float, batch: int) -> int:
        return max(round(min(_POINTS * math.sqrt(gap * batch), _MOST) / batch), 1)

    def _pass(
        self, batches: Any, rate: float, short: float, changed: int, pace: NDArray[Any]
    ) -> tuple[int, int, bool]:
        number = self.weights.dtype.type
        found: tuple[int, int, bool] = _window.walk(
            *self.data, batches, self.weights, self.carry, self.sizes,
            np.array([*self.scales, rate], number), self.kind, number(short), _CALL, changed, pace,
        )  # fmt: skip
        return found


@dataclass(frozen=True, eq=False)
class _MobileNetWalk(Walk):
    passes: Passes

    def _at_a_time(self, gap: float, batch: int) -> int:
        return max(_MOST // batch, 1)

    def _pass(
        self, batches: Any, rate: float, short: float, changed: int, pace: NDArray[Any]
    ) -> tuple[int, int, bool]:
        passes = self.passes
        found: tuple[int, int, bool] = _mobilenet_steps.walk(
            *self.data, batches, self.weights, self.carry, passes.plan, passes.scales, passes.kind,
            np.float32(rate), np.float32(short), (passes.size, AT_A_TIME), changed, pace,
        )  # fmt: skip
        return found


def walk_of(fitting: Fitting, batch: int, carry: tuple[Tensor, ...]) -> Walk | None:
    """For the network of a fitting; None if it is not one that can be trained so, or too large."""
    module, parameters = fitting.module, fitting.parameters
    if fitting.x.device.type != "cpu":
        return None
    if fitting.passes:
        return _MobileNetWalk._of(fitting, carry, passes=fitting.passes)
    if not is_whole(module) or batch > _BATCH:
        return None
    if any(p.dtype != _KIND or p.numel() > _WEIGHTS for p in parameters):
        return None
    return _fc_walk(fitting, module, carry)


def _fc_walk(fitting: Fitting, module: FullyConnected, carry: tuple[Tensor, ...]) -> Walk:
    inputs, width = module.first_weight.shape
    flat = replace(fitting, x=fitting.x.flatten(1))
    return _FcWalk._of(
        flat, carry, sizes=(inputs, width, len(fitting.parameters) - 1), scales=module.scales,
        kind=KINDS[module.activation],
    )  # fmt: skip


def _views(row: Tensor, like: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    parts = torch.split(row, [tensor.numel() for tensor in like])
    return tuple(part.view_as(tensor) for part, tensor in zip(parts, like, strict=True))
