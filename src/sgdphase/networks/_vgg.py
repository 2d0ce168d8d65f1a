"""VGG11 and a plain convolutional network, in the paper's parametrisation: one output.

With width `h`; every convolution has "same" padding, a bias and an activation, and `pool` is the
maximum over 2 x 2 places (the last row or column alone where their number is odd):

    VGG11                                       plain CNN
    convolution 3x3 to h, pool                  convolution 5x5 to h, pool
    convolution 3x3 to 2h, pool                 convolution 5x5 to 2h, pool
    2 convolutions 3x3 to 4h, pool              linear to 32h, with bias, without activation
    2 convolutions 3x3 to 8h, pool              linear to 1
    2 convolutions 3x3 to 8h, pool
    mean over the places that are left
    2 layers to 64h, with bias and activation
    linear to 1

Five times pooled, one place is left of images of up to 32 x 32.

Unscaled weights and biases are from N(0, 1). With `n` inputs of a neuron (`k k c` for a k x k
convolution of `c` channels) a layer gives `(W x + b) / sqrt(n + 1)`; the last one `w x / n`. The
activation is divided by its root mean square under a standard Gaussian input.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import Parameter, functional

from sgdphase.networks._images import ImageNetwork


class _Layer(torch.nn.Module):
    """`(W x + b) / sqrt(n + 1)`: a convolution of images, or with `kernel` 0 of vectors."""

    def __init__(
        self, shape: tuple[int, int], kernel: int, generator: torch.Generator | None
    ) -> None:
        super().__init__()
        inputs, outputs = shape
        places = (kernel, kernel) if kernel else ()
        self.weight = Parameter(torch.randn(outputs, inputs, *places, generator=generator))
        self.bias = Parameter(torch.randn(outputs, generator=generator))
        self._scale = 1 / math.sqrt(inputs * math.prod(places) + 1)
        self._padding = kernel // 2

    def forward(self, x: Tensor) -> Tensor:
        weight, bias = self.weight * self._scale, self.bias * self._scale
        if weight.ndim == 2:
            return functional.linear(x, weight, bias)
        return functional.conv2d(x, weight, bias, padding=self._padding)


class _Convolutional(ImageNetwork):
    """Convolutions of a `kernel`; `layers` are their channels, in widths, and whether to pool."""

    kernel: ClassVar[int]
    layers: ClassVar[tuple[tuple[int, bool], ...]]

    def _make(self, channels: int, width: int, generator: torch.Generator | None) -> None:
        sizes = [channels, *(times * width for times, _ in self.layers)]
        self.convolutions = torch.nn.ModuleList(
            _Layer(shape, self.kernel, generator) for shape in pairwise(sizes)
        )

    def _scaled(self, x: Tensor) -> Tensor:
        return self._activate(x) / self._rms

    def _convolved(self, x: Tensor) -> Tensor:
        for layer, (_, pool) in zip(self.convolutions, self.layers, strict=True):
            x = self._scaled(layer(x))
            x = functional.max_pool2d(x, 2, ceil_mode=True) if pool else x
        return x


class VGG11(_Convolutional):
    """VGG11 with unscaled weights and biases from N(0, 1), one output.

    Parameters
    ----------
    channels : int; of the images, at least 1
    width : int, default 32
        Unit `h` of the numbers of channels, at least 1; 64 is the original.
    activation : {"relu", "gelu", "tanh"}, default "relu"
        After every layer except the last one.
    generator : torch.Generator, default torch's global one; draws the weights

    Examples
    --------
    >>> network = VGG11(3, width=2, generator=torch.Generator().manual_seed(0))
    >>> network(torch.zeros(5, 3, 32, 32)).shape
    torch.Size([5])
    """

    kernel = 3
    layers = ((1, True), (2, True), (4, False), (4, True), (8, False), (8, True), (8, False),
              (8, True))  # fmt: skip

    def _make(self, channels: int, width: int, generator: torch.Generator | None) -> None:
        super()._make(channels, width, generator)
        self.hidden = torch.nn.ModuleList(
            _Layer(shape, 0, generator) for shape in ((8 * width, 64 * width), (64 * width,) * 2)
        )
        self.weight = Parameter(torch.randn(64 * width, generator=generator))

    def _outputs(self, x: Tensor) -> Tensor:
        x = self._convolved(x).mean((2, 3))
        for layer in self.hidden:
            x = self._scaled(layer(x))
        return x.mv(self.weight) / len(self.weight)


class PlainCNN(_Convolutional):
    """Two convolutions and two linear layers: unscaled weights and biases from N(0, 1), one output.

    Parameters
    ----------
    channels : int; of the images, at least 1
    size : tuple of two int; rows and columns of the images
    width : int, default 32
        Channels `h` of the first layer, at least 1.
    activation : {"relu", "gelu", "tanh"}, default "relu"
        After each convolution.
    generator : torch.Generator, default torch's global one; draws the weights

    Examples
    --------
    >>> network = PlainCNN(1, size=(28, 28), width=2, generator=torch.Generator().manual_seed(0))
    >>> network(torch.zeros(5, 1, 28, 28)).shape
    torch.Size([5])
    """

    kernel = 5
    layers = ((1, True), (2, True))

    def __init__(
        self,
        channels: int,
        *,
        size: tuple[int, int],
        width: int = 32,
        activation: str = "relu",
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(channels, width=width, activation=activation, generator=generator)
        places = math.prod(math.ceil(side / 4) for side in size)
        self.hidden = _Layer((2 * width * places, 32 * width), 0, generator)
        self.weight = Parameter(torch.randn(32 * width, generator=generator))

    def _outputs(self, x: Tensor) -> Tensor:
        x = self.hidden(self._convolved(x).flatten(1))
        return x.mv(self.weight) / len(self.weight)
