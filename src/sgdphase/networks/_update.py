"""The change of the weights in a step, summed with compensation.

Near gradient descent a step is smaller than the last digit of a weight, and would be lost: the
rounding error is carried over to the next step.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from sgdphase._compiled import kept
from sgdphase._records import Training
from sgdphase.networks._compiled_layers import add_at

Tensors = tuple[Tensor, ...]

_COMPILED = {torch.float32: np.float32, torch.float64: np.float64}


@torch.no_grad()
def update(
    weights: Tensors, gradient: Tensors, training: Training, velocity: Tensors, carry: Tensors
) -> None:
    """`v <- m v - lr (g + decay w + l1 sign(w))`, `w <- w + v`, in place.

    Without momentum `velocity` is ().
    """
    if training.weight_decay > 0:
        gradient = tuple(torch._foreach_add(gradient, weights, alpha=training.weight_decay))
    if training.l1 > 0:
        signs = torch._foreach_sign(weights)
        gradient = tuple(torch._foreach_add(gradient, signs, alpha=training.l1))
    factor = -training.lr
    if velocity:
        torch._foreach_mul_(velocity, training.momentum)
        torch._foreach_add_(velocity, gradient, alpha=factor)
        gradient, factor = velocity, 1.0
    for weight, part, rest in zip(weights, gradient, carry, strict=True):
        _add(weight, part, rest, factor)


def _add(weight: Tensor, part: Tensor, rest: Tensor, factor: float) -> None:
    """`weight += factor * part`, with the rounding error in `rest`."""
    kind = _COMPILED.get(weight.dtype)
    if kind and weight.device.type == "cpu" and weight.is_contiguous() and rest.is_contiguous():
        w, g, c = (tensor.detach().reshape(-1).numpy() for tensor in (weight, part, rest))
        _add_compiled(w, g, c, kind(factor))
        return
    rest.add_(part, alpha=factor)
    before = weight.clone()
    weight.add_(rest)
    rest.add_(before.sub_(weight))


# One pass over memory; torch would make six. No fastmath: the point is in the order of the sums.
@kept()
def _add_compiled(weight, part, rest, factor):  # type: ignore[no-untyped-def]
    for i in range(weight.size):
        add_at(weight, rest, i, factor * part[i])
