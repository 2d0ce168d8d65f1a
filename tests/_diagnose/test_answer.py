"""The parts of an answer: sizes, growth, limits, text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sgdphase._diagnose.fitted.answer import FittedDiagnosis, Limit, Size
from sgdphase._diagnose.fitted.growth import growth
from sgdphase._diagnose.fitted.limits import carried, limits, regime_at
from sgdphase._diagnose.fitted.schedule import chosen, given, ladder, total_seconds
from sgdphase._diagnose.fitted.text import answer_lines
from sgdphase.diagram import LinePoint
from sgdphase.errors import InputError
from sgdphase.stats import Estimate

STAR = Estimate(64.0, 48.0, 80.0)
# T_c = 1/16, so that the GD line above B* is at 2 T_c B* = 8.
LINE = (LinePoint(16, 1.0, 0.9, 1.1), LinePoint(256, 8.0, 7.0, 9.0))


def test_growth_is_exact_for_a_law_without_noise() -> None:
    sizes = [Size(p, Estimate(b := 3 * p**0.4, b / 1.001, b * 1.001), 9) for p in (100, 1000)]
    found = growth(sizes, [10_000])
    assert found is not None
    assert found.exponent.value == pytest.approx(0.4)
    assert found.chi.value == pytest.approx(1.5)
    assert found.extrapolated[10_000].value == pytest.approx(3 * 10_000**0.4)


def test_growth_covers_as_often_as_it_says() -> None:
    # 200 draws of three sizes: 90 % cover means 180 +- 4.2; below 168 has probability 0.3 %.
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(200):
        sizes = []
        for p in (256, 1024, 4096):
            sigma = 0.15
            b = math.exp(0.5 * math.log(p) + sigma * rng.standard_normal())
            half = math.exp(1.645 * sigma)
            sizes.append(Size(p, Estimate(b, b / half, b * half), 9))
        found = growth(sizes, [40960])
        assert found is not None
        covered += (
            found.extrapolated[40960].low <= math.sqrt(40960) <= found.extrapolated[40960].high
        )
    assert covered >= 168


def test_growth_takes_two_sizes_with_intervals() -> None:
    assert growth([Size(64, STAR, 9)], [128]) is None
    assert growth([Size(64, STAR, 9), Size(128, None, 9)], [256]) is None
    open_ended = Estimate(64.0, math.nan, math.nan)
    assert growth([Size(64, STAR, 9), Size(128, open_ended, 9)], [256]) is None


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
    assert line[1].lr == pytest.approx(8.0)
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


def test_the_line_at_a_batch() -> None:
    found = diagnosis(gd_line=LINE)
    assert found.gd_line_at(8) == pytest.approx(0.5)
    # The two laws meet at 2 B*: 128/16 = 8.
    assert found.gd_line_at(100) == pytest.approx(100 / 16)
    assert found.gd_line_at(1024) == 8.0
    only_below = diagnosis(gd_line=LINE[:1])
    assert only_below.gd_line_at(1024) is None
    assert only_below.gd_line_at(8) == pytest.approx(0.5)
    assert diagnosis(gd_line=LINE, sizes=(Size(4096, None),)).gd_line_at(8) is None


def diagnosis(**fields: Any) -> FittedDiagnosis:
    """A diagnosis at 4096 points with some fields changed."""
    plain: dict[str, Any] = {
        "lr": 1.0, "batch": 8, "train_size": 4096, "measured_at": 4096,
        "regime": "noise-dominated", "between": None, "confidence": 0.95,
        "expected": "noise-dominated",
        "slopes": {"lr": Estimate(1.0, 0.9, 1.1), "batch": Estimate(-1.0, -1.1, -0.9)},
        "sizes": (Size(4096, STAR),),
        "gd_line": (), "constant_temperature": Limit("up to", STAR),
        "constant_lr": Limit("none", Estimate(8, 8, 8)), "scaling": None,
        "first_step_share": None, "noise_scale": {}, "warnings": (), "unknown": (),
        "trainings": 30, "seconds": 9.0, "settings": {"loss": "hinge", "margin": 2.0**-10},
    }  # fmt: skip
    return FittedDiagnosis(**(plain | fields))


def test_the_first_line_says_which_training_it_speaks_of() -> None:
    assert answer_lines(diagnosis(measured_at=1024))[0] == (
        "Trained until every point is fitted (hinge loss, margin 2^-10, predictor f - f0), "
        "not for a number of epochs: 1024 of 4096 points"
    )
    black_box = diagnosis(settings={"code": "mine.py", "trained by": "its own train()"})
    assert answer_lines(black_box)[0] == (
        "Trained by train() of mine.py, which should end when every point is fitted, "
        "not after a number of epochs: 4096 points"
    )


def test_text_for_every_answer() -> None:
    said = "\n".join(answer_lines(diagnosis(gd_line=LINE)))
    assert "Regime: noise-dominated (confidence 0.95), at lr 1, batch 8, 4096 points" in said
    assert "B* = 64 [48, 80], 3.0 doublings of the batch from yours" in said
    assert "GD line at your batch: lr 0.5, 1.0 halvings of lr from yours" in said
    assert "at constant lr/batch: 64 [48, 80], there with lr 8" in said
    assert "at constant lr: the present one" in said
    assert "by -50% at constant lr, by +0% at constant lr/batch" in said
    border = {"lr": Estimate(0.9, 0.8, 1.0), "batch": Estimate(-0.6, -0.7, -0.5)}
    assert "noise-dominated, near its border" in answer_lines(diagnosis(slopes=border))[1]
    between = diagnosis(regime="unclear", between=("noise-dominated", "GD"), confidence=0.5)
    assert "between noise-dominated and GD" in answer_lines(between)[1]
    unknown = diagnosis(
        regime="unclear", confidence=None, sizes=(), measured_at=64, expected="unclear",
        constant_temperature=Limit("unknown"), constant_lr=Limit("unknown"), reason="no runs",
    )  # fmt: skip
    assert answer_lines(unknown)[2] == "  no runs"
    said = "\n".join(answer_lines(unknown))
    assert said.count("cannot tell") == 4 and "64 of 4096 points" in said
    # The bound on B* of a share of a quarter at batch 8; a negative share gives no bound.
    shares = diagnosis(first_step_share=Estimate(0.25, 0.2, 0.3), noise_scale={"start": 12.3})
    said = "\n".join(answer_lines(shares))
    assert "B* is at most about 32 [26.7, 40]" in said and "noise scale: 12.3 at the start" in said
    negative = diagnosis(first_step_share=Estimate(-0.1, -0.2, 0.0))
    assert "gives no bound" in "\n".join(answer_lines(negative))


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


def test_the_table_of_an_answer_is_what_grows_with_the_data() -> None:
    pytest.importorskip("pandas")
    frame = diagnosis(sizes=(Size(1024, None, 12), Size(4096, STAR, 30))).to_pandas()
    assert frame["train_size"].tolist() == [1024, 4096]
    assert frame["critical_batch"].isna().tolist() == [True, False]
    assert frame.iloc[1][["critical_batch", "low", "high"]].tolist() == [
        STAR.value, STAR.low, STAR.high,
    ]  # fmt: skip
