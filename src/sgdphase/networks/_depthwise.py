"""Depth-wise convolution with a compiled gradient: torch's takes two to ten times as long."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

Padding = tuple[int, int]


def convolve(
    x: Tensor, weight: Tensor, stride: int, rows: Padding, columns: Padding, groups: int
) -> Tensor:
    """`conv2d` padded by `rows` before and after, and by `columns`."""
    # torch pads both sides alike; and where the image is smaller than the kernel it is faster with
    # explicit padding.
    if rows[0] == rows[1] and columns[0] == columns[1] and min(x.shape[2:]) >= weight.shape[2]:
        padding = (rows[0], columns[0])
    else:
        x, padding = functional.pad(x, (*columns, *rows)), (0, 0)
    return functional.conv2d(x, weight, None, stride, padding, 1, groups)


class Depthwise(torch.autograd.Function):
    """`convolve` with a kernel `weight` [channels, 1, k, k] per channel, on the CPU."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, stride: int, rows: Padding, columns: Padding
    ) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.where = stride, rows[0], columns[0]
        return convolve(x, weight, stride, rows, columns, len(weight))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        kernel = weight[:, 0].permute(1, 2, 0).contiguous().numpy()
        images, above = (z.permute(0, 2, 3, 1).contiguous().numpy() for z in (x, outer[0]))
        by_x, by_kernel = np.zeros_like(images), np.zeros_like(kernel)
        stride, top, left = ctx.where
        _pull_back(images, kernel, stride, top, left, above, by_x, by_kernel)
        by_weight = torch.from_numpy(by_kernel).permute(2, 0, 1)[:, None]
        return torch.from_numpy(by_x).permute(0, 3, 1, 2), by_weight, None, None, None


# Channels last. Sums may be reassociated, to vectorise them; nan and inf keep their meaning.
@njit(fastmath={"reassoc", "contract", "nsz"}, cache=True)
def _pull_back(x, kernel, stride, top, left, outer, by_x, by_kernel):  # type: ignore[no-untyped-def]
    of_one = np.empty_like(kernel)
    for n in range(outer.shape[0]):
        # Image by image: a sum over all of them at once would round more.
        of_one[:] = 0
        for i in range(outer.shape[1]):
            for k in range(max(0, top - i * stride), kernel.shape[0]):
                row = i * stride + k - top
                if row >= x.shape[1]:
                    break
                for j in range(outer.shape[2]):
                    for m in range(max(0, left - j * stride), kernel.shape[1]):
                        column = j * stride + m - left
                        if column >= x.shape[2]:
                            break
                        inner, by_inner = x[n, row, column], by_x[n, row, column]
                        weights, by_weights = kernel[k, m], of_one[k, m]
                        out = outer[n, i, j]
                        for c in range(out.size):
                            by_inner[c] += weights[c] * out[c]
                            by_weights[c] += inner[c] * out[c]
        by_kernel += of_one
