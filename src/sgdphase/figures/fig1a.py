"""Fig. 1A: the phase diagram of the perceptron, at chi = 1 and chi = 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sgdphase.diagram import (
    Estimate,
    PhaseDiagram,
    Plane,
    draw_lines,
    draw_names,
    draw_plane,
    phase_diagram,
    plane_from_table,
)
from sgdphase.figures._claims import Claim, equal, untested
from sgdphase.figures._frame import Figure, Scale
from sgdphase.figures._plane import Slopes, region_slopes, regions
from sgdphase.figures._runs import Runs
from sgdphase.figures._style import new_figure
from sgdphase.records import Training
from sgdphase.sweep import grid

CHIS = (1.0, 0.0)


def powers(first: int, last: int, step: int = 1) -> list[float]:
    """Powers of two with these exponents."""
    return [2.0**k for k in range(first, last + 1, step)]


def plan(scale: Scale) -> Sequence[Training]:
    trainings: list[Training] = []
    for chi in CHIS:
        if scale == "quick":
            plane: dict[str, Any] = {
                "train_size": 1024,
                "dim": 32,
                "lr": powers(-6, 12, 2),
                "batch": [int(b) for b in powers(0, 10)],
                "seeds": 3,
            }
        else:
            plane = {
                "train_size": 8192,
                "dim": 128,
                "lr": powers(-10, 12) if chi == 1 else powers(-5, 13),
                "batch": [int(b) for b in powers(0, 13)],
                "seeds": 5,
            }
        trainings += grid(chi=chi, margin=2.0**-7, **plane)
    return trainings


def diagram_of(runs: Runs, chi: float) -> tuple[Plane, PhaseDiagram]:
    plane = plane_from_table(runs.where(chi=chi).table())
    return plane, phase_diagram(plane)


def draw(runs: Runs, scale: Scale) -> Any:
    figure, axes = new_figure(columns=2, rows=len(CHIS), size=(4.9, 4.1))
    for row, chi in enumerate(CHIS):
        _, diagram = diagram_of(runs, chi)
        for panel, field in zip(axes[2 * row : 2 * row + 2], ("value", "test_error"), strict=True):
            draw_plane(panel, diagram, field)
            draw_lines(panel, diagram)
            panel.set_title(rf"$\chi={chi:g}$", fontsize="medium")
        draw_names(axes[2 * row], diagram)
    return figure


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    found: list[Claim] = []
    for chi in CHIS:
        plane, diagram = diagram_of(runs, chi)
        errors = plane_from_table(runs.where(chi=chi).table(), observable="test_error")
        found += _claims(f"fig1a.chi{chi:g}", plane, errors, diagram)
    return found


# An exponent within 0.1 of an integer cannot be taken for that of another regime, and lets a
# crossover that is a few octaves wide reach a little into the region.
TOLERANCE = 0.1
REASON = "regimes differ by 1 in it; a tenth allows for the width of the crossovers"


def _claims(id: str, plane: Plane, errors: Plane, diagram: PhaseDiagram) -> list[Claim]:
    inside = regions(diagram)
    m = {name: region_slopes(plane, region) for name, region in inside.items()}
    error = {name: region_slopes(errors, region) for name, region in inside.items()}
    return [
        _exponent(f"{id}.1", "noise-dominated: m is constant along T", m["noise"], "diagonal", 0),
        _exponent(f"{id}.2a", "first-step: m is constant in B", m["first step"], "batch", 0),
        _exponent(f"{id}.2b", "first-step: m is proportional to eta", m["first step"], "lr", 1),
        _exponent(f"{id}.3a", "GD: m does not depend on eta", m["GD"], "lr", 0),
        _exponent(f"{id}.3b", "GD: m does not depend on B", m["GD"], "batch", 0),
        _line(f"{id}.4a", "eta_c(B) has slope 1 below B*", diagram.slopes.get("below"), 1),
        _line(f"{id}.4b", "eta_c(B) has slope 0 above B*", diagram.slopes.get("above"), 0),
        _exponent(f"{id}.5a", "noise-dominated: test error constant along T", error["noise"],
                  "diagonal", 0),
        _exponent(f"{id}.5b", "GD: test error does not depend on eta", error["GD"], "lr", 0),
        _exponent(f"{id}.5c", "GD: test error does not depend on B", error["GD"], "batch", 0),
        _best(f"{id}.6", diagram, int(plane.batch.max())),
    ]  # fmt: skip


def _exponent(id: str, claim: str, slopes: Slopes | None, along: str, predicted: float) -> Claim:
    if slopes is None:
        return untested(id, claim, predicted, "fewer than 4 cells well inside this regime")
    return equal(id, claim, getattr(slopes, along), predicted, TOLERANCE, REASON)


def _line(id: str, claim: str, slope: Estimate | None, predicted: float) -> Claim:
    if slope is None:
        return untested(id, claim, predicted, "too few batches on this side of B*")
    return equal(id, claim, slope, predicted, 0.15, "as regimes, with fewer points on the line")


def _best(id: str, diagram: PhaseDiagram, full: int) -> Claim:
    claim = "the lowest test error is at full batch in the first-step-dominated regime"
    rule = (
        "holds if the cell of lowest mean error has the full batch and is first-step-dominated, in "
        "9 of 10 bootstrap replicates; fails if 9 of 10 have it in another regime"
    )
    best = diagram.best
    if best is None:
        return untested(id, claim, float(full), rule)
    there = best.batch == full and best.regime == "first-step-dominated"
    sure = best.confidence >= 0.9
    verdict = "undecided" if not sure else "holds" if there else "fails"
    return Claim(id, claim, float(full), float(best.batch), None, None, rule, verdict)  # type: ignore[arg-type]


FIGURE = Figure(
    "fig1a",
    "phase diagram of the perceptron in (B, eta): alignment and test error, chi = 1 and 0",
    plan,
    draw,
    claims,
)
