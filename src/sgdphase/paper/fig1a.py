"""Fig. 1A: the phase diagram of the perceptron, at chi = 1 as in the paper, and at chi = 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase.diagram import PhaseDiagram, phase_diagram, plane_from_table
from sgdphase.paper import _phase
from sgdphase.paper.claim import Claim, untested
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs


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
    return _phase.draw(runs)


def claims(name: str, runs: Runs) -> list[Claim]:
    plane = plane_from_table(runs.table())
    best = _best(f"{name}.6", phase_diagram(plane), int(plane.batch.max()))
    return [*_phase.claims(name, runs), best]


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

FIGURES = (FIGURE, FIGURE_CHI0)
