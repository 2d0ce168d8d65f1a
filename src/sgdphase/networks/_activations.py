"""Activations, each with its way back and its root mean square under a standard Gaussian input.

    relu     E[max(z, 0)^2] = 1/2
    gelu     E[(z Phi(z))^2] = 1/3 + 1/(2 pi sqrt(3))
    tanh     E[tanh(z)^2], by quadrature

The second follows from Gaussian integration by parts: with the density `phi`,
E[z . z Phi^2] = E[Phi^2] + 2 E[z Phi phi], where E[Phi^2] = 1/3 since `Phi(z)` is uniform, and
E[z Phi phi] = (1/2) int phi^3 = 1/(4 pi sqrt(3)), since (phi^2)' = -2 z phi^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from scipy import integrate
from torch import Tensor
from torch.nn import functional

from sgdphase.errors import InputError

Activation = Callable[[Tensor], Tensor]
# From the gradient by the value, and the input, the gradient by the input.
WayBack = Callable[[Tensor, Tensor], Tensor]


def _tanh_square() -> float:
    # Beyond 40 the Gaussian weight is below the smallest double.
    value, _ = integrate.quad(lambda z: math.tanh(z) ** 2 * math.exp(-z * z / 2), 0.0, 40.0)
    return 2.0 * float(value) / math.sqrt(2.0 * math.pi)


ACTIVATIONS: dict[str, tuple[Activation, float]] = {
    "relu": (functional.relu, math.sqrt(1 / 2)),
    "gelu": (functional.gelu, math.sqrt(1 / 3 + 1 / (2 * math.pi * math.sqrt(3)))),
    "tanh": (torch.tanh, math.sqrt(_tanh_square())),
}


WAYS_BACK: dict[str, WayBack] = {
    "relu": lambda g, z: torch.ops.aten.threshold_backward(g, z, 0),
    "gelu": lambda g, z: torch.ops.aten.gelu_backward(g, z),
    "tanh": lambda g, z: torch.ops.aten.tanh_backward(g, torch.tanh(z)),
}


def activation(name: str) -> tuple[Activation, float]:
    """The function, and its root mean square under a standard Gaussian input.

    >>> activation("relu")[1] ** 2
    0.5000000000000001
    >>> activation("cubic")
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: activation = 'cubic': must be one of relu, gelu, tanh
    """
    if name not in ACTIVATIONS:
        raise InputError(f"activation = {name!r}: must be one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]
