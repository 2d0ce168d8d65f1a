"""A network, the points it is to fit, and their margins.

The predictor is `F(x) = f(w, x) - f(w0, x)`, zero at the start; `f(w0, x)` is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor
from torch.nn import Module

from sgdphase.networks._losses import margins

# Points at a time in an evaluation: enough to keep a core busy, small enough for its cache.
CHUNK = 512


@dataclass(frozen=True, eq=False)
class Fitting:
    """The module (changed in place by training) and its points with `f(w0, x)`.

    `softness` is that of the margins.
    """

    module: Module
    x: Tensor
    y: Tensor
    at_start: Tensor
    parameters: tuple[Tensor, ...]
    softness: float = 0.0

    @classmethod
    def of(cls, module: Module, x: Tensor, y: Tensor, softness: float = 0.0) -> Self:
        """The module as it is now is the start `w0`."""
        return cls(module, x, y, outputs(module, x), trained(module), softness)

    @property
    def coupled(self) -> bool:
        """Whether the output for a point depends on the others of its batch."""
        return False

    def margins(self, points: Tensor | None = None) -> Tensor:
        """`z` of the points with these indices, by default of all, without a gradient."""
        chosen = slice(None) if points is None else points
        outputs_now = outputs(self.module, self.x[chosen])
        return margins(outputs_now - self.at_start[chosen], self.y[chosen], self.softness)

    def margins_with_gradient(self, points: Tensor) -> Tensor:
        """`z` of the points with these indices, to be differentiated."""
        outputs_now = self.module(self.x[points])
        return margins(outputs_now - self.at_start[points], self.y[points], self.softness)


def trained(module: Module) -> tuple[Tensor, ...]:
    """The weights that are trained."""
    return tuple(p for p in module.parameters() if p.requires_grad)


def outputs(module: Module, x: Tensor) -> Tensor:
    """`f(w, x)` without a gradient, in chunks."""
    with torch.no_grad():
        if len(x) <= CHUNK:
            return module(x)  # type: ignore[no-any-return]
        return torch.cat([module(part) for part in torch.split(x, CHUNK)])
