"""How long a training will take, from the theory's scales; right within a factor of a few."""

from __future__ import annotations

from functools import lru_cache

from sgdphase._records import Training
from sgdphase.theory import scales

# Seconds, measured on one core at dim = 128: a drawn point, a step near gradient descent (where
# lists of points save most of the work) and its part for each point of the batch, and what every
# training costs (its observables).
_DRAW, _STEP, _STEP_POINT, _FIXED = 5e-8, 1.3e-7, 8e-10, 1.2e-2
# Trainings end after `_END` crossover times; GD takes as long as noise at `_GD` times T_c.
_END, _GD = 11.0, 0.18
# Few differ in a plan, and each takes longer than the rest of the cost.
_scales = lru_cache(1024)(scales)


def expected_seconds(training: Training) -> float:
    """Expected seconds of a perceptron's training on one core, within a factor of a few.

    The end of a training follows the crossover time at its temperature, or at `T_c` if it is
    colder; beyond the critical batch the first steps fit nearly all points.
    """
    task = training.teacher
    scale = _scales(
        train_size=training.train_size, dim=task.dim, chi=task.chi, margin=training.margin
    )
    gain = 1 / (1 - training.momentum)  # momentum multiplies the learning rate (SI 2.A)
    temperature, cold = gain * training.temperature, _GD * scale.critical_temperature
    time = _END * scale.crossover_time * max(temperature, cold)
    if temperature > cold:
        time /= 1 + (training.batch / scale.critical_batch) ** 2
    steps = min(time / (gain * training.lr) + 1, float(training.step_limit))
    if training.weight_decay > 0:
        steps = float(training.step_limit)
    plain = training.batch * _DRAW * task.dim / 128
    if training.momentum == 0 and training.weight_decay == 0 and temperature < cold:
        plain = min(plain, _STEP + training.batch * _STEP_POINT)
    return _FIXED + steps * plain
