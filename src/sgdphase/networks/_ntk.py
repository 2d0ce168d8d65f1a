"""The neural tangent kernel on a set of points, and how much it changed.

    K(x, x') = grad f(x) . grad f(x'),    |Delta K| / |K_0| in Frobenius norm,

with the gradient over all weights that are trained. Far below 1, training is lazy: the network is
a kernel method with the kernel of its initialisation.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sgdphase.errors import InputError
from sgdphase.networks._fitting import is_whole, trained


def _gradients(module: torch.nn.Module, weights: tuple[Tensor, ...], x: Tensor) -> Tensor:
    """The Jacobian [n, number of weights].

    One backward pass per point: at these sizes that is as fast as a vectorised one, and it works
    for any module.
    """
    rows = x.new_empty(len(x), sum(weight.numel() for weight in weights), dtype=weights[0].dtype)
    with torch.enable_grad():
        for row, point in zip(rows, torch.split(x, 1), strict=True):
            parts = torch.autograd.grad(module(point), weights, materialize_grads=True)
            torch.cat([part.flatten() for part in parts], out=row)
    return rows


def ntk(module: torch.nn.Module, x: Tensor, *, memory: int = 2**28) -> Tensor:
    """The Gram matrix [n, n] of the kernel on the points `x` [n, ...].

    At most `memory` bytes of gradients are held at a time (but always two points'): if that is too
    little for all, blocks of them are computed again for each other block. The module is used in
    the mode it is in and must treat points independently; its weights and their `.grad` stay.

    >>> line = torch.nn.Linear(2, 1, bias=False)
    >>> ntk(line, torch.tensor([[1.0, 0.0], [1.0, 2.0]]))
    tensor([[1., 1.],
            [1., 5.]])
    """
    if is_whole(module):
        return module.kernel(x)
    weights = trained(module)
    if not weights:
        raise InputError("a module without weights to train: the kernel needs at least one")
    size = sum(weight.numel() * weight.element_size() for weight in weights)
    rows = len(x) if len(x) * size <= memory else max(memory // (2 * size), 1)
    blocks = torch.split(x, max(rows, 1))
    kernel = x.new_empty(len(x), len(x), dtype=weights[0].dtype)
    for i, left in enumerate(blocks):
        J = _gradients(module, weights, left)
        at = slice(i * rows, i * rows + len(left))
        kernel[at, at] = J @ J.T
        for j, right in enumerate(blocks[i + 1 :], i + 1):
            there = slice(j * rows, j * rows + len(right))
            kernel[at, there] = J @ _gradients(module, weights, right).T
            kernel[there, at] = kernel[at, there].T
    return kernel


def ntk_change(now: Tensor, before: Tensor) -> float:
    """|now - before| / |before| in Frobenius norm.

    >>> ntk_change(3 * torch.eye(4), torch.eye(4))
    2.0
    """
    return float((now - before).cpu().double().norm() / before.cpu().double().norm())
