"""How far the weights went: |w - w0| / |w0| over all unscaled weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor


def weight_change(module: torch.nn.Module, initial: Sequence[Tensor]) -> float:
    """|w - w0| / |w0| with `initial` the parameters at the start, in the module's order.

    Sums are in double precision.

    >>> line = torch.nn.Linear(2, 1, bias=False)
    >>> start = [torch.tensor([[3.0, 4.0]])]
    >>> line.weight.data = torch.tensor([[3.0, 5.0]])
    >>> weight_change(line, start)
    0.2
    """
    moved = length = 0.0
    trained = [weight for weight in module.parameters() if weight.requires_grad]
    for now, before in zip(trained, initial, strict=True):
        moved += float((now.detach() - before).cpu().double().square().sum())
        length += float(before.cpu().double().square().sum())
    return math.sqrt(moved / length) if length else math.nan
