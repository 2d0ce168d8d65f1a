"""The gradient noise scale of McCandlish et al., `tr(C) / |G|^2`, at the present weights.

`G` is the mean of the gradients `g_i` of the points' losses and `C` their covariance. A batch of
this size has a gradient whose scatter is as large as itself. From the means `G_k` of `n` groups of
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

# Groups enough to know the scatter within a tenth, points enough to know the mean.
_GROUPS, _POINTS = 64, 2048


def noise_scale(fitting: Fitting, training: Training) -> float:
    """NaN where the points have no gradient, or where it drowns in the scatter."""
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
        found = torch.cat([part.flatten().double().cpu() for part in parts])
        # Means and squares as they come: a large network has no room for all its gradients.
        off = found - mean
        mean = mean + off / number
        scatter += float(off @ (found - mean))
    scatter *= size / (groups - 1)
    square = float((mean**2).sum()) - scatter / (size * groups)
    return scatter / square if square > 0 else math.nan
