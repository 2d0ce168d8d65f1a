"""The paper's convolutional network, of the kind of MobileNet: one output, no normalisation layers.

With width `h`, kernel x kernel and stride:

    convolution 5x5 / 2         to 4h channels
    depth-wise 5x5              4h
    convolution 1x1             2h
    inverted residual block     h,  stride 2
    inverted residual block     h
    inverted residual block     3h, stride 2
    inverted residual block     3h
    convolution 1x1             20h
    mean over space
    linear with bias            1

A block is a 1x1 expansion by 3, a depth-wise 5x5 convolution that carries the stride, and a linear
1x1 convolution; where its output has the shape of its input `x` it is (x + block(x)) / sqrt(2).
There is an activation, divided by its root mean square under a standard Gaussian input, after every
convolution but the linear one of a block.

Unscaled weights are from N(0, 1), and the layers apply them times 1/(k sqrt(c_in)) for a k x k
convolution of `c_in` channels and 1/k for a depth-wise one. The last layer, with its bias, is
divided by its fan-in 20h; the bias starts at 0.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import Parameter, functional

from sgdphase.networks._activations import Activation
from sgdphase.networks._images import ImageNetwork

KERNEL = 5
EXPANSION = 3


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """How much to pad before and after so that the output has ceil(size / stride) places.

    The smaller half comes first, as in JAX and TensorFlow.

    >>> same_padding(32, 5, 2), same_padding(16, 5, 1), same_padding(7, 5, 2)
    ((1, 2), (2, 2), (2, 2))
    """
    total = max((math.ceil(size / stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


class Convolution(torch.nn.Module):
    """`gain`/(k sqrt(c_in)) times the convolution with unscaled weights; "same" padding, no bias.

    `gain` is 1/rms of the activation if that comes just before, so that activations themselves need
    no division.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        kernel: int,
        gain: float,
        generator: torch.Generator | None,
        *,
        groups: int = 1,
        stride: int = 1,
    ) -> None:
        super().__init__()
        outputs, fan = shape[1], shape[0] // groups
        self.weight = Parameter(torch.randn(outputs, fan, kernel, kernel, generator=generator))
        self.scale = gain / (kernel * math.sqrt(fan))
        self.kernel, self.stride, self.groups = kernel, stride, groups

    def forward(self, x: Tensor) -> Tensor:
        weight = self.weight * self.scale
        rows, columns = (same_padding(n, self.kernel, self.stride) for n in x.shape[2:])
        # torch pads both sides alike; and where the image is smaller than the kernel its gradient
        # is twice as fast with explicit padding.
        if rows[0] == rows[1] and columns[0] == columns[1] and min(x.shape[2:]) >= self.kernel:
            padding = (rows[0], columns[0])
        else:
            x, padding = functional.pad(x, (*columns, *rows)), (0, 0)
        return functional.conv2d(x, weight, None, self.stride, padding, 1, self.groups)


class Block(torch.nn.Module):
    """An inverted residual block; `gain_in` is the gain of its first layer."""

    def __init__(
        self,
        shape: tuple[int, int],
        stride: int,
        activate: Activation,
        gain_in: float,
        gain: float,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        inputs, outputs = shape
        inner = EXPANSION * inputs
        self._activate = activate
        self.expand = Convolution((inputs, inner), 1, gain_in, generator)
        self.depthwise = Convolution(
            (inner, inner), KERNEL, gain, generator, groups=inner, stride=stride
        )
        self.project = Convolution((inner, outputs), 1, gain, generator)

    def forward(self, x: Tensor) -> Tensor:
        inner = self._activate(self.depthwise(self._activate(self.expand(x))))
        y: Tensor = self.project(inner)
        return (x + y) * math.sqrt(0.5) if x.shape == y.shape else y


class MobileNet(ImageNetwork):
    """The paper's convolutional network: unscaled weights from N(0, 1), one output.

    Parameters
    ----------
    channels : int; of the images, at least 1
    width : int, default 32
        Unit `h` of the numbers of channels, at least 1.
    activation : {"relu", "gelu", "tanh"}, default "relu"
        After every convolution except the last one of a block.
    generator : torch.Generator, default torch's global one; draws the weights

    Examples
    --------
    >>> network = MobileNet(3, width=2, generator=torch.Generator().manual_seed(0))
    >>> network(torch.zeros(5, 3, 32, 32)).shape
    torch.Size([5])
    """

    def _make(self, channels: int, width: int, generator: torch.Generator | None) -> None:
        activate, gain, h = self._activate, 1 / self._rms, width
        self.first = Convolution((channels, 4 * h), KERNEL, 1.0, generator, stride=2)
        self.depthwise = Convolution((4 * h, 4 * h), KERNEL, gain, generator, groups=4 * h)
        self.mix = Convolution((4 * h, 2 * h), 1, gain, generator)
        # Only the first block sees an activation; 2h is not h, so it has no sum that needs it.
        self.blocks = torch.nn.Sequential(
            Block((2 * h, h), 2, activate, gain, gain, generator),
            Block((h, h), 1, activate, 1.0, gain, generator),
            Block((h, 3 * h), 2, activate, 1.0, gain, generator),
            Block((3 * h, 3 * h), 1, activate, 1.0, gain, generator),
        )
        self.widen = Convolution((3 * h, 20 * h), 1, 1.0, generator)
        self.weight = Parameter(torch.randn(20 * h, generator=generator))
        self.bias = Parameter(torch.zeros(()))
        self.gain = gain

    def _outputs(self, x: Tensor) -> Tensor:
        for layer in (self.first, self.depthwise, self.mix):
            x = self._activate(layer(x))
        x = self._activate(self.widen(self.blocks(x))).mean((2, 3))
        return (x.mv(self.weight) * self.gain + self.bias) / len(self.weight)
