"""The expected time of a training."""

import sgdphase as sp


def test_expected_seconds_orders_cells_by_cost() -> None:
    from sgdphase.perceptron import expected_seconds

    def cell(lr: float, batch: int) -> sp.Training:
        return sp.Training(sp.TeacherTask(), 8192, lr=lr, batch=batch)

    assert expected_seconds(cell(2**-10, 8192)) > 10 * expected_seconds(cell(2**-10, 8))
    assert expected_seconds(cell(2**-10, 8192)) > 100 * expected_seconds(cell(2**10, 8192))
