"""Figure X3 on planted planes: its exponent of B* and its ratio of errors are those put in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sgdphase._records import Outcome, Training
from sgdphase._sweep import Run
from sgdphase.paper._figure import FIGURES
from sgdphase.paper._runs import Runs

FIGURE = FIGURES["figX3"]


def planted(gamma: float, gain: float) -> Runs:
    """Three regimes with `T_c = 2^-8` and `B* = 16 (P/128)^gamma`; noise divides the error."""

    def run(training: Training) -> Run:
        star = 16 * (training.train_size / 128) ** gamma
        hot, first = training.temperature * 2**8, training.lr * 2**8 / star
        m = (1 + hot**3 + first**3) ** (1 / 3)
        noise = hot**3 / (1 + hot**3 + first**3)
        jitter = np.exp(0.01 * np.random.default_rng(int(training.key, 16)).standard_normal(2))
        numbers = {"alignment": m * jitter[0], "test_error": 0.1 * gain**-noise * jitter[1]}
        return Run(training, Outcome("fitted", 1, 1.0, numbers), 1.0)

    return Runs(tuple(map(run, FIGURE.plan("laptop"))))


def decided(runs: Runs) -> dict[str, Any]:
    return {claim.id: claim for claim in FIGURE.decide(runs, "laptop")}


def test_what_is_put_in_is_found() -> None:
    for gamma, gain, system, other in ((1.0, 2.0, "stripe", "diagonal"),
                                       (0.5, 1.0, "diagonal", "stripe")):  # fmt: skip
        claims = decided(planted(gamma, gain))
        assert len(claims) == 24
        assert claims[f"figX3.{system}.6"].measured.value == pytest.approx(gamma, abs=0.15)
        assert claims[f"figX3.{system}.6"].verdict != "fails"
        assert claims[f"figX3.{other}.6"].verdict == "fails"
        for name in (system, other):
            error = claims[f"figX3.{name}.7"]
            assert error.measured.value == pytest.approx(1 / gain, rel=0.05)
            assert error.verdict == ("holds" if gain == 2 else "fails")
            assert claims[f"figX3.{name}.4a"].verdict == "holds"


def test_a_plane_without_boundaries_is_undecided_and_drawn() -> None:
    runs = planted(1.0, 1.0)
    flat = Runs(tuple(run for run in runs.runs if run.training.lr == 2.0**-6))
    assert {claim.verdict for id, claim in decided(flat).items() if id.endswith(".6")} == {
        "undecided"
    }
    assert len(FIGURE.picture(runs, "laptop").axes) == 8  # four panels and their colour bars


def test_scales_grow() -> None:
    sizes = [len(FIGURE.plan(scale)) for scale in ("quick", "laptop", "paper")]
    assert sizes == sorted(sizes) and len({t.key for t in FIGURE.plan("paper")}) == sizes[-1]
    assert all(t.batch <= t.train_size for t in FIGURE.plan("paper"))
