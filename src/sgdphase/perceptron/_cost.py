"""How long a training will take, from the theory's scales; right within a factor of a few."""

from __future__ import annotations

from functools import lru_cache

from sgdphase._compiled import is_kept
from sgdphase._records import Training
from sgdphase.errors import SMALLEST
from sgdphase.theory import scales

# All seconds below are of one core of one machine at dim = 128, times this: the constant to
# calibrate (benchmarks/bench_clocks.py).
_SPEED = 0.84
# A drawn point; a step near gradient descent (where lists of points save most of the work) and its
# part for each point of the batch.
_DRAW, _STEP, _STEP_POINT = 5e-8, 1.3e-7, 8e-10
# What every training costs: seconds, and more per point for its observables. Lists are made of all
# points, more often in a longer training: seconds for `P^1.5` points.
_FIXED, _LOOK, _LISTS = 5e-4, 3e-7, 4.1e-8
# With momentum, regularisation or another loss every drawn point costs a product, and every step
# moves all weights whatever the batch: seconds that do not depend on dim, and those at dim = 128.
_VARIANT_DRAW, _VARIANT_STEP = (1e-8, 3.5e-8), (2e-8, 9e-8)
# Trainings end after `_END` crossover times; GD takes as long as noise at `_GD` times T_c.
_END, _GD = 11.0, 0.18
# Few differ in a plan, and each takes longer than the rest of the cost.
_scales = lru_cache(1024)(scales)


def delay(training: Training) -> str:
    """What the first training of this kind waits for, if for anything."""
    loop = ("_sgd", "run_sgd") if training.is_plain else ("_variants", "run_variant")
    if is_kept(f"sgdphase.perceptron.{loop[0]}", loop[1]):
        return ""
    took = "about 10 s" if training.is_plain else "some seconds"
    return f"compiling the simulator (once per installation, {took})"


def expected_bytes(training: Training) -> float:
    """The least memory that a perceptron's training takes: its points, as floats."""
    return 8.0 * training.teacher.dim * (training.train_size + training.test_size)


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
    # Beyond the critical batch the first steps fit nearly all points.
    part = 1 + (training.batch / max(scale.critical_batch, SMALLEST)) ** 2
    part = 1.0 if temperature <= cold else 1 / part
    time = _END * scale.crossover_time * max(temperature, cold) * part
    steps = min(time / (gain * training.lr) + 1, float(training.step_limit))
    if training.budget_ends:
        steps = float(training.step_limit)
    size = task.dim / 128
    fixed = _FIXED + size * _LOOK * (training.train_size + training.test_size)
    if not training.is_plain:
        (draw, draw_dim), (step, step_dim) = _VARIANT_DRAW, _VARIANT_STEP
        each = step + step_dim * size + training.batch * (draw + draw_dim * size)
    else:
        each = training.batch * _DRAW * size
        if temperature < cold:
            each = min(each, _STEP + training.batch * _STEP_POINT)
        fixed += size * _LISTS * part * training.train_size**1.5
    return _SPEED * (fixed + steps * each)
