"""The paper's fully connected network: one output, no biases.

With inputs `x` of dimension `d`, hidden layers of width `h` and unscaled weights from N(0, 1),

    z_1 = W_1 x / sqrt(d),    z_{l+1} = W_{l+1} a(z_l) / sqrt(h),    f = w a(z_L) / h,

where `a` is the activation divided by its root mean square under a standard Gaussian input. So for
`|x|^2 = d` pre-activations have variance 1 in every layer of a wide network, and the output has
variance `1/h`. The gradient is with respect to the unscaled weights, which fixes the meaning of the
learning rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from sgdphase.errors import require_whole
from sgdphase.networks._activations import WAYS_BACK
from sgdphase.networks._activations import activation as activation_of


class FullyConnected(torch.nn.Module):
    """The paper's fully connected network: unscaled weights from N(0, 1), one output, no biases.

    Weights are named `weight_1` to `weight_{depth+1}` and have shape [fan-in, fan-out].

    Parameters
    ----------
    inputs : int
        Coordinates of a point, at least 1.
    depth : int, default 5
        Hidden layers, at least 1.
    width : int, default 128
        Neurons per layer, at least 1.
    activation : {"relu", "gelu", "tanh"}, default "gelu"
        Applied after each hidden layer.
    generator : torch.Generator, default torch's global one; draws the weights

    Examples
    --------
    >>> network = FullyConnected(784, generator=torch.Generator().manual_seed(0))
    >>> network(torch.zeros(3, 28, 28)).shape
    torch.Size([3])
    """

    def __init__(
        self,
        inputs: int,
        *,
        depth: int = 5,
        width: int = 128,
        activation: str = "gelu",
        generator: torch.Generator | None = None,
    ) -> None:
        for name, value in (("inputs", inputs), ("depth", depth), ("width", width)):
            require_whole(name, value)
        super().__init__()
        self._activate, rms = activation_of(activation)
        self.activation = activation
        self._back = WAYS_BACK[activation]
        widths = [inputs, *[width] * depth, 1]
        self._names = [f"weight_{layer}" for layer in range(1, depth + 2)]
        for name, fan_in, fan_out in zip(self._names, widths, widths[1:], strict=False):
            weight = torch.randn(fan_in, fan_out, generator=generator)
            self.register_parameter(name, torch.nn.Parameter(weight))
        # Activations are scaled rather than weights, which are larger: by 1/rms and by the scale of
        # the next layer at once.
        self._scale_in = 1 / math.sqrt(inputs)
        hidden = [1 / (rms * math.sqrt(width))] * (depth - 1)
        self._scales = [*hidden, 1 / (rms * width)]

    @property
    def first_weight(self) -> Tensor:
        """The unscaled weights of the first layer, [inputs, width]."""
        return self.get_parameter("weight_1")

    @property
    def scales(self) -> tuple[float, ...]:
        """What the inputs of each layer are multiplied by."""
        return self._scale_in, *self._scales

    def forward(self, x: Tensor) -> Tensor:
        """The outputs [n] for inputs `x` [n, ...], flattened from dimension 1 on."""
        return self.layers(x)[-1].squeeze(1)

    def layers(self, x: Tensor) -> list[Tensor]:
        """`z_1` to `z_L` and the outputs for inputs `x`, [n, fan-out] each."""
        first, *rest = self._weights()
        z = [x.flatten(1).mm(first) * self._scale_in]
        for weight, scale in zip(rest, self._scales, strict=True):
            z.append((self._activate(z[-1]) * scale).mm(weight))
        return z

    @torch.no_grad()
    def pull_back(self, x: Tensor, layers: Sequence[Tensor], slopes: Tensor) -> tuple[Tensor, ...]:
        """The gradient of the outputs times `slopes`, summed; from the `layers` of inputs `x`.

        Autograd would need a pass of its own, and its overhead exceeds the products of few points.
        """
        pairs = list(self._factors(x, layers, slopes))
        return tuple(below.t().mm(above) for below, above in reversed(pairs))

    @torch.no_grad()
    def kernel(self, x: Tensor) -> Tensor:
        """The Gram matrix [n, n] of the gradients at inputs `x`, without the gradients."""
        pairs = self._factors(x, self.layers(x), x.new_ones(len(x)))
        products = [below.mm(below.t()) * above.mm(above.t()) for below, above in pairs]
        return torch.stack(products).sum(0)

    def _factors(
        self, x: Tensor, layers: Sequence[Tensor], slopes: Tensor
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Of each weight, the last first, the two factors of each point's gradient."""
        above = slopes[:, None]
        for weight, scale, z in reversed(
            list(zip(self._weights()[1:], self._scales, layers, strict=False))
        ):
            above = above * scale
            yield self._activate(z), above
            above = self._back(above.mm(weight.t()), z)
        yield x.flatten(1), above * self._scale_in

    def _weights(self) -> list[Tensor]:
        return [getattr(self, name) for name in self._names]


@contextmanager
def without_onednn() -> Iterator[None]:
    """Through oneDNN an activation of few points takes five times as long, most of it set-up."""
    backend: Any = torch.backends.mkldnn
    before, backend.enabled = backend.enabled, False
    try:
        yield
    finally:
        backend.enabled = before
