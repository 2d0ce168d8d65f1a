"""Figure X2: the phase diagram of theory alone, laid over the simulated one.

Not in the paper. Alignment in the plane; measured boundaries black, those of theory red, without a
fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sgdphase import theory
from sgdphase.diagram import PhaseDiagram, draw_plane
from sgdphase.diagram._style import new_figure
from sgdphase.paper.claim import Claim, Each, Scale, equal, untested
from sgdphase.paper.figure import Figure, Grid, together
from sgdphase.paper.measure import converted, scales
from sgdphase.paper.runs import Runs
from sgdphase.stats import Estimate, powers, whole_powers

RED = "#D00000"


def _grid(chi: float, quick: tuple[int, int, int], paper: tuple[int, int, int]) -> Grid:
    """Learning rates are given as exponents of two, first, last and step."""
    few, many = whole_powers(0, 9), whole_powers(0, 13)
    return Grid(
        chi=chi,
        quick=dict(train_size=512, dim=16, lr=powers(*quick), batch=few, seeds=2, test_size=2048),
        paper=dict(train_size=8192, dim=128, lr=powers(*paper), batch=many, seeds=5),
    )


def draw(runs: Runs, scale: Scale) -> Any:
    parts = runs.split("chi")
    figure, axes = new_figure(len(parts), size=(4.6, 4.2))
    for panel, part in zip(axes, parts, strict=True):
        draw_plane(panel, part.diagram, "value")
        limits = panel.get_xlim(), panel.get_ylim()
        _draw_measured(panel, part.diagram)
        _draw_theory(panel, scales(part), *limits)
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
    x, y = np.log2([point.batch for point in line]), np.log2([point.lr for point in line])
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


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    """Of one chi."""
    diagram, expected = runs.diagram, scales(runs)
    bend = expected.critical_temperature * expected.critical_batch
    first, hardest = diagram.first_step_lr, "first step exceeds the margin at the hardest point"
    return [
        _ratio("1", "B*", diagram.critical_batch, expected.critical_batch),
        _ratio("2", "T_c", diagram.critical_temperature, expected.critical_temperature),
        _ratio("3", "eta_c above B* = T_c B*", first, bend),
        _ratio("4", f"eta_c above B* = {hardest}", first, expected.first_step_lr),
    ]


def _ratio(id: str, name: str, measured: Estimate | None, predicted: float) -> Claim:
    """The theory's scales turn comparisons of orders of magnitude into equalities.

    Half a decade is what an order of magnitude allows; the planes span four decades in B and six
    in eta.
    """
    claim = f"{name}: log10 of measured over theory, no fit"
    if measured is None:
        return untested(id, claim, 0.0, "the plane does not hold this boundary")
    logs = converted(measured, lambda x: float(np.log10(x / predicted)))
    reason = "half a decade is what an argument by orders of magnitude can promise"
    return equal(id, claim, logs, 0.0, 0.5, reason)


FIGURE = Figure(
    "figX2",
    "phase diagram of theory alone (no fit) over the simulated one, chi = 0, 1, 3",
    # At chi = 0 and 1 the paper's learning rates are those of fig1a.
    plan=together(
        _grid(0.0, quick=(-4, 12, 2), paper=(-5, 13, 1)),
        _grid(1.0, quick=(-6, 12, 2), paper=(-10, 12, 1)),
        _grid(3.0, quick=(-6, 12, 2), paper=(-8, 12, 2)),
    ),
    draw=draw,
    claims=Each("chi", lambda chi: [claims]),
)
