"""The two rules that decide claims."""

import math

import pytest

from sgdphase import Estimate
from sgdphase.paper._claim import above, below, equal


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.95, 1.05, "holds"),
        (1.2, 1.4, "fails"),
        (0.5, 0.8, "fails"),
        (0.8, 1.05, "undecided"),
        (0.5, 1.5, "undecided"),
        (math.nan, math.nan, "undecided"),
    ],
)
def test_equal(low: float, high: float, verdict: str) -> None:
    claim = equal("a.1", "x is 1", Estimate(1.0, low, high), 1.0, 0.1, "why not")
    assert claim.verdict == verdict
    assert "why not" in claim.rule


def test_half_lines() -> None:
    number = Estimate(2.0, 1.5, 2.5)
    assert above("a", "b", number, 1.0, "r").verdict == "holds"
    assert above("a", "b", number, 3.0, "r").verdict == "fails"
    assert above("a", "b", number, 2.0, "r").verdict == "undecided"
    assert below("a", "b", number, 3.0, "r").verdict == "holds"
    assert below("a", "b", number, 1.0, "r").verdict == "fails"


def test_numbers_that_are_not_finite_are_left_out() -> None:
    claim = equal("a", "b", Estimate(math.nan, math.nan, math.nan), 1.0, 0.1, "r")
    assert (claim.measured, claim.low, claim.verdict) == (None, None, "undecided")
