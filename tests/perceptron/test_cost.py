"""The expected time of a training."""

from typing import Any

import pytest

import sgdphase as sp


def test_expected_seconds_orders_cells_by_cost() -> None:
    from sgdphase.perceptron import expected_seconds

    def cell(lr: float, batch: int) -> sp.Training:
        return sp.Training(sp.TeacherTask(), 8192, lr=lr, batch=batch)

    assert expected_seconds(cell(2**-10, 8192)) > 10 * expected_seconds(cell(2**-10, 8))
    assert expected_seconds(cell(2**-10, 8192)) > 100 * expected_seconds(cell(2**10, 8192))


def test_steps_that_cannot_be_skipped_cost_more_than_their_draws() -> None:
    """With momentum or decay every step moves all weights: at batch 1 that exceeds the draw."""
    from sgdphase.perceptron import expected_seconds

    def million(**more: float) -> float:
        """Seconds of a million steps, without what every training costs."""
        task, setting = sp.TeacherTask(), {"lr": 16.0, "batch": 1, **more}
        few, many = (
            expected_seconds(sp.Training(task, 8192, max_time=16.0 * steps, **setting))
            for steps in (1, 10**6)
        )
        return many - few

    # Measured: 1.5e-7 s per step with momentum, 1.05e-7 with decay, 5e-8 without.
    assert million(momentum=0.9) > 2 * million()
    assert 0.05 < million(weight_decay=1e-3) < 0.3  # a million steps took 0.11 s


def test_the_least_memory_is_that_of_the_points() -> None:
    from sgdphase.perceptron import expected_bytes

    training = sp.Training(sp.TeacherTask(dim=16), 1024, lr=1.0, batch=1, test_size=512)
    points = [training.teacher.train_set(1024, 0).x, training.teacher.test_set(512, 0).x]
    assert expected_bytes(training) == sum(x.nbytes for x in points)


def cell(size: int, lr: float, batch: int, **more: Any) -> sp.Training:
    given: dict[str, Any] = {"margin": 2.0**-7, "test_size": 4096} | more
    return sp.Training(sp.TeacherTask(dim=128), size, lr=lr, batch=batch, **given)


@pytest.mark.parametrize(
    ("training", "seconds"),  # of one core, measured in one run
    [
        (cell(512, 1.0, 1), 0.002),
        (cell(512, 32.0, 32), 0.002),
        (cell(512, 2.0**-4, 64), 0.003),
        (cell(512, 1.0, 8, weight_decay=1e-3, max_steps=100_000), 0.027),
        (cell(2048, 1.0, 1), 0.010),
        (cell(2048, 32.0, 32), 0.004),
        (cell(2048, 2.0**12, 256), 0.004),
        (cell(2048, 2.0**-4, 64), 0.009),
        (cell(2048, 0.25, 512), 0.011),
        (cell(2048, 1.0, 1, margin=2.0**-3), 0.004),
        (cell(2048, 0.5, 8, momentum=0.9), 0.004),
        (cell(8192, 1.0, 1), 0.066),
        (cell(8192, 32.0, 32), 0.034),
        (cell(8192, 2.0**12, 256), 0.022),
        (cell(8192, 2.0**-4, 64), 0.038),
        (cell(8192, 0.25, 512), 0.051),
        (cell(8192, 1.0, 1, margin=2.0**-3), 0.032),
        (cell(8192, 0.5, 8, momentum=0.9), 0.036),
        (cell(8192, 1.0, 8, weight_decay=1e-3, max_steps=100_000), 0.039),
    ],
)
def test_small_and_large_trainings_of_all_kinds(training: sp.Training, seconds: float) -> None:
    """All by the same factor, as a machine is: within a factor of 2 of each other."""
    from sgdphase.perceptron import expected_seconds

    assert 0.5 < expected_seconds(training) / seconds < 2
