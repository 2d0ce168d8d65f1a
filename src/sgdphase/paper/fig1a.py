"""Fig. 1A: the phase diagram of the perceptron, at chi = 1 as in the paper, and at chi = 0."""

from __future__ import annotations

from sgdphase.paper.claim import Claim, Scale, Verdict, untested
from sgdphase.paper.figure import Figure, Grid
from sgdphase.paper.planes import draw_phases, phase_claims
from sgdphase.paper.runs import Runs
from sgdphase.stats import powers, whole_powers


def best_claim(runs: Runs, scale: Scale) -> list[Claim]:
    """(6): where the test error is lowest."""
    id, says = "6", "the lowest test error is at full batch in the first-step-dominated regime"
    rule = (
        "holds if the cell of lowest mean error has the full batch and is first-step-dominated, in "
        "9 of 10 bootstrap replicates; fails if 9 of 10 have it in another regime"
    )
    full, best = float(runs.values("batch")[-1]), runs.diagram.best
    if best is None:
        return [untested(id, says, full, rule)]
    there = best.batch == full and best.regime == "first-step-dominated"
    sure: Verdict = "holds" if there else "fails"
    verdict = sure if best.confidence >= 0.9 else "undecided"
    return [Claim(id, says, full, float(best.batch), None, None, rule, verdict)]


def _figure(name: str, chi: float, rates: tuple[int, int]) -> Figure:
    """The plane at one chi; learning rates from and to these powers of two."""
    return Figure(
        name,
        f"phase diagram of the perceptron in (B, eta): alignment and test error, chi = {chi:g}",
        plan=Grid(
            chi=chi,
            margin=2.0**-7,
            quick=dict(
                train_size=1024, dim=32, lr=powers(-6, 12, 2), batch=whole_powers(0, 10), seeds=3
            ),
            paper=dict(
                train_size=8192, dim=128, lr=powers(*rates), batch=whole_powers(0, 13), seeds=5
            ),
        ),
        draw=lambda runs, scale: draw_phases(runs),
        claims=[phase_claims, best_claim],
    )


# At chi = 0 trainings are longer and the learning rates larger.
FIGURES = (_figure("fig1a", 1.0, (-10, 12)), _figure("fig1a-chi0", 0.0, (-5, 13)))
