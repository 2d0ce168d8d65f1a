"""Numbers that are observed of outputs, margins and weights; the error with early stopping."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from sgdphase.networks._fitting import trained


def scores(F: Tensor, y: Tensor) -> Tensor:
    """How far each point is on the right side: `y F`, or `F` of its class minus the others' mean.

    Both are linear in the outputs, so that what is proportional to the learning rate stays so, and
    positive on average as soon as the outputs know anything of the labels. (The margin, to the
    largest of the others, is neither: with several classes it is negative until most are right.)

    >>> F, y = torch.tensor([[1.0, 3.0, 0.0], [2.0, 5.0, 4.0]]), torch.tensor([1, 0])
    >>> scores(F, y).tolist()
    [2.5, -2.5]
    """
    if F.ndim == 1:
        return y * F
    true = F.gather(1, y[:, None])[:, 0]
    return true - (F.sum(dim=1) - true) / (F.shape[1] - 1)


def alignment(scores: Tensor) -> float:
    """Of the predictor with the labels: the mean score."""
    return float(scores.cpu().double().mean())


def error(z: Tensor) -> float:
    """The fraction of points on the wrong side (`z <= 0`)."""
    return float((z <= 0).cpu().double().mean()) if z.isfinite().all() else math.nan


def unfitted(z: Tensor, short: float) -> float:
    """The fraction of points with a margin below `short`."""
    return float((z < short).cpu().double().mean()) if z.isfinite().all() else math.nan


def weight_change(module: torch.nn.Module, initial: Sequence[Tensor]) -> float:
    """How far the unscaled weights went: |w - w0| / |w0|, with `initial` those at the start.

    Sums are in double precision.

    >>> line = torch.nn.Linear(2, 1, bias=False)
    >>> start = [torch.tensor([[3.0, 4.0]])]
    >>> line.weight.data = torch.tensor([[3.0, 5.0]])
    >>> weight_change(line, start)
    0.2
    """
    moved = length = 0.0
    for now, before in zip(trained(module), initial, strict=True):
        moved += float((now.detach() - before).cpu().double().square().sum())
        length += float(before.cpu().double().square().sum())
    return math.sqrt(moved / length) if length else math.nan


def early_stopped(steps: Sequence[float], test_errors: Sequence[float]) -> tuple[float, float]:
    """The lowest test error during training and the first step that had it (SI, Figs. S5 and S6).

    NaN without any.

    >>> early_stopped([1, 2, 4], [0.5, 0.25, 0.25])
    (0.25, 2)
    """
    pairs = [(e, s) for e, s in zip(test_errors, steps, strict=True) if not math.isnan(e)]
    return min(pairs, default=(math.nan, math.nan))
