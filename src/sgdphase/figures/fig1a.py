"""Fig. 1A: the phase diagram of the perceptron, at chi = 1 as in the paper, and at chi = 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sgdphase.diagram import (
    Estimate,
    PhaseDiagram,
    Plane,
    draw_figure,
    phase_diagram,
    plane_from_table,
)
from sgdphase.figures._claims import Claim, equal, untested
from sgdphase.figures._frame import Figure, Scale
from sgdphase.figures._plane import Slopes, region_slopes, regions
from sgdphase.figures._runs import Runs
from sgdphase.records import Training
from sgdphase.sweep import grid


def powers(first: int, last: int, step: int = 1) -> list[float]:
    """Powers of two with these exponents."""
    return [2.0**k for k in range(first, last + 1, step)]


def plan(chi: float, scale: Scale) -> Sequence[Training]:
    """The plane at one chi; at chi = 0 trainings are longer and the learning rates larger."""
    lowest, highest = (-10, 12) if chi == 1 else (-5, 13)
    if scale == "quick":
        size, dim, seeds, batches = 1024, 32, 3, powers(0, 10)
        rates = powers(-6, 12, 2)
    else:
        size, dim, seeds, batches = 8192, 128, 5, powers(0, 13)
        rates = powers(lowest, highest)
    return grid(
        chi=chi,
        train_size=size,
        dim=dim,
        margin=2.0**-7,
        lr=rates,
        batch=[int(batch) for batch in batches],
        seeds=seeds,
    )


def draw(runs: Runs, scale: Scale) -> Any:
    return draw_figure(phase_diagram(plane_from_table(runs.table())))


def claims(name: str, runs: Runs) -> list[Claim]:
    plane = plane_from_table(runs.table())
    errors = plane_from_table(runs.table(), observable="test_error")
    return _claims(name, plane, errors, phase_diagram(plane))


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


def _figure(name: str, chi: float) -> Figure:
    return Figure(
        name,
        f"phase diagram of the perceptron in (B, eta): alignment and test error, chi = {chi:g}",
        lambda scale: plan(chi, scale),
        draw,
        lambda runs, _: claims(name, runs),
    )


FIGURE, FIGURE_CHI0 = _figure("fig1a", 1.0), _figure("fig1a-chi0", 0.0)
