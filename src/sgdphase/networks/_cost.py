"""How long a training of a network will take, within a factor of a few.

Measured on parity MNIST and CIFAR animals. If noise or the first steps dominate, a training takes
some tens of passes over the training set, at any temperature, and at least some hundred batches.
Gradient descent takes a time `lr x steps` that grows with the margin, up to a limit.
"""

from __future__ import annotations

import math

from sgdphase._records import Training
from sgdphase.problems import CifarAnimals, TeacherTask

# Seconds of one core: the forward pass of a point per weight (fc), and at width 8 (mobilenet).
_FC_WEIGHT, _CNN_POINT = 5e-11, 2.5e-4
# Samples per training point, least number of batches, seconds that every training costs.
_SAMPLES, _BATCHES, _FIXED = 30, 400, 1.0
# Time `lr x steps` of gradient descent at P = 2048: per unit of margin, and at most.
_GD_MARGIN, _GD_LIMIT = 2e6, 4e3


def expected_seconds(training: Training) -> float:
    """Expected seconds of a network's training on one core.

    >>> slow, fast = (
    ...     expected_seconds(Training(TeacherTask(), train_size=256, lr=1.0, batch=8, model="fc",
    ...                               width=width)) for width in (1024, 16))
    >>> slow > fast > 0
    True
    """
    size, batch = training.train_size, training.batch
    longest = min(_GD_MARGIN * training.margin, _GD_LIMIT)
    descent = longest * math.pow(size / 2048, 1.5) / training.lr
    steps = max(_SAMPLES * size / batch, _BATCHES, descent)
    steps = min(steps, float(training.step_limit))
    # Active batches are computed one by one, which costs more per point if they are small.
    return _FIXED + steps * batch * _point(training) * (1 + 3 / math.sqrt(batch))


def _point(training: Training) -> float:
    """Seconds of a forward pass of one point."""
    width = training.width or 1
    if training.model == "mobilenet":
        return _CNN_POINT * math.pow(width / 8, 1.3)
    match training.problem:
        case TeacherTask(dim=dim):
            inputs = dim
        case CifarAnimals():
            inputs = 3072
        case _:
            inputs = 784
    return _FC_WEIGHT * width * (inputs + ((training.depth or 1) - 1) * width)
