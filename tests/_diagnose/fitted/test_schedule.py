"""Which sizes are measured: within the time, and not below the batch."""

from __future__ import annotations

import math

import pytest

from sgdphase._diagnose.fitted.schedule import chosen, given, ladder, total_seconds
from sgdphase.errors import InputError


def test_sizes_fit_into_the_time_and_hold_the_batch() -> None:
    sizes = ladder(65536)
    assert sizes == [64, 256, 1024, 4096, 16384, 65536]
    assert chosen(sizes, 1, 0.1, math.inf) == [4096, 16384, 65536]
    picked = chosen(sizes, 1, 0.1, 600.0)
    assert total_seconds(picked, 64, 0.1) <= 600.0
    assert total_seconds([4 * size for size in picked], 64, 0.1) > 600.0
    assert chosen(sizes, 128, 10.0, 1.0) == [64, 256]
    assert chosen(sizes, 60000, 10.0, 1.0)[-1] == 65536


def test_sizes_that_are_given_are_checked() -> None:
    assert given([1024, 64, 64], 8, None) == [64, 1024]
    for sizes, batch, full in [([], 1, None), ([1], 1, None), ([64], 65, None), ([64], 1, 32)]:
        with pytest.raises(InputError):
            given(sizes, batch, full)
