"""Networks whose batches couple their points (BatchNorm).

A step uses the statistics of the batch. So does `f(w0, x)`, computed by a copy of the network at
its start for the same batch: the predictor is zero at the start, for any batch. An evaluation uses
the statistics of the training set, computed anew with the present weights, so that the predictor
depends on the weights alone and not on the last batches.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import torch
from torch import Tensor
from torch.nn import Module
from torch.nn.modules.batchnorm import _BatchNorm

from sgdphase.networks._fitting import CHUNK, Fitting, outputs, trained
from sgdphase.networks._losses import margins

# Training points that the statistics are taken from.
_STATISTICS = 2048


@dataclass(frozen=True, eq=False)
class CoupledFitting(Fitting):
    """`statistics` are the points that give the normalisation of an evaluation."""

    start: Module = field(default_factory=Module)
    statistics: Tensor = field(default_factory=lambda: torch.empty(0))

    @classmethod
    def of(cls, module: Module, x: Tensor, y: Tensor, softness: float = 0.0) -> Self:
        """The module as it is now is the start, and these are its training points."""
        return cls.looking_at(module, x, y, x[:_STATISTICS], softness)

    @classmethod
    def looking_at(
        cls, module: Module, x: Tensor, y: Tensor, statistics: Tensor, softness: float = 0.0
    ) -> Self:
        """Other points, with the statistics of the training points."""
        _take_statistics(module, statistics)
        at_start = outputs(module, x)
        start = copy.deepcopy(module).requires_grad_(False)
        return cls(module, x, y, at_start, trained(module), softness, start, statistics)

    @property
    def coupled(self) -> bool:
        return True

    def margins(self, points: Tensor | None = None) -> Tensor:
        _take_statistics(self.module, self.statistics)
        return super().margins(points)

    def margins_with_gradient(self, points: Tensor) -> Tensor:
        x = self.x[points]
        with _by_batch(self.module), _by_batch(self.start):
            outputs_now = self.module(x)
            with torch.no_grad():
                at_start = self.start(x)
        return margins(outputs_now - at_start, self.y[points], self.softness)


def batch_norms(module: Module) -> list[Any]:
    """The layers that normalise by the statistics of a batch."""
    return [layer for layer in module.modules() if isinstance(layer, _BatchNorm)]


@contextmanager
def _by_batch(module: Module) -> Iterator[None]:
    """Normalise by the batch; the statistics that are kept stay as they are."""
    layers = batch_norms(module)
    kept = [(layer.training, layer.track_running_stats) for layer in layers]
    for layer in layers:
        layer.training, layer.track_running_stats = True, False
    try:
        yield
    finally:
        for layer, (training, tracked) in zip(layers, kept, strict=True):
            layer.training, layer.track_running_stats = training, tracked


def _take_statistics(module: Module, x: Tensor) -> None:
    """Set the statistics that are kept to the averages over these points."""
    layers = [layer for layer in batch_norms(module) if layer.running_mean is not None]
    kept = [(layer.training, layer.momentum) for layer in layers]
    for layer in layers:
        layer.reset_running_stats()
        layer.training = True
    seen = 0
    with torch.no_grad():
        for part in torch.split(x, CHUNK):
            # A last part of one point has no statistics.
            if len(part) == 1 < len(x):
                continue
            seen += len(part)
            for layer in layers:
                # All points count alike, also those of a small last part.
                layer.momentum = len(part) / seen
            module(part)
    for layer, (training, momentum) in zip(layers, kept, strict=True):
        layer.training, layer.momentum = training, momentum
