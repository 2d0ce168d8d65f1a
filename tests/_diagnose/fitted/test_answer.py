"""A diagnosis: the line at a batch, and its text for every answer."""

from __future__ import annotations

from typing import Any

import pytest

from sgdphase._diagnose.fitted.answer import FittedDiagnosis, Limit, Size
from sgdphase._diagnose.fitted.text import answer_lines
from sgdphase.diagram import LinePoint
from sgdphase.stats import Estimate

STAR = Estimate(64.0, 48.0, 80.0)
# T_c = 1/16, so that the GD line above B* is at 2 T_c B* = 8.
LINE = (LinePoint(16, Estimate(1.0, 0.9, 1.1)), LinePoint(256, Estimate(8.0, 7.0, 9.0)))


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


def test_the_table_of_an_answer_is_what_grows_with_the_data() -> None:
    pytest.importorskip("pandas")
    frame = diagnosis(sizes=(Size(1024, None, 12), Size(4096, STAR, 30))).to_pandas()
    assert frame["train_size"].tolist() == [1024, 4096]
    assert frame["critical_batch"].isna().tolist() == [True, False]
    assert frame.iloc[1][["critical_batch", "low", "high"]].tolist() == [
        STAR.value, STAR.low, STAR.high,
    ]  # fmt: skip
