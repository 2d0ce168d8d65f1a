"""How long a training of a network will take, within a factor of a few.

Measured on parity MNIST, CIFAR animals and the teacher task. If noise or the first steps dominate,
a training takes some tens of passes over the training set, at any temperature up to `_HOT`, and at
least some hundred batches. Hotter ones do not end before their budget. Gradient descent takes a
time `lr x steps` that grows with the margin, up to a limit.

A plain training looks at many batches at once, so that a batch of fitted points costs its points
alone. A batch that changes the weights is computed by itself, and the overhead of its layers
exceeds the work on a small one. There are few of them, unless the training is hot. With momentum,
regularisation or another loss than hinge every batch is of this kind. Other dynamics than SGD look
at all points at every step.
"""

from __future__ import annotations

import math

from sgdphase._compiled import is_kept
from sgdphase._models import MODELS
from sgdphase._records import Training
from sgdphase.problems import CifarAnimals
from sgdphase.problems._drawn import Drawn

# All seconds below are of one core of one machine, times this: the constant to calibrate
# (benchmarks/bench_clocks.py).
_SPEED = 1.0
# Seconds: the forward pass of a point per weight (fc), and at width 8 (images: mobilenet).
_FC_WEIGHT, _IMAGE_POINT = 2.7e-11, 8e-5
# Seconds of a step that is computed by itself: in all, and per layer.
_STEP, _STEP_LAYER = 3e-4, 8e-5
_LAYERS = {"mobilenet": 20, "cnn": 3, "vgg11": 9}  # of other networks it is their depth
# The same of compiled steps: in all, and per weight.
_COMPILED, _COMPILED_WEIGHT = {"fc": 5e-6, "mobilenet": 5e-5}, 1.4e-10
# Forward and back, in forward passes; of mobilenet where torch makes them and not a compiled loop.
_BOTH_WAYS, _IMAGE_BOTH_WAYS = 2.2, 5.5
# Samples per training point; least number of batches at P = 2048, which grows as its root.
_SAMPLES, _BATCHES = 30, 400
# What every training costs: seconds, and forward passes of all points for its observables.
_FIXED, _LOOKS = 0.006, 4
# Batches that change the weights: per training point at B = 1, falling as its root; of descent the
# share of points that are unfitted.
_ACTIVE, _UNFITTED = 0.7, 0.007
# Of images: how many times as many steps they take, and the part of them that is active.
_IMAGE_STEPS, _IMAGE_ACTIVE = 3.0, 0.6
# Temperature lr / batch from which on trainings do not end, and passes that they then take at most,
# in those of others.
_HOT, _HOT_PASSES = 32.0, 10
# Time `lr x steps` of gradient descent at P = 2048: per unit of margin, and at most; of images
# at least.
_GD_MARGIN, _GD_LIMIT, _IMAGE_GD = 2e6, 4e3, 1.1e3

# Bytes of a layer, whatever its width.
_LAYER = 1000


def delay(training: Training) -> str:
    """What the first training of this kind waits for, if for anything."""
    compiled = {"fc": ("_window", "walk"), "mobilenet": ("_mobilenet_steps", "walk")}
    steps = training.model in compiled and training.is_plain and training.dynamics == "sgd"
    if not steps:
        return ""
    module, name = compiled[training.model]
    if is_kept(f"sgdphase.networks.{module}", name):
        return ""
    return "compiling the network's steps (once per installation, some seconds)"


def expected_seconds(training: Training) -> float:
    """Expected seconds of a network's training on one core.

    >>> from sgdphase.problems import TeacherTask
    >>> slow, fast = (
    ...     expected_seconds(Training(TeacherTask(), train_size=256, lr=1.0, batch=8, model="fc",
    ...                               width=width)) for width in (1024, 16))
    >>> slow > fast > 0
    True
    """
    size, batch, point = training.train_size, training.batch, _point(training)
    longest = min(_GD_MARGIN * training.margin, _GD_LIMIT)
    if _is_of_images(training):
        longest = max(longest, _IMAGE_GD)
    # Momentum multiplies the learning rate, and fewer passes are needed.
    friction = 1 - training.momentum
    rate = training.lr / friction
    descent = longest * math.pow(size / 2048, 1.5) / rate
    # Batches of unfitted points alone take no passes over the others.
    passes = (
        0.0 if training.dynamics == "unfitted" else _SAMPLES * math.sqrt(friction) * size / batch
    )
    steps = max(passes, _BATCHES * math.sqrt(size / 2048), descent)
    active = max(_ACTIVE * size / math.sqrt(batch), descent * min(1.0, _UNFITTED * batch))
    if _is_of_images(training):
        steps, active = _IMAGE_STEPS * steps, _IMAGE_ACTIVE * _IMAGE_STEPS * steps
    if rate / batch >= _HOT:
        active = steps = _HOT_PASSES * steps
    if training.budget_ends:  # it goes on to the end of its budget
        steps = math.inf
    steps = min(steps, float(training.step_limit))
    looks = _LOOKS * (size + training.test_size) * point
    return _SPEED * (_FIXED + looks + _steps(training, steps, min(active, steps)))


def _steps(training: Training, steps: float, active: float) -> float:
    """Seconds of so many steps, of which `active` change the weights."""
    batch, point = training.batch, _point(training)
    alone = _STEP + _LAYERS.get(training.model, training.depth or 1) * _STEP_LAYER
    both = _IMAGE_BOTH_WAYS if _is_of_images(training) else _BOTH_WAYS
    if training.dynamics != "sgd":  # a forward pass of all points, for the noise also back
        way = both if training.dynamics == "gaussian" else 1
        return steps * (alone + training.train_size * point * way)
    if not training.is_plain:
        return steps * (alone + both * batch * point)
    if training.model in _COMPILED:
        alone = _COMPILED[training.model] + _COMPILED_WEIGHT * _weights(training)
    return steps * batch * point + active * (alone + _BOTH_WAYS * batch * point)


def _is_of_images(training: Training) -> bool:
    """Whether it is a convolutional network; what was measured of mobilenet stands for all."""
    return MODELS[training.model].images


def _point(training: Training) -> float:
    """Seconds of a forward pass of one point."""
    if _is_of_images(training):
        return _IMAGE_POINT * math.pow((training.width or 1) / 8, 1.2)
    return _FC_WEIGHT * _weights(training)


def expected_bytes(training: Training) -> float:
    """The least memory that a network's training takes: points and weights, in single precision."""
    points = (training.train_size + training.test_size) * _inputs(training)
    layers = _LAYER * (training.depth or 1)
    return layers + 4.0 * (points + _weights(training))


def _weights(training: Training) -> float:
    """The number of weights; of a convolutional network, those of the widest layers at least."""
    width = training.width or 1
    if _is_of_images(training):
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
