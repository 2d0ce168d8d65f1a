"""A network, the points it is to fit, and their margins.

The predictor is `F(x) = f(w, x) - f(w0, x)`, zero at the start; `f(w0, x)` is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeGuard

import torch
from torch import Tensor
from torch.nn import Module

from sgdphase.networks._fc import FullyConnected
from sgdphase.networks._losses import margins
from sgdphase.networks._passes import Passes

Gradient = tuple[Tensor, ...]

# Points at a time in an evaluation: enough to keep a core busy, small enough for its cache.
CHUNK = 512
# And numbers in them: images have many activations per point.
_NUMBERS = 2**18


@dataclass(frozen=True, eq=False)
class Look:
    """Margins `z` of some points; `gradient(rows, slope)` is that of `slope * z[rows].sum()`."""

    z: Tensor
    gradient: Callable[[Tensor, float], Gradient]


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

    @property
    def call(self) -> float:
        """What a call of the network costs, in points; measured on one core, and not critical."""
        return 1.0 if self.passes else 16.0

    @cached_property
    def passes(self) -> Passes | None:
        """Of the paper's convolutional network, compiled; None if it is another."""
        return Passes.of(self.module, self.x)

    def margins(self, points: Tensor | None = None) -> Tensor:
        """`z` of the points with these indices, by default of all, without a gradient."""
        if points is None:
            return self._margins(outputs(self.module, self.x), slice(None))
        if self.passes:
            return self._margins(self.passes.outputs(points), points)
        parts = [outputs(self.module, self._inputs(part)) for part in self.split(points)]
        return self._margins(torch.cat(parts), points)

    def margins_with_gradient(self, points: Tensor) -> Tensor:
        """`z` of the points with these indices, to be differentiated."""
        return self._margins(self.module(self._inputs(points)), points)

    def look(self, points: Tensor, *, for_gradient: bool = False) -> Look:
        """The margins of some points, most of whose gradients are wanted or only a few."""
        # Not of very many: what the gradient needs is kept of all of them.
        if is_whole(self.module) and len(points) <= 4 * CHUNK:
            return self._by_hand(self.module, points)
        if passes := self.passes:

            def compiled(rows: Tensor, slope: float) -> Gradient:
                return passes.gradient(points[rows], slope * self.y[points[rows]])

            return Look(self.margins(points), compiled)
        if for_gradient:
            z = self.margins_with_gradient(points)
            return Look(z.detach(), lambda rows, slope: self.gradient(slope * z[rows].sum()))

        def anew(rows: Tensor, slope: float) -> Gradient:
            return total(
                self.gradient(slope * self.margins_with_gradient(some).sum())
                for some in self.split(points[rows])
            )

        return Look(self.margins(points), anew)

    def split(self, points: Tensor) -> tuple[Tensor, ...]:
        """The points in parts that are evaluated at a time."""
        return torch.split(points, _chunk(self.x))

    def _by_hand(self, module: FullyConnected, points: Tensor) -> Look:
        """One pass gives margins and gradient."""
        with torch.no_grad():
            x = self._inputs(points)
            layers = module.layers(x)

            def gradient(rows: Tensor, slope: float) -> Gradient:
                slopes = slope * self.y[points[rows]]
                rows = rows.to(x.device)
                chosen = [z.index_select(0, rows) for z in layers[:-1]]
                return module.pull_back(x.index_select(0, rows), chosen, slopes)

            return Look(self._margins(layers[-1][:, 0], points), gradient)

    def gradient(self, value: Tensor) -> Gradient:
        """Of a value that comes from `margins_with_gradient`."""
        return torch.autograd.grad(value, self.parameters, materialize_grads=True)

    def _inputs(self, points: Tensor) -> Tensor:
        # A fifth of the time of self.x[points].
        return self.x.index_select(0, points.to(self.x.device))

    def _margins(self, outputs_now: Tensor, chosen: Tensor | slice) -> Tensor:
        return margins(outputs_now - self.at_start[chosen], self.y[chosen], self.softness)


def total(gradients: Iterable[Gradient]) -> Gradient:
    """The sum of at least one."""
    first, *others = gradients
    for other in others:
        torch._foreach_add_(first, other)
    return first


def is_whole(module: Module) -> TypeGuard[FullyConnected]:
    """Whether it is the paper's network with all weights trained: its gradient is by hand."""
    return type(module) is FullyConnected and all(p.requires_grad for p in module.parameters())


def trained(module: Module) -> tuple[Tensor, ...]:
    """The weights that are trained."""
    return tuple(p for p in module.parameters() if p.requires_grad)


def outputs(module: Module, x: Tensor) -> Tensor:
    """`f(w, x)` without a gradient, in chunks."""
    if passes := Passes.of(module, x):
        return passes.outputs()
    with torch.no_grad():
        chunk = _chunk(x)
        if len(x) <= chunk:
            return module(x)  # type: ignore[no-any-return]
        return torch.cat([module(part) for part in torch.split(x, chunk)])


def _chunk(x: Tensor) -> int:
    return max(min(CHUNK, _NUMBERS * len(x) // max(x.numel(), 1)), 1)
