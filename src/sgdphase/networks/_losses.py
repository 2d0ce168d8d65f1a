"""Losses of the margin `z` of a point, in units of the margin `kappa` that a training must reach.

With one output `z = y F`; with several, `F` of the true class minus the largest of the others. All
are written as `kappa l(z / kappa)`, where `l` has slope -1 far below the margin, but for those that
are quadratic there:

- hinge: `(1 - u)+`
- quadratic hinge: `(1 - u)+^2 / 2`
- smooth hinge: `(1 - u)+^2 / 2` above 0 and `1/2 - u` below
- square: `(1 - u)^2 / 2`
- logistic: `log(1 + exp(-u))`; with several outputs the largest is replaced by
  `kappa log sum exp(F / kappa)`, which makes it the cross-entropy

The hinge loss is exactly 0 when every point has `z >= kappa`, and that ends a training;
`Training.goal` says when it ends with the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True)
class Loss:
    """`value(u)` at `u = z / kappa`.

    If `vanishes`, fitted points have no gradient, and a batch of such points changes nothing. If
    `soft`, the margin is that to the soft maximum of the other classes.
    """

    value: Callable[[Tensor], Tensor]
    vanishes: bool = False
    soft: bool = False


def _smooth_hinge(u: Tensor) -> Tensor:
    slack = functional.relu(1 - u)
    return torch.where(u > 0, 0.5 * slack * slack, 0.5 - u)


LOSSES = {
    "hinge": Loss(lambda u: functional.relu(1 - u), vanishes=True),
    "quadratic-hinge": Loss(lambda u: 0.5 * functional.relu(1 - u) ** 2),
    "smooth-hinge": Loss(_smooth_hinge),
    "square": Loss(lambda u: 0.5 * (1 - u) ** 2),
    "logistic": Loss(lambda u: functional.softplus(-u), soft=True),
}


def margins(F: Tensor, y: Tensor, softness: float = 0.0) -> Tensor:
    """`z` of each point: labels are +-1 for one output, numbers of classes for several.

    With a `softness` the soft maximum, at that scale, replaces the largest of the others.

    >>> F, y = torch.tensor([[1.0, 3.0, 0.0], [2.0, 5.0, 4.0]]), torch.tensor([1, 0])
    >>> margins(F, y).tolist()
    [2.0, -3.0]
    """
    if F.ndim == 1:
        return y * F
    true = F.gather(1, y[:, None])[:, 0]
    others = F.scatter(1, y[:, None], -torch.inf)
    if softness > 0:
        return true - softness * torch.logsumexp(others / softness, dim=1)
    return true - others.amax(dim=1)
