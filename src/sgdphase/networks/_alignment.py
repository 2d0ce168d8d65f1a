"""The alignment of the predictor with the labels: the mean score over the test set."""

from __future__ import annotations

from torch import Tensor


def scores(F: Tensor, y: Tensor) -> Tensor:
    """How far each point is on the right side: `y F`, or `F` of its class minus the others' mean.

    Both are linear in the outputs, so that what is proportional to the learning rate stays so, and
    positive on average as soon as the outputs know anything of the labels. (The margin, to the
    largest of the others, is neither: with several classes it is negative until most are right.)

    >>> import torch
    >>> F, y = torch.tensor([[1.0, 3.0, 0.0], [2.0, 5.0, 4.0]]), torch.tensor([1, 0])
    >>> scores(F, y).tolist()
    [2.5, -2.5]
    """
    if F.ndim == 1:
        return y * F
    true = F.gather(1, y[:, None])[:, 0]
    return true - (F.sum(dim=1) - true) / (F.shape[1] - 1)


def alignment(scores: Tensor) -> float:
    """The mean score."""
    return float(scores.cpu().double().mean())
