"""The kit of the figures on planted runs: plans at scales, claims, curves, and the catalog."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgdphase._records import Outcome, Training
from sgdphase._sweep import Run, Store
from sgdphase.errors import InputError
from sgdphase.paper import Constant, Mean, Slope
from sgdphase.paper._claim import Collapses, Each, Exponent
from sgdphase.paper._draw import Curves
from sgdphase.paper._figure import FIGURES, SCALES, Figure, Grid, chosen, together
from sgdphase.paper._make import collect, cost, make
from sgdphase.paper._measure import (
    furthest,
    geometric_mean,
    mean,
)
from sgdphase.paper._runs import Runs
from sgdphase.stats import Estimate, whole_powers

PLAN = Grid(
    dim=8,
    lr=[1.0, 4.0],
    batch=whole_powers(0, 6),
    quick={"seeds": 2, "train_size": [64, 128]},
    paper={"seeds": 3, "train_size": [256, 1024, 4096]},
)


def runs_of(
    plan: Callable[..., list[Training]], y: Callable[[Training], float], scale: str = "paper"
) -> Runs:
    """Runs whose `y` is a function of the training, but for a small noise of each seed."""

    def observed(training: Training) -> dict[str, float]:
        rng = np.random.default_rng([training.seed, training.train_size, training.batch])
        return {"y": y(training) * float(np.exp(0.01 * rng.standard_normal()))}

    return Runs(
        tuple(Run(t, Outcome("fitted", 4, 4 * t.lr, observed(t)), 0.0) for t in plan(scale))
    )


def law(training: Training) -> float:
    return training.lr**2 * float(np.sqrt(training.train_size)) / training.batch


def test_a_grid_at_each_scale() -> None:
    quick, laptop, paper = (PLAN(scale) for scale in SCALES)
    assert len(quick) == 2 * 2 * 7 * 2
    assert [t.key for t in laptop] == [t.key for t in paper]
    assert {t.train_size for t in paper} == {256, 1024, 4096}
    both = together(PLAN, Grid(dim=4, lr=1.0, batch=1, quick={}, paper={}))
    assert len(both("quick")) == len(quick) + 1


@pytest.mark.parametrize("call", ["plan", "cost", "collect", "make"])
def test_a_misspelt_scale_is_not_the_paper_scale(call: str, tmp_path: Path) -> None:
    """The plan of a function, too, which would run something else or raise a KeyError."""
    figure: Any = Figure("figZ", "", lambda scale: [], lambda runs: None, claims=[])
    store = Store(tmp_path / "runs.sqlite")
    calls: dict[str, Callable[[Any], object]] = {
        "plan": PLAN,
        "cost": lambda scale: cost(figure, scale, store),
        "collect": lambda scale: collect(figure, scale, store),
        "make": lambda scale: make(figure, scale, store, tmp_path),
    }
    with pytest.raises(InputError, match=r"^scale = 'quik': must be quick, laptop or paper$"):
        calls[call]("quik")


def test_an_unknown_figure_is_named_with_the_likely_one() -> None:
    assert "fig1A" not in FIGURES and "fig1a" in FIGURES
    with pytest.raises(KeyError, match=r"'fig1A' is not a figure \(did you mean fig1a\?\); there"):
        FIGURES["fig1A"]
    with pytest.raises(InputError, match=r"did you mean fig1a\?\); there are fig1a, .*, and all"):
        chosen(["fig1A"])


def test_runs_by_parameter() -> None:
    runs = runs_of(PLAN, law)
    assert runs.values("train_size") == [256, 1024, 4096]
    assert runs.only("dim") == 8
    assert [own.only("lr") for own in runs.split("lr")] == [1.0, 4.0]
    batch, y = runs.curve("batch", "y", train_size=256, lr=1.0)
    assert batch.tolist() == whole_powers(0, 6) and y.shape == (7, 3)
    np.testing.assert_allclose(y[:, 0], 16 / batch, rtol=0.05)
    assert runs.curve("batch", "time", train_size=256, lr=4.0)[1].tolist() == [[16.0] * 3] * 7
    assert [run.training.seed for run in runs.by_seed(train_size=256, lr=1.0, batch=1)] == [
        100,
        101,
        102,
    ]


def test_a_misspelt_number_is_said() -> None:
    with pytest.raises(KeyError, match="not among y"):
        runs_of(PLAN, law).curve("batch", "z")


def exponent(of: str, equals: float) -> Exponent:
    return Exponent(
        "1", f"y ~ {of}", "y", of, equals=equals, among=("lr", "batch", "train_size"),
        where=lambda training: training.batch <= 8,
    )  # fmt: skip


@pytest.mark.parametrize(("of", "truth"), [("lr", 2), ("batch", -1), ("train_size", 0.5)])
def test_exponents_over_a_region(of: str, truth: float) -> None:
    runs = runs_of(PLAN, law)
    right, wrong = exponent(of, truth).decide(runs), exponent(of, truth + 1).decide(runs)
    assert right.measured.value == pytest.approx(truth, abs=0.02)
    assert (right.verdict, wrong.verdict) == ("holds", "fails")
    assert right.predicted == truth


def test_an_exponent_that_the_runs_do_not_determine_is_undecided() -> None:
    claim = exponent("lr", 2).decide(runs_of(PLAN, law).where(lr=1.0))
    assert (claim.verdict, claim.measured) == ("undecided", None)
    assert claim.rule == "too few cells in this regime"


def collapsing(predicted: float) -> Collapses:
    curves = Mean(lambda run: run.outcome["y"] / run.training.lr**2, "batch").by("train_size")
    says = lambda runs: f"B* of {len(runs.runs)} runs"  # noqa: E731
    return Collapses("2", says, curves, drift=True, equals=predicted)


def test_collapses() -> None:
    runs = runs_of(PLAN, lambda t: t.lr**2 * (1 + t.train_size**0.4 / t.batch))
    right, wrong = (collapsing(g).decide(runs) for g in (0.4, 0.8))
    assert right.measured.value == pytest.approx(0.4, abs=0.05)
    assert (right.verdict, wrong.verdict) == ("holds", "fails")
    assert right.claim.startswith("B* of 126 runs (effective exponent; chi2 ")
    assert "; over 3 consecutive sizes" in right.claim
    none = collapsing(0.4).decide(runs.where(train_size=256))
    assert none.verdict == "undecided" and "no best collapse" in none.rule


def test_ids_start_with_the_name_of_the_figure() -> None:
    one = Estimate(1.0, 0.95, 1.05)
    figure = Figure(
        "figZ", "", PLAN, lambda runs: None,
        claims=[
            lambda runs: [Constant("0", "one", one, equals=1)],
            Each("lr", lambda lr: [exponent("batch", -1)]),
        ],
    )  # fmt: skip
    decided = figure.decide(runs_of(PLAN, law), "paper")
    assert [claim.id for claim in decided] == ["figZ.0", "figZ.lr1.1", "figZ.lr4.1"]
    assert {claim.verdict for claim in decided} == {"holds"}


def test_other_parameters_are_averaged_in_each_seed() -> None:
    runs = runs_of(PLAN, law)
    sizes, y = runs.curve("train_size", "y", batch=1)
    assert y.shape == (3, 3)
    np.testing.assert_allclose(y[:, 0], 4 * np.sqrt(sizes), rtol=0.05)  # lr^2 is 4 on average
    slope = Slope("y", "train_size", where=lambda training: training.batch == 1, last=2)
    assert slope(runs).value == pytest.approx(0.5, abs=0.02)
    assert Slope("y", "train_size", at={"train_size": 0})(runs) is None


def test_ratios_to_other_places() -> None:
    runs = runs_of(PLAN, law)
    ratio = Mean("y", "batch", at={"lr": -1}, to={"lr": 0})
    assert ratio.curve(runs)[1].shape == (7, 3)
    assert ratio(runs).value == pytest.approx(16, rel=0.02)
    first = Mean("y", "batch", at={"batch": slice(1, None)}, to={"batch": 0})
    np.testing.assert_allclose(first.curve(runs)[1][:, 0], 1 / 2.0 ** np.arange(1, 7), rtol=0.05)


def test_means() -> None:
    y = np.array([[1.0, 4.0], [4.0, 16.0]])
    assert mean(y).value == pytest.approx(6.25)
    assert geometric_mean(y).value == pytest.approx(4)
    assert geometric_mean([[1.0, 4.0, 0.0, np.nan]]).value == pytest.approx(2)
    assert furthest(y / 16).value == pytest.approx(1 / 8)
    low = Estimate(2.0, 1.0, 4.0).mapped(lambda x: 1 / x)
    assert (low.value, low.low, low.high) == (0.5, 0.25, 1.0)


def test_curves_show_means_in_units() -> None:
    drawing = Curves(
        "batch", "y", by="train_size", marks="lr", xlabel="x", ylabel="y",
        symbols={"train_size": "P", "lr": "lr"},
        unit=lambda training: (training.train_size, training.lr**2),
        inset=((0.6, 0.6, 0.3, 0.3), "B", "y"),
    )  # fmt: skip
    runs = runs_of(PLAN, law, "quick")
    (axes,) = drawing(runs).axes
    assert len(axes.containers) == 4
    for container, (size, lr) in zip(
        axes.containers, [(64, 1.0), (64, 4.0), (128, 1.0), (128, 4.0)], strict=True
    ):
        x, y = container.lines[0].get_data()
        batch, values = runs.curve("batch", "y", train_size=size, lr=lr)
        np.testing.assert_allclose(x, batch / size)
        np.testing.assert_allclose(y, np.sqrt(values.prod(axis=1)) / lr**2)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["$P=2^{6}$", "$P=2^{7}$", "$lr=2^{0}$", "$lr=2^{2}$"]
    raw = axes.child_axes[0].lines[0].get_xdata()
    assert raw.tolist() == whole_powers(0, 6)


def test_a_panel_per_value() -> None:
    drawing = Curves("batch", "y", by="train_size", panels="lr", xlabel="", ylabel="")
    panels = drawing(runs_of(PLAN, law, "quick")).axes
    assert [len(panel.containers) for panel in panels] == [2, 2]


def test_every_figure_has_its_name() -> None:
    for name, figure in FIGURES.items():
        assert figure.name == name
        assert figure.shows[0] != " " and not figure.shows.endswith(".")
    assert [figure.name for figure in chosen(["fig2", "fig1a"])] == ["fig2", "fig1a"]
    assert len(chosen(["all"])) == len(FIGURES)
    with pytest.raises(InputError, match="there are fig1a"):
        chosen(["fig2", "nothing"])


def test_one_figure_loads_no_other() -> None:
    code = (
        "import sys; from sgdphase.paper._figure import FIGURES; list(FIGURES); FIGURES['fig1b'];"
        "print(sorted(m for m in sys.modules if m.startswith('sgdphase.paper.fig')))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert out.strip() == "['sgdphase.paper.fig1b']"
