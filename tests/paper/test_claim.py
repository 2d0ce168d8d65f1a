"""The two rules that decide claims."""

import math

import pytest

from sgdphase import Estimate
from sgdphase.paper import Above, Below, Claims, Constant, Runs, Tolerance
from sgdphase.paper._claim import verdict_of


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
    tolerance = Tolerance(0.1, "why not")
    spec = Constant("a.1", "x is 1", Estimate(1.0, low, high), equals=1, within=tolerance)
    claim = spec.decide(Runs(()))
    assert claim.verdict == verdict
    assert "why not" in claim.rule


def test_more_seeds_do_not_mend_a_misfit() -> None:
    assert verdict_of(Estimate(1.0, 0.8, 1.2), 0.9, 1.1) == ("undecided", 4)
    assert verdict_of(Estimate(1.0, 0.8, 1.2, misfit=True), 0.9, 1.1) == ("undecided", math.inf)


def test_half_lines() -> None:
    number = Estimate(2.0, 1.5, 2.5)

    def verdict(kind: type[Above], bound: float) -> str:
        return kind("a", "b", number, bound, "r").decide(Runs(())).verdict

    assert [verdict(Above, bound) for bound in (1, 3, 2)] == ["holds", "fails", "undecided"]
    assert [verdict(Below, bound) for bound in (3, 1, 2)] == ["holds", "fails", "undecided"]


def test_numbers_that_are_not_finite_are_left_out() -> None:
    nothing = Estimate(math.nan, math.nan, math.nan)
    claim = Constant("a", "b", nothing, equals=1).decide(Runs(())).as_dict()
    assert (claim["measured"], claim["low"], claim["verdict"]) == (None, None, "undecided")


def test_what_is_not_measured_says_why() -> None:
    claim = Above("a", "b", None, 1, "r", otherwise="too few runs").decide(Runs(()))
    assert (claim.measured, claim.verdict, claim.rule) == (None, "undecided", "too few runs")


def test_claims_are_a_table() -> None:
    made = Constant("a.1", "x is 1", Estimate(1.0, 0.95, 1.05), equals=1).decide(Runs(()))
    none = Constant("a.2", "<x>" * 60, None, equals=1).decide(Runs(()))
    claims = Claims([made, none])
    assert repr(claims).splitlines()[0] == "2 claims: 1 hold, 0 fail, 1 undecided"
    assert "1 [0.95, 1.05]" in repr(made) and max(map(len, repr(claims).splitlines())) < 200
    assert "&lt;x&gt;" in claims._repr_html_() and list(claims) == [made, none]
    table = pytest.importorskip("pandas") and claims.to_pandas()
    assert table["verdict"].tolist() == ["holds", "undecided"] and list(table) == list(
        made.as_dict()
    )
