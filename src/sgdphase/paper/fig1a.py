"""Fig. 1A: the phase diagram of the perceptron, at chi = 1 as in the paper, and at chi = 0.

Figure X2, not in the paper, lays the phase diagram of theory alone (red, without a fit) over the
simulated one (alignment in the plane, measured boundaries black), at chi = 3 too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sgdphase import theory
from sgdphase.diagram import PhaseDiagram, draw_plane
from sgdphase.diagram._style import new_figure
from sgdphase.paper._claim import Constant, Each, Tolerance
from sgdphase.paper._figure import Figure, Grid, together
from sgdphase.paper._ledger import Claim, Scale, Verdict
from sgdphase.paper._measure import converted, scales
from sgdphase.paper._planes import draw_phases, phase_claims
from sgdphase.paper._runs import Runs
from sgdphase.stats import Estimate, powers, whole_powers

RED = "#D00000"
# Learning rates of the planes of the paper by chi, as exponents of two, first, last and step: at
# chi = 0 trainings are longer and the learning rates larger.
RATES = {0.0: (-5, 13, 1), 1.0: (-10, 12, 1), 3.0: (-8, 12, 2)}


def _grid(chi: float, **quick: Any) -> Grid:
    rates, batches = powers(*RATES[chi]), whole_powers(0, 13)
    return Grid(
        chi=chi,
        margin=2.0**-7,
        quick=quick,
        paper=dict(train_size=8192, dim=128, lr=rates, batch=batches, seeds=5),
    )


def _small_grid(chi: float, lowest: int) -> Grid:
    """At quick scale smaller than Fig. 1A, with learning rates from this power of two on."""
    rates, batches = powers(lowest, 12, 2), whole_powers(0, 9)
    return _grid(chi, train_size=512, dim=16, lr=rates, batch=batches, seeds=2, test_size=2048)


def best_claim(runs: Runs, scale: Scale) -> list[Claim]:
    """(6): where the test error is lowest."""
    id, says = "6", "the lowest test error is at full batch in the first-step-dominated regime"
    rule = (
        "holds if the cell of lowest mean error has the full batch and is first-step-dominated, in "
        "9 of 10 bootstrap replicates; fails if 9 of 10 have it in another regime"
    )
    full, best = float(runs.values("batch")[-1]), runs.diagram.best
    if best is None:
        return [Claim(id, says, full, None, rule, "undecided")]
    there = best.batch == full and best.regime == "first-step-dominated"
    sure: Verdict = "holds" if there else "fails"
    verdict = sure if best.confidence >= 0.9 else "undecided"
    batch = Estimate(float(best.batch), float("nan"), float("nan"))
    return [Claim(id, says, full, batch, rule, verdict)]


def draw_with_theory(runs: Runs, scale: Scale) -> Any:
    parts = runs.split("chi")
    figure, axes = new_figure(len(parts), size=(4.6, 4.2))
    for panel, part in zip(axes, parts, strict=True):
        draw_plane(panel, part.diagram, "value")
        limits = panel.get_xlim(), panel.get_ylim()
        _draw_measured(panel, part.diagram)
        _draw_theory(panel, scales(part.runs[0].training), *limits)
        panel.set(xlim=limits[0], ylim=limits[1])
        panel.set_title(rf"$\chi={part.only('chi'):g}$", fontsize="medium")
    handles, labels = axes[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _look(color: str, zorder: int) -> dict[str, Any]:
    from matplotlib import patheffects

    halo = [patheffects.withStroke(linewidth=2.8, foreground="white", alpha=0.9)]
    return {"color": color, "lw": 1.7, "path_effects": halo, "zorder": zorder}


def _draw_measured(axes: Any, diagram: PhaseDiagram) -> None:
    black, line = _look("black", 4), diagram.gd_line
    if not line:
        return
    x, y = np.log2([(point.batch, point.lr.value) for point in line]).T
    axes.plot(x, y, label="simulated boundaries", **black)
    if diagram.critical_batch is not None:
        star = np.log2(diagram.critical_batch.value)
        axes.plot([star, star], [np.interp(star, x, y), axes.get_ylim()[1]], **black)


def _draw_theory(axes: Any, expected: theory.Scales, x: Any, y: Any) -> None:
    (left, right), (bottom, top), red = x, y, _look(RED, 5)
    star, cold = np.log2(expected.critical_batch), np.log2(expected.critical_temperature)
    step, once = np.log2(expected.first_step_lr), np.log2(expected.one_step_batch)
    bend = star + cold
    label = r"theory: $\eta=T_cB$ up to $B^*$, first step $\eta=T_cB^*$"
    axes.plot([left, star, right], [left + cold, bend, bend], ls="--", label=label, **red)
    axes.plot([star, star], [bend, top], ls="--", **red)
    label = r"theory: one step exceeds $\kappa$ at the hardest point"
    axes.plot([star, right], [step, step], ls=":", label=label, **red)
    label = "theory: fitted in one step"
    axes.plot([once, once], [max(step, bottom), top], ls="-.", label=label, **red)


def prefactor_claims(runs: Runs, scale: Scale) -> list[Constant]:
    """Of one chi."""
    diagram, expected = runs.diagram, scales(runs.runs[0].training)
    bend = expected.critical_temperature * expected.critical_batch
    first, hardest = diagram.first_step_lr, "first step exceeds the margin at the hardest point"
    return [
        _ratio("1", "B*", diagram.critical_batch, expected.critical_batch),
        _ratio("2", "T_c", diagram.critical_temperature, expected.critical_temperature),
        _ratio("3", "eta_c above B* = T_c B*", first, bend),
        _ratio("4", f"eta_c above B* = {hardest}", first, expected.first_step_lr),
    ]


# The theory's scales turn comparisons of orders of magnitude into equalities. The planes span four
# decades in B and six in eta.
HALF_A_DECADE = Tolerance(
    0.5, "half a decade is what an argument by orders of magnitude can promise"
)


def _ratio(id: str, name: str, measured: Estimate | None, predicted: float) -> Constant:
    logs = measured and converted(measured, lambda x: float(np.log10(x / predicted)))
    says, no = (
        f"{name}: log10 of measured over theory, no fit",
        "the plane does not hold this boundary",
    )
    return Constant(id, says, logs, equals=0, within=HALF_A_DECADE, otherwise=no)


def _figure(name: str, chi: float) -> Figure:
    rates, batches = powers(-6, 12, 2), whole_powers(0, 10)
    return Figure(
        name,
        f"phase diagram of the perceptron in (B, eta): alignment and test error, chi = {chi:g}",
        plan=_grid(chi, train_size=1024, dim=32, lr=rates, batch=batches, seeds=3),
        draw=draw_phases,
        claims=[phase_claims, best_claim],
    )


FIGURES = (
    _figure("fig1a", 1.0),
    _figure("fig1a-chi0", 0.0),
    Figure(
        "figX2",
        "phase diagram of theory alone (no fit) over the simulated one, chi = 0, 1, 3",
        plan=together(_small_grid(0.0, -4), _small_grid(1.0, -6), _small_grid(3.0, -6)),
        draw=draw_with_theory,
        claims=[Each("chi", lambda chi: [prefactor_claims])],
        ledger="ours",
    ),
)
