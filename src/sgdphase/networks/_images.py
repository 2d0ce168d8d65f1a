"""What networks of images share: their arguments, and the checks of them."""

from __future__ import annotations

import torch
from torch import Tensor

from sgdphase.errors import require_whole
from sgdphase.networks._activations import activation as activation_of


class ImageNetwork(torch.nn.Module):
    """A network with one output for each image; its layers are made in `_make`."""

    def __init__(
        self,
        channels: int,
        *,
        width: int = 32,
        activation: str = "relu",
        generator: torch.Generator | None = None,
    ) -> None:
        for name, value in (("channels", channels), ("width", width)):
            require_whole(name, value)
        super().__init__()
        self._activate, self._rms = activation_of(activation)
        self.activation = activation
        self._make(channels, width, generator)

    def _make(self, channels: int, width: int, generator: torch.Generator | None) -> None:
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """The outputs [n] for images `x` [n, channels, rows, columns]."""
        # On CPUs the gradient takes half the time with channels as the fastest index.
        return self._outputs(x.contiguous(memory_format=torch.channels_last))

    def _outputs(self, x: Tensor) -> Tensor:
        raise NotImplementedError
