"""The convolutional network's passes over points in compiled loops, on a CPU."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Module

from sgdphase.networks import _compiled_mobilenet as compiled
from sgdphase.networks._compiled_layers import KINDS
from sgdphase.networks._mobilenet import Block, Convolution, MobileNet, same_padding

Table = NDArray[Any]
Numbers = NDArray[np.float32]

# What they need stays in a core's cache, and weights are made ready for as many at once.
AT_A_TIME = 4


@dataclass(frozen=True, eq=False)
class Passes:
    """A network and images `x`; `plan` is its table of layers, `size` the values of a point.

    `layers` are the network's convolutions.
    """

    module: MobileNet
    x: Numbers
    plan: Table
    size: int
    layers: tuple[Convolution, ...]

    @classmethod
    def of(cls, module: Module, x: Tensor) -> Self | None:
        """For the paper's network with all weights trained, on a CPU; None for any other."""
        if type(module) is not MobileNet or x.device.type != "cpu" or x.ndim != 4:
            return None
        tensors = [*module.parameters(), x]
        if any(t.dtype != torch.float32 for t in tensors) or x.shape[2] != x.shape[3]:
            return None
        if not all(p.requires_grad for p in module.parameters()):
            return None
        layers = tuple(m for m in module.modules() if isinstance(m, Convolution))
        plan, size = _plan(module, x.shape[2])
        return cls(module, x.contiguous().numpy(), plan, size, layers)

    def outputs(self, points: Tensor | None = None) -> Tensor:
        """Of the points with these indices, by default of all."""
        chosen = np.arange(len(self.x)) if points is None else points.numpy()
        found = compiled.outputs(
            self.x, chosen, self._row(), self.plan, self.scales, self.kind, self.size, AT_A_TIME
        )
        return torch.from_numpy(found)

    def gradient(self, points: Tensor, slopes: Tensor) -> tuple[Tensor, ...]:
        """That of the outputs of some points times `slopes`, summed; in the parameters' order."""
        weights, head = compiled.gradient(
            self.x, points.numpy(), slopes.numpy(), self._row(), self.plan, self.scales, self.kind,
            self.size, AT_A_TIME,
        )  # fmt: skip
        of_head, of_bias = self.scales[:2].tolist()
        return torch.from_numpy(head * of_head), slopes.sum() * of_bias, *self._parts(weights)

    @property
    def scales(self) -> Numbers:
        """What the last layer, its bias and each convolution are multiplied by."""
        fan = len(self.module.weight)
        head = [self.module.gain / fan, 1 / fan]
        return np.array([*head, *(layer.scale for layer in self.layers)], np.float32)

    @property
    def kind(self) -> int:
        """The number of the activation."""
        return KINDS[self.module.activation]

    def _row(self) -> Numbers:
        row: Numbers = torch.cat([p.detach().flatten() for p in self.module.parameters()]).numpy()
        return row

    def _parts(self, row: Numbers) -> Iterator[Tensor]:
        """Of each convolution, in its shape and unscaled."""
        first = 0
        for layer in self.layers:
            shape, count = layer.weight.shape, layer.weight.numel()
            part = row[first : first + count].reshape(-1, shape[0]).T
            yield torch.from_numpy(part * np.float32(layer.scale)).reshape(shape)
            first += count


def _plan(module: MobileNet, size: int) -> tuple[Table, int]:
    """The layers for images of `size` rows, in order, and the number of values of a point."""
    rows: list[dict[str, int]] = []
    weights = values = 0

    def add(layer: Convolution, *, active: bool = True) -> dict[str, int]:
        nonlocal weights, values
        before = rows[-1] if rows else {"size_out": size, "here": -1}
        size_in, stride, channels = before["size_out"], layer.stride, len(layer.weight)
        kind = compiled.POINTWISE if layer.kernel == 1 else compiled.FULL
        row = {
            "kind": compiled.DEPTHWISE if layer.groups > 1 else kind,
            "size_in": size_in, "size_out": math.ceil(size_in / stride),
            "channels_in": layer.groups * layer.weight.shape[1], "channels_out": channels,
            "stride": stride, "pad": same_padding(size_in, layer.kernel, stride)[0],
            "weight": weights, "here": values, "below": before["here"],
            "active": active, "sum": -1, "also": -1,
        }  # fmt: skip
        rows.append(row)
        weights += layer.weight.numel()
        values += row["size_out"] ** 2 * channels
        return row

    for layer in (module.first, module.depthwise, module.mix):
        add(layer)
    for block in module.blocks:
        assert isinstance(block, Block)
        begin, _, end = add(block.expand), add(block.depthwise), add(block.project, active=False)
        if (begin["size_in"], begin["channels_in"]) == (end["size_out"], end["channels_out"]):
            end["sum"], begin["also"] = begin["below"], end["here"]
    add(module.widen)
    names = compiled.LAYER.names or ()
    return np.array([tuple(row[n] for n in names) for row in rows], compiled.LAYER), values
