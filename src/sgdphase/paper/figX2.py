"""Fig. X2: the phase diagram of theory alone, laid over the simulated one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import patheffects

from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase.diagram import PhaseDiagram, draw_plane, phase_diagram, plane_from_table
from sgdphase.diagram._style import new_figure
from sgdphase.paper._crossover import MARGIN, powers
from sgdphase.paper.claim import Claim, equal, untested
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs
from sgdphase.stats import Estimate
from sgdphase.theory import Scales, scales

CHIS = (0.0, 1.0, 3.0)
# Exponents of the learning rates: first, last, step. At chi = 0 and 1 they are those of fig1a.
RATES = {0.0: (-5, 13, 1), 1.0: (-10, 12, 1), 3.0: (-8, 12, 2)}
QUICK_RATES = {0.0: (-4, 12, 2), 1.0: (-6, 12, 2), 3.0: (-6, 12, 2)}


def plan(scale: Scale) -> Sequence[Training]:
    trainings: list[Training] = []
    for chi in CHIS:
        if scale == "quick":
            plane: dict[str, Any] = {"train_size": 512, "dim": 16, "seeds": 2, "test_size": 2048}
            first, last, step = QUICK_RATES[chi]
            batches = powers(0, 9)
        else:
            plane = {"train_size": 8192, "dim": 128, "seeds": 5}
            first, last, step = RATES[chi]
            batches = powers(0, 13)
        rates = [2.0**k for k in range(first, last + 1, step)]
        trainings += grid(chi=chi, margin=MARGIN, lr=rates, batch=batches, **plane)
    return trainings


def theory_of(runs: Runs, chi: float) -> Scales:
    """The scales with their prefactors, per unit temperature."""
    size, dim = runs.values("train_size")[0], runs.values("dim")[0]
    return scales(train_size=size, dim=dim, chi=chi, margin=MARGIN)


def diagram_of(runs: Runs, chi: float) -> PhaseDiagram:
    return phase_diagram(plane_from_table(runs.where(chi=chi).table()))


_HALO = [patheffects.withStroke(linewidth=2.8, foreground="white", alpha=0.9)]
_THEORY = "#D00000"


def draw(runs: Runs, scale: Scale) -> Any:
    """Alignment in the plane; measured boundaries black, those of theory red and without a fit."""
    chis = [chi for chi in CHIS if chi in runs.values("chi")]
    figure, axes = new_figure(columns=len(chis), size=(4.6, 4.2))
    for panel, chi in zip(np.atleast_1d(axes), chis, strict=True):
        diagram = diagram_of(runs, chi)
        draw_plane(panel, diagram, "value")
        _measured(panel, diagram)
        _predicted(panel, theory_of(runs, chi))
        panel.set_title(rf"$\chi={chi:g}$", fontsize="medium")
    handles, labels = np.atleast_1d(axes)[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _measured(axes: Any, diagram: PhaseDiagram) -> None:
    limits = axes.get_xlim(), axes.get_ylim()
    black: Any = {"color": "black", "lw": 1.6, "path_effects": _HALO, "zorder": 4}
    label: str | None = "simulated boundaries"
    if diagram.gd_line:
        x = np.log2([point.batch for point in diagram.gd_line])
        y = np.log2([point.lr for point in diagram.gd_line])
        axes.plot(x, y, label=label, **black)
        if diagram.critical_batch is not None:
            star = np.log2(diagram.critical_batch.value)
            axes.plot([star, star], [np.interp(star, x, y), limits[1][1]], **black)
    axes.set(xlim=limits[0], ylim=limits[1])


def _predicted(axes: Any, theory: Scales) -> None:
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    line: Any = {"color": _THEORY, "lw": 1.7, "path_effects": _HALO, "zorder": 5}
    star, cold = np.log2(theory.critical_batch), np.log2(theory.critical_temperature)
    step, once = np.log2(theory.first_step_lr), np.log2(theory.one_step_batch)
    label = r"theory: $\eta=T_cB$ up to $B^*$, first step $\eta=T_cB^*$"
    x, y = [left, star, right], [left + cold, star + cold, star + cold]
    axes.plot(x, y, ls="--", label=label, **line)
    axes.plot([star, star], [star + cold, top], ls="--", **line)
    label = r"theory: one step exceeds $\kappa$ at the hardest point"
    axes.plot([star, right], [step, step], ls=":", label=label, **line)
    label = r"theory: fitted in one step"
    axes.plot([once, once], [max(step, bottom), top], ls="-.", label=label, **line)
    axes.set(xlim=(left, right), ylim=(bottom, top))


# The theory's scales turn comparisons of orders of magnitude into equalities. Half a decade is what
# an order of magnitude allows; the planes span four decades in B and six in eta.
FACTOR = 0.5
REASON = "half a decade is what an argument by orders of magnitude can promise"


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    found: list[Claim] = []
    for chi in CHIS:
        if chi not in runs.values("chi"):
            continue
        diagram, theory = diagram_of(runs, chi), theory_of(runs, chi)
        t_c, b_star, first = (
            diagram.critical_temperature, diagram.critical_batch, diagram.first_step_lr,
        )  # fmt: skip
        bend = theory.critical_temperature * theory.critical_batch
        found += [
            _ratio(f"figX2.chi{chi:g}.1", "B*", b_star, theory.critical_batch),
            _ratio(f"figX2.chi{chi:g}.2", "T_c", t_c, theory.critical_temperature),
            _ratio(f"figX2.chi{chi:g}.3", "eta_c above B* = T_c B*", first, bend),
            _ratio(f"figX2.chi{chi:g}.4", "eta_c above B* = first step exceeds the margin at the "
                   "hardest point", first, theory.first_step_lr),
        ]  # fmt: skip
    return found


def _ratio(id: str, name: str, measured: Estimate | None, predicted: float) -> Claim:
    claim = f"{name}: log10 of measured over theory, no fit"
    if measured is None:
        return untested(id, claim, 0.0, "the plane does not hold this boundary")
    logs = [float(np.log10(x / predicted)) for x in (measured.value, measured.low, measured.high)]
    return equal(id, claim, Estimate(*logs), 0.0, FACTOR, REASON)


FIGURE = Figure(
    "figX2",
    "phase diagram of theory alone (no fit) over the simulated one, chi = 0, 1, 3",
    plan,
    draw,
    claims,
)
