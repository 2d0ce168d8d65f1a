"""What tests of several rooms share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


@pytest.fixture
def covered() -> Any:
    """Checks a count of intervals that hold the truth against their level.

    Three and a half standard deviations of the binomial: it fails by chance once in 2000 times,
    were the seeds not fixed.
    """

    def check(hits: int, tries: int, level: float, slack: float = 0.0) -> None:
        tolerance = 3.5 * np.sqrt(level * (1 - level) / tries) + slack
        assert abs(hits / tries - level) <= tolerance, f"{hits} of {tries} at level {level}"

    return check
