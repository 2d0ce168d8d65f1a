"""The gradient noise scale of McCandlish et al., `tr(C) / |G|^2`, at the present weights.

`G` is the mean of the gradients `g_i` of the points' losses and `C` their covariance. The gradient
of a batch of this size scatters by as much as its mean. From the means `G_k` of `n` groups of
`b` points each,

    tr(C) = b/(n-1) sum_k |G_k - mean|^2,      |G|^2 = |mean|^2 - tr(C) / (n b),

both without bias.
"""

from __future__ import annotations

import math

import torch

from sgdphase._records import Training
from sgdphase.networks._fitting import Fitting
from sgdphase.networks._losses import LOSSES

# Enough groups for a tenth of precision in the scatter, enough points for the mean.
_GROUPS, _POINTS = 64, 2048


def noise_scale(fitting: Fitting, training: Training) -> float:
    """`tr(C) / |G|^2`; NaN if there is no gradient, or if it is lost in the scatter."""
    count = min(len(fitting.x), _POINTS)
    # Points that see each other have no gradient alone.
    size = max(count // _GROUPS, 2 if fitting.coupled else 1)
    if count < 2 * size:
        return math.nan
    loss = LOSSES[training.loss]
    groups, scatter, mean = count // size, 0.0, torch.zeros(())
    for number, points in enumerate(torch.split(torch.arange(groups * size), size), start=1):
        z = fitting.margins_with_gradient(points)
        value = loss.value(z / training.margin).mean() * training.margin
        parts = torch.autograd.grad(value, fitting.parameters, materialize_grads=True)
        gradient = torch.cat([part.flatten().double().cpu() for part in parts])
        # A running mean and variance: all gradients of a large network would not fit into memory.
        off = gradient - mean
        mean = mean + off / number
        scatter += float(off @ (gradient - mean))
    scatter *= size / (groups - 1)
    square = float((mean**2).sum()) - scatter / (size * groups)
    return scatter / square if square > 0 else math.nan
