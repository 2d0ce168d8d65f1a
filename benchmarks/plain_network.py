"""The plain loop: every batch forward and backward, all points looked at once an epoch.

What a training of networks is measured against, in speed and in weights.
"""

from __future__ import annotations

from itertools import islice

import torch

from sgdphase._records import Training
from sgdphase.networks._batches import batches
from sgdphase.networks._fitting import outputs
from sgdphase.networks._train import Points


def plain_fit(
    module: torch.nn.Module, points: Points, training: Training, steps: int | None = None
) -> int:
    """Train in place with the hinge loss until all is fitted, or for so many steps; their number.

    The number is that of the last step that changed a weight.
    """
    at_start = outputs(module, points.x)
    parameters = tuple(module.parameters())
    optimizer = torch.optim.SGD(parameters, lr=training.lr)
    every = max(training.train_size // training.batch, 1)
    changed = 0
    for step, batch in enumerate(islice(batches(training), steps), start=1):
        index = torch.from_numpy(batch)
        F = module(points.x[index]) - at_start[index]
        loss = torch.relu(training.margin - points.y[index] * F).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() > 0:
            changed = step
        if steps is None and step % every == 0:
            F = outputs(module, points.x) - at_start
            if bool((points.y * F >= training.margin).all()):
                break
    return changed
