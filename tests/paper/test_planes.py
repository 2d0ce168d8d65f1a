"""Regions, changes over them, and the claims of the perceptron's planes, on planted runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sgdphase._records import Outcome
from sgdphase._sweep import Run
from sgdphase.diagram import PhaseDiagram, Plane, phase_diagram
from sgdphase.paper._figure import FIGURES
from sgdphase.paper._planes import (
    FIRST_STEP,
    GD,
    NOISE,
    complete,
    extent,
    fit_along,
    regions,
    relative_change,
)
from sgdphase.paper._runs import Runs, expected_error
from sgdphase.stats import powers, whole_powers

LR, BATCH = np.array(powers(-8, 8)), np.array(whole_powers(0, 12), dtype=np.float64)
COLD, STAR = 2.0**-4, 2.0**6


def plane(lr: np.ndarray = LR, seeds: int = 3, batch: np.ndarray = BATCH) -> Plane:
    """Three regimes with `T_c = 2^-4` and `B* = 2^6`, so that the line is at most `2^2`."""
    hot, first = lr[:, None] / batch / COLD, lr[:, None] / (COLD * STAR)
    m = (1 + hot**3 + first**3) ** (1 / 3)
    jitter = 1 + 0.02 * np.random.default_rng(0).standard_normal((*m.shape, seeds))
    value = m[..., None] * jitter
    status = np.full(value.shape, "fitted")
    return Plane("alignment", lr, batch, np.arange(seeds), value, status)


def line(batch: np.ndarray) -> np.ndarray:
    return np.asarray(COLD * 7 ** (1 / 3) / (1 / batch**3 + 1 / STAR**3) ** (1 / 3))


def test_regions_are_a_factor_from_their_boundaries() -> None:
    inside = regions(phase_diagram(plane()))
    lr, batch = LR[:, None], BATCH[None, :]
    # Away from where a cell lies on the rim.
    sure = 4.3 * line(batch)
    assert inside[NOISE].cells[(lr >= sure) & (batch <= STAR / 5)].all()
    assert inside[FIRST_STEP].cells[(lr >= sure) & (batch >= STAR * 5)].all()
    assert inside[GD].cells[lr <= line(batch) / 4.3].all()
    assert not inside[GD].cells[lr > line(batch) / 3.7].any()
    assert not inside[NOISE].cells[:, BATCH > STAR / 3].any()


def test_without_a_line_the_other_two_stay() -> None:
    """A plane that ends above the GD line: the lowest growing learning rate bounds it."""
    hot = phase_diagram(plane(LR[LR >= 4]))
    assert not hot.gd_line and hot.critical_batch is not None
    inside = regions(hot)
    assert inside[GD].lacks.startswith("the GD line (no GD cells") and not inside[GD].cells.any()
    assert "does not have the GD line" in inside[GD].too_few(4)
    for name in (NOISE, FIRST_STEP):
        rows = np.flatnonzero(inside[name].cells.any(axis=1))
        assert inside[name].lacks == "" and hot.lr[rows].min() >= 16


def test_gd_starts_with_the_line() -> None:
    """Where the plane does not reach the line, it falls: a constant would be too high."""
    measured = plane()
    measured.value[LR < 2, :3] = np.nan
    diagram = phase_diagram(measured)
    first = diagram.gd_line[0].batch
    assert first == 8
    inside = regions(diagram)
    assert not inside[GD].cells[:, first > BATCH].any()
    # To the left the lowest learning rate there is, 2, bounds the line.
    assert inside[NOISE].cells[LR >= 8, 0].all()
    assert not inside[NOISE].cells[LR < 8, 0].any()


def test_without_a_critical_batch() -> None:
    diagram = phase_diagram(plane(batch=BATCH[:4]))
    assert diagram.critical_batch is None
    inside = regions(diagram)
    assert inside[GD].cells.any() and inside[GD].lacks == ""
    assert inside[NOISE].lacks == inside[FIRST_STEP].lacks == "B*"


def test_reasons_count_the_cells() -> None:
    inside = regions(phase_diagram(plane()))
    few = replace(inside[NOISE], cells=np.zeros_like(inside[NOISE].cells))
    assert few.too_few(4) == (
        "0 fitted cells at least a factor 4 inside the noise-dominated regime: 4 needed"
    )


def test_extent() -> None:
    region = np.zeros((LR.size, BATCH.size), dtype=bool)
    region[2:5, 3:7] = True
    assert extent(plane(), region, "lr") == pytest.approx(2 * np.log(2))
    assert extent(plane(), region, "batch") == pytest.approx(3 * np.log(2))
    assert extent(plane(), region, "diagonal") == pytest.approx(2 * np.log(2))
    assert extent(plane(), np.zeros_like(region), "lr") == 0


def test_change_over_a_region_as_a_part_of_the_panel() -> None:
    """An error that falls as lr^-0.1 everywhere: over 4 of 16 octaves it is a quarter of all."""
    errors = plane()
    jitter = 1 + 0.001 * np.random.default_rng(0).standard_normal(errors.value.shape)
    errors.value[:] = LR[:, None, None] ** -0.1 * jitter
    region = np.zeros((LR.size, BATCH.size), dtype=bool)
    region[2:7, 3:7] = True
    change = relative_change(errors, region, "lr")
    assert change is not None and change.low <= change.high
    assert change.value == pytest.approx(-0.25, abs=0.01)
    flat = relative_change(errors, region, "batch")
    assert flat is not None and abs(flat.value) < 0.01
    # A cell that lacks a seed does not count for the panel's variation.
    errors.value[0, 0, 0] = 1e9
    errors.value[0, 0, 1] = np.nan
    assert not complete(errors)[0, 0]
    again = relative_change(errors, region, "lr")
    assert again is not None and again.value == pytest.approx(-0.25, abs=0.01)


@pytest.mark.parametrize("height", [0.0, 0.5])
def test_a_hump_over_a_region_is_a_change(height: float) -> None:
    """Without any trend over the region: in the middle it is exp(height) times that at the ends."""
    errors = plane()
    region = np.zeros((LR.size, BATCH.size), dtype=bool)
    region[2:7, 3:8] = True
    jitter = 1 + 0.001 * np.random.default_rng(0).standard_normal(errors.value.shape)
    place = np.linspace(-1, 1, 5)[None, :, None]
    errors.value[:] = LR[:, None, None] ** -0.1 * jitter
    errors.value[2:7, 3:8] *= np.exp(height * (1 - place**2))
    change = relative_change(errors, region, "batch")
    whole = np.ptp(np.log(errors.value.mean(axis=-1)))
    assert change is not None and change.low - 0.01 <= -height / whole <= change.high + 0.01
    assert abs(change.value) == pytest.approx(height / whole, abs=0.01)


def test_cells_on_a_line_give_the_slope_along_it_alone() -> None:
    region = np.eye(LR.size, BATCH.size, dtype=bool)
    assert fit_along(plane(), region, "lr") is None
    assert fit_along(plane(), region, "batch") is None
    assert fit_along(plane(), region, "diagonal") is not None
    assert fit_along(plane(), np.zeros_like(region), "lr") is None


@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize("along", ["lr", "batch", "diagonal"])
def test_the_slope_along_lines_does_not_depend_on_the_levels_of_lines(
    along: str, slope: float
) -> None:
    """Levels that no power law gives, and a part of the plane of which lines have many lengths."""
    log_lr, log_batch = np.meshgrid(np.log(LR), np.log(BATCH), indexing="ij")
    place, across = {
        "lr": (log_lr, log_batch), "batch": (log_batch, log_lr),
        "diagonal": (log_lr, log_lr - log_batch),
    }[along]  # fmt: skip
    measured = plane()
    measured.value[:] = np.exp(slope * place + np.sin(across) - across**2 / 9)[..., None]
    region = (log_lr > -2) & (log_lr + log_batch < 9)
    fit = fit_along(measured, region, along)
    assert fit is not None
    assert fit.exponents[0] == pytest.approx(slope, abs=1e-9)


Error = Callable[[float, float], float]  # of lr / line and batch: a factor of lambda


def planted(name: str, lam: Error = lambda lr, batch: 1.0) -> Runs:
    """Runs at quick scale of a plane with `T_c = 2^-5`, `B* = 2^5`, and lambda near 30."""
    runs = []
    for t in FIGURES[name].plan("quick"):
        rng = np.random.default_rng(int(t.key, 16))
        hot, first = t.lr / t.batch * 2**5, t.lr
        w1 = (1 + hot**3 + first**3) ** (1 / 3) * (1 + 0.01 * rng.standard_normal())
        w_perp = w1 / (30 * lam(t.lr, t.batch) * (1 + 0.002 * rng.standard_normal()))
        observables = {"w1": w1, "w_perp": w_perp, "alignment": w1, "test_error": rng.random()}
        runs.append(Run(t, Outcome("fitted", 1, t.lr, observables), 1.0))
    return Runs(tuple(runs))


def verdicts(name: str, runs: Runs) -> dict[str, str]:
    claims = FIGURES[name].decide(runs, "quick")
    return {claim.id.removeprefix(f"{name}."): claim.verdict for claim in claims}


def best_at(lr: float, batch: int) -> Error:
    """Noise and first steps differ from GD; one cell is best."""

    def lam(rate: float, size: float) -> float:
        above = rate / min(size, 2**5) > 2**-4  # the line
        return 2.0 if (rate, size) == (lr, batch) else 0.7 if above else 1.0

    return lam


def test_perceptron_claims_hold() -> None:
    """The sampled test error, which is random here, does not enter."""
    decided = verdicts("fig1a", planted("fig1a", best_at(16.0, 1024)))
    ids = ["1", "2a", "2b", "3a", "3b", "4a", "4b", "5a", "5b", "5c", "6"]
    assert decided == dict.fromkeys(ids, "holds")


def test_perceptron_errors_that_change_fail() -> None:
    def lam(lr: float, batch: float) -> float:
        return float(lr**0.05)

    decided = verdicts("fig1a", planted("fig1a", lam))
    assert decided["5a"] == decided["5b"] == "fails"


@pytest.mark.parametrize(
    ("cell", "verdict"),
    [((16.0, 1024), "holds"), ((1.0, 1024), "fails"), ((16.0, 512), "fails"), ((16.0, 1), "fails")],
)
def test_the_lowest_error_by_the_drawn_boundaries(cell: tuple[float, int], verdict: str) -> None:
    """At full batch the line is at 7^(1/3) = 1.9: a cell below it does not meet the rule."""
    assert verdicts("fig1a", planted("fig1a", best_at(*cell)))["6"] == verdict


def test_the_lowest_error_near_the_line_is_undecided() -> None:
    """Two cells of the same error, one on each side of the line."""

    def lam(lr: float, batch: float) -> float:
        return 2.0 if batch == 1024 and lr in (1.0, 4.0) else 1.0

    assert verdicts("fig1a", planted("fig1a", lam))["6"] == "undecided"


def test_the_star_is_on_the_darkest_cell() -> None:
    runs = planted("fig1a", best_at(1.0, 64))
    axes = FIGURES["fig1a"].picture(runs, "quick").axes
    errors = axes[1].collections[0].get_array()
    [star] = [each for each in axes[1].lines if each.get_marker() == "*"]
    x, y = np.transpose(star.get_data())[0]
    assert (2.0**x, 2.0**y) == (64, 1)
    i, j = np.unravel_index(errors.argmin(), errors.shape)
    assert (runs.values("batch")[j], runs.values("lr")[i]) == (64, 1)
    # Means over seeds of what lambda says, not of the sample.
    assert errors.min() == pytest.approx(float(expected_error(60.0, 1.0)), rel=0.02)


def test_chi_0_is_not_testable_above_the_critical_batch() -> None:
    claims = FIGURES["fig1a-chi0"].decide(planted("fig1a-chi0"), "quick")
    never = {claim.id: claim.rule for claim in claims if claim.verdict == "not testable"}
    assert set(never) == {f"fig1a-chi0.{id}" for id in ("2a", "2b", "4b")}
    assert all("fixed part of P" in rule for rule in never.values())
    assert not any(claim.id.endswith(".6") for claim in claims)


@pytest.mark.parametrize(("power", "verdict"), [(0.5, "holds"), (0.25, "fails"), (1.0, "fails")])
def test_the_line_at_full_batch(power: float, verdict: str) -> None:
    runs = []
    for t in FIGURES["fig1a-line"].plan("paper"):
        rng = np.random.default_rng(int(t.key, 16))
        m = (1 + (t.lr / (4 * (t.train_size / 2**11.5) ** power)) ** 3) ** (1 / 3)
        m *= (1 + 0.1 * (t.seed % 10)) * (1 + 0.01 * rng.standard_normal())
        runs.append(Run(t, Outcome("fitted", 1, t.lr, {"alignment": m}), 1.0))
    planted_runs = Runs(tuple(runs))
    [claim] = FIGURES["fig1a-line"].decide(planted_runs, "paper")
    assert claim.verdict == verdict and claim.predicted == 0.5
    axes = FIGURES["fig1a-line"].picture(planted_runs, "paper").axes[0]
    sizes, line = axes.containers[0].lines[0].get_data()
    assert sizes.tolist() == planted_runs.values("train_size")
    np.testing.assert_allclose(line, 4 * 7 ** (1 / 3) * (sizes / 2**11.5) ** power, rtol=0.05)


def test_a_cell_without_every_seed_has_no_error_drawn() -> None:
    """Its mean over the seeds that are left does not compare with others."""
    from sgdphase.diagram import draw_figure

    measured = plane()
    errors = np.ones(measured.value.shape)
    errors[3, 3] = 0.1
    measured.value[3, 3, 0] = errors[3, 3, 0] = np.nan
    errors[5, 5] = 0.5
    # Most of these diverged.
    measured.value[7, 7, 1:] = errors[7, 7, 1:] = np.nan
    status = measured.status.astype("U8")
    status[7, 7, 1:] = "diverged"
    measured, errors[7, 7, 0] = replace(measured, status=status), 0.1
    diagram: PhaseDiagram = phase_diagram(replace(measured, test_error=errors))
    figure = draw_figure(diagram)
    panel = figure.axes[1]
    assert np.argwhere(panel.collections[0].get_array().mask).tolist() == [[3, 3], [7, 7]]
    assert diagram.best is not None and diagram.best.batch == BATCH[5]
    [star] = [each for each in panel.lines if each.get_marker() == "*"]
    assert np.transpose(star.get_data())[0].tolist() == np.log2([BATCH[5], LR[5]]).tolist()
    assert "not every seed fitted" in {text.get_text() for text in figure.legends[0].get_texts()}
