"""The expected time of a training."""

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

    def cell(**more: float) -> float:
        training = sp.Training(
            sp.TeacherTask(), 8192, lr=16.0, batch=1, max_time=16.0 * 10**6, **more
        )
        return expected_seconds(training)

    # Measured: 1.5e-7 s per step with momentum, 1.05e-7 with decay, 5e-8 without.
    assert cell(momentum=0.9) > 2 * cell()
    assert 0.05 < cell(weight_decay=1e-3) < 0.3  # a million steps took 0.11 s


def test_the_least_memory_is_that_of_the_points() -> None:
    from sgdphase.perceptron import expected_bytes

    training = sp.Training(sp.TeacherTask(dim=16), 1024, lr=1.0, batch=1, test_size=512)
    points = [training.teacher.train_set(1024, 0).x, training.teacher.test_set(512, 0).x]
    assert expected_bytes(training) == sum(x.nbytes for x in points)
