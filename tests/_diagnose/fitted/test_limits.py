"""The regime at a larger size, and how far the batch may be raised."""

from __future__ import annotations

from typing import Any

import pytest

from sgdphase._diagnose.fitted.limits import carried, limits, regime_at
from sgdphase.diagram import LinePoint
from sgdphase.stats import Estimate

STAR = Estimate(64.0, 48.0, 80.0)


# T_c = 1/16, so that the GD line above B* is at 2 T_c B* = 8.
LINE = (LinePoint(16, Estimate(1.0, 0.9, 1.1)), LinePoint(256, Estimate(8.0, 7.0, 9.0)))


@pytest.mark.parametrize(
    ("measured", "lr", "batch", "regime"),
    [
        ("noise-dominated", 4.0, 16, "noise-dominated"),
        ("first-step-dominated", 64.0, 16, "noise-dominated"),
        ("first-step-dominated", 64.0, 256, "first-step-dominated"),
        ("first-step-dominated", 2.0, 256, "GD"),
        ("first-step-dominated", 8.0, 256, "unclear"),
        ("noise-dominated", 64.0, 64, "unclear"),
        # Below B* now, and T = 1/64 is below T_c = 1/16.
        ("first-step-dominated", 0.5, 32, "GD"),
        ("GD", 1e-3, 16, "GD"),
        ("unclear", 64.0, 256, "unclear"),
    ],
)
def test_the_regime_at_a_larger_size(measured, lr: float, batch: int, regime: str) -> None:
    line = carried(LINE, STAR)
    # T_c = 1/16 and B* = 64 make 8 of its level.
    assert line[1].lr.value == pytest.approx(8.0)
    place = {"lr": lr, "batch": batch}
    assert regime_at(measured, **place, critical=STAR, line=line) == regime
    if measured != "GD":
        unknown = carried(LINE, None)
        assert regime_at(measured, **place, critical=None, line=unknown) == "unclear"


def test_limits_of_crossovers_and_of_what_is_not_known() -> None:
    def at(*regimes: Any, lr: float = 1.0, batch: int = 16, critical=STAR, line=LINE):
        return limits(regimes, lr=lr, batch=batch, train_size=4096, critical=critical, line=line)

    temperature, rate = at("noise-dominated", "GD")
    assert temperature.batch == STAR and rate.kind == "none"
    temperature, rate = at("first-step-dominated", "GD", lr=8.0, batch=256)
    assert temperature.kind == "none" and rate.kind == "any"
    temperature, rate = at("noise-dominated", "first-step-dominated", lr=64.0, batch=64, line=())
    assert temperature.kind == rate.kind == "unknown"
    temperature, _ = at("noise-dominated", critical=None, line=())
    assert temperature.kind == "unknown"
    # Already above the estimate: never less than the present batch.
    temperature, _ = at("noise-dominated", batch=70, line=())
    assert temperature.batch == Estimate(70.0, 70.0, 80.0)
