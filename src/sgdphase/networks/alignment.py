"""The alignment `m = <y F(x)>` of the predictor with the labels, over the test set."""

from __future__ import annotations

from torch import Tensor


def alignment(z: Tensor) -> float:
    """The mean margin; with one output `z = y F`."""
    return float(z.cpu().double().mean())
