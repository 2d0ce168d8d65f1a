"""The diagonal linear network: a linear function of the point, not of the weights.

With inputs `x` of dimension `d`, weights `u`, `v` of `d` numbers each, and `L` layers,

    f(x) = sum_i (u_i^L - v_i^L) x_i / sqrt(d),      u = v = 1 at the start, where f = 0.

While weights are near 1, `f` moves as a perceptron at `2 L^2` times the learning rate, and at
`L = 1` it is one always. Once `u^L - v^L` reaches 1, the weights that are large grow faster: few
coordinates are preferred. Nothing is drawn at the start; seeds differ in their data and batches.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import Parameter

from sgdphase.errors import require_whole


class DiagonalLinear(torch.nn.Module):
    """The diagonal linear network: `f = sum_i (u_i^depth - v_i^depth) x_i / sqrt(d)`.

    Parameters
    ----------
    inputs : int
        Coordinates of a point, at least 1.
    depth : int, default 2
        Power of the weights, at least 1; 1 is a perceptron.
    generator : torch.Generator, default None; not used, as all weights start at 1

    Examples
    --------
    >>> network = DiagonalLinear(4)
    >>> network.u.data = torch.tensor([3.0, 1.0, 1.0, 1.0])
    >>> network(torch.tensor([[1.0, 2.0, 3.0, 4.0]])).tolist()
    [4.0]
    """

    def __init__(
        self, inputs: int, *, depth: int = 2, generator: torch.Generator | None = None
    ) -> None:
        for name, value in (("inputs", inputs), ("depth", depth)):
            require_whole(name, value)
        super().__init__()
        self._depth, self._scale = depth, 1 / math.sqrt(inputs)
        self.u = Parameter(torch.ones(inputs))
        self.v = Parameter(torch.ones(inputs))

    def forward(self, x: Tensor) -> Tensor:
        """The outputs [n] for inputs `x` [n, ...], flattened from dimension 1 on."""
        weights = (self.u**self._depth - self.v**self._depth) * self._scale
        return x.flatten(1).mv(weights)
