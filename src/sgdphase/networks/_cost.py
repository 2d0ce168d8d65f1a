"""How long a training of a network will take, within a factor of a few.

Measured on parity MNIST and CIFAR animals. If noise or the first steps dominate, a training takes
some tens of passes over the training set, at any temperature, and at least some hundred batches.
Gradient descent takes a time `lr x steps` that grows with the margin, up to a limit.

A plain training looks at many batches at once, so that a step costs its points alone. With
momentum, regularisation or another loss than hinge, every step moves the weights and is computed by
itself, and the overhead of its layers exceeds the work on a small batch. Other dynamics than SGD
look at all points at every step.
"""

from __future__ import annotations

import math

from sgdphase._records import Training
from sgdphase.problems import CifarAnimals
from sgdphase.problems._drawn import Drawn

# Seconds of one core: the forward pass of a point per weight (fc), and at width 8 (mobilenet).
_FC_WEIGHT, _CNN_POINT = 5e-11, 2.5e-4
# Seconds of a step that is computed by itself: in all, and per layer; mobilenet has about 20.
_STEP, _STEP_LAYER, _CNN_LAYERS = 5e-4, 8e-5, 20
# Samples per training point, least number of batches, seconds that every training costs.
_SAMPLES, _BATCHES, _FIXED = 30, 400, 1.0
# Time `lr x steps` of gradient descent at P = 2048: per unit of margin, and at most.
_GD_MARGIN, _GD_LIMIT = 2e6, 4e3

# Bytes of a layer, whatever its width.
_LAYER = 1000


def expected_seconds(training: Training) -> float:
    """Expected seconds of a network's training on one core.

    >>> from sgdphase.problems import TeacherTask
    >>> slow, fast = (
    ...     expected_seconds(Training(TeacherTask(), train_size=256, lr=1.0, batch=8, model="fc",
    ...                               width=width)) for width in (1024, 16))
    >>> slow > fast > 0
    True
    """
    size, batch = training.train_size, training.batch
    longest = min(_GD_MARGIN * training.margin, _GD_LIMIT)
    # Momentum multiplies the learning rate.
    descent = longest * math.pow(size / 2048, 1.5) * (1 - training.momentum) / training.lr
    # Batches of unfitted points alone take no passes over the others.
    passes = 0.0 if training.dynamics == "unfitted" else _SAMPLES * size / batch
    steps = min(max(passes, _BATCHES, descent), float(training.step_limit))
    if training.budget_ends:  # it goes on to the end of its budget
        steps = float(training.step_limit)
    return _FIXED + steps * _step(training)


def _step(training: Training) -> float:
    """Seconds of a step."""
    batch, point = training.batch, _point(training)
    layers = _CNN_LAYERS if training.model == "mobilenet" else training.depth or 1
    alone = _STEP + layers * _STEP_LAYER
    if training.dynamics != "sgd":  # a forward pass of all points, for the noise also back
        return alone + training.train_size * point * (2 if training.dynamics == "gaussian" else 1)
    if not training.is_plain:
        return alone + 2.2 * batch * point
    # Active batches are computed one by one, which costs more per point if they are small.
    return batch * point * (1 + 3 / math.sqrt(batch))


def _point(training: Training) -> float:
    """Seconds of a forward pass of one point."""
    if training.model == "mobilenet":
        return _CNN_POINT * math.pow((training.width or 1) / 8, 1.3)
    return _FC_WEIGHT * _weights(training)


def expected_bytes(training: Training) -> float:
    """The least memory that a network's training takes: points and weights, in single precision."""
    points = (training.train_size + training.test_size) * _inputs(training)
    layers = _LAYER * (training.depth or 1)
    return layers + 4.0 * (points + _weights(training))


def _weights(training: Training) -> float:
    """The number of weights; of a mobilenet, those of its widest layers at least."""
    width = training.width or 1
    if training.model == "mobilenet":
        return 64.0 * width**2
    return float(width) * (_inputs(training) + ((training.depth or 1) - 1) * width)


def _inputs(training: Training) -> int:
    match training.problem:
        case Drawn(dim=dim):
            return dim
        case CifarAnimals():
            return 3072
        case _:
            return 784
