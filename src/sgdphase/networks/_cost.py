"""How long a training of a network will take; right within a factor of a few.

Measured on parity MNIST and CIFAR animals: the samples seen until all is fitted are some tens of
the training set where noise or the first steps rule, whatever the temperature, but at least some
hundred batches; gradient descent takes a time `lr x steps` that grows with the margin, to a limit.
"""

from __future__ import annotations

import math

from sgdphase._records import Training
from sgdphase.problems import CifarAnimals, TeacherTask

# Seconds of one core: the forward pass of a point per weight (fc), and at width 8 (mobilenet).
_FC_WEIGHT, _CNN_POINT = 5e-11, 2.5e-4
# Samples a training point, batches at least, and what every training costs (its observables).
_SAMPLES, _BATCHES, _FIXED = 30, 400, 1.0
# Time of gradient descent at P = 2048: per margin, and at most.
_GD_MARGIN, _GD_LIMIT = 2e6, 4e3


def expected_seconds(training: Training) -> float:
    """Seconds on one core."""
    size, batch = training.train_size, training.batch
    longest = min(_GD_MARGIN * training.margin, _GD_LIMIT)
    descent = longest * math.pow(size / 2048, 1.5) / training.lr
    steps = max(_SAMPLES * size / batch, _BATCHES, descent)
    steps = min(steps, float(training.step_limit))
    # Small batches are seen one by one where they are active.
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
