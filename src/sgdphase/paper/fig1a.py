"""Fig. 1A: the phase diagram of the perceptron, at chi = 1 as in the paper, and at chi = 0.

`fig1a-line` measures how the horizontal part of the GD line depends on the number of points. Figure
X2, not in the paper, lays the phase diagram of theory alone (coloured, without a fit) over the
simulated one (alignment in the plane, measured boundaries black), at chi = 3 too.
"""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from sgdphase import theory
from sgdphase._records import Training
from sgdphase._typing import FloatArray
from sgdphase.diagram import PhaseDiagram, draw_plane
from sgdphase.diagram._boundaries import crossing
from sgdphase.diagram._style import ORANGE, PURPLE, new_figure
from sgdphase.paper._claim import Constant, Each, Tolerance, fifth
from sgdphase.paper._draw import draw_curve, panel
from sgdphase.paper._figure import Figure, Grid, together
from sgdphase.paper._ledger import Claim, Scale, Verdict
from sgdphase.paper._measure import drift, exponent, scales, size_range
from sgdphase.paper._planes import FIXED_PART, complete, draw_phases, phase_claims
from sgdphase.paper._runs import Runs
from sgdphase.stats import (
    REPLICATES,
    Estimate,
    logarithms,
    power_of_two_tex,
    powers,
    seed_replicates,
    whole_powers,
)

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


def best_claim(runs: Runs) -> list[Claim]:
    """(6): where the test error is lowest, by the boundaries as they are drawn.

    In a replicate, errors and boundaries vary: the errors with the seeds, the boundaries within
    their intervals (lognormal). It meets the rule if the cell of lowest error has the full batch
    and lies above the GD line and right of `B*`.
    """
    id, says = "6", "the lowest test error is at full batch in the first-step-dominated regime"
    runs = runs.with_exact_errors
    diagram, errors = runs.diagram, runs.plane("test_error")
    among = np.argwhere(complete(errors))
    if not diagram.gd_line or diagram.critical_batch is None or not len(among):
        lacks = "the GD line" if not diagram.gd_line else "B*, or cells with every seed"
        return [Claim(id, says, None, None, f"the plane does not have {lacks}", "undecided")]
    rng, full = np.random.default_rng(0), float(diagram.batch[-1])
    copies = seed_replicates(errors.value[*among.T], rng, REPLICATES)
    lowest = among[copies.argmin(axis=1)]
    lr, batch = diagram.lr[lowest[:, 0]], diagram.batch[lowest[:, 1]]
    line = _drawn(diagram.gd_line[-1].lr, rng)
    star = _drawn(diagram.critical_batch, rng)
    share = float(np.mean((batch == full) & (lr > line) & (batch > star)))
    verdict: Verdict = "holds" if share >= 0.9 else "fails" if share <= 0.1 else "undecided"
    i, j = among[errors.value[*among.T].mean(axis=1).argmin()]
    says += (
        f" (lowest at eta = {diagram.lr[i]:g}, B = {diagram.batch[j]:g}; at full batch the line is "
        f"at eta = {diagram.gd_line[-1].lr.value:.3g})"
    )
    rule = (
        "share of bootstrap replicates in which the cell of lowest error has the full batch and "
        "lies above the GD line and right of B* as drawn; holds from 0.9, fails up to 0.1"
    )
    return [Claim(id, says, None, Estimate(share, nan, nan), rule, verdict)]


def _drawn(boundary: Estimate, rng: np.random.Generator) -> FloatArray:
    """Replicates of a boundary from its interval."""
    width = np.log(boundary.high / boundary.low) / (2 * 1.645)  # of an interval of level 90 %
    return np.asarray(
        boundary.value * np.exp(np.nan_to_num(width) * rng.standard_normal(REPLICATES))
    )


def line_by_size(runs: Runs) -> tuple[FloatArray, FloatArray]:
    """`lr_c [P, seeds]` at full batch: where a seed's alignment is twice its GD value.

    The GD value is the geometric mean over the three lowest learning rates. Between learning rates
    the logarithm is interpolated by a monotone cubic, as for the line of a plane.
    """
    rows = []
    for part in runs.split("train_size"):
        lr, m = part.curve("lr", "alignment")
        log_m = logarithms(m) / np.log(2)
        rows.append(crossing(np.log2(lr), (log_m - log_m[:3].mean(axis=0)).T, 1.0))
    return np.array(runs.values("train_size"), dtype=np.float64), 2.0 ** np.array(rows)


def line_claims(runs: Runs) -> list[Constant]:
    """The text: below `eta ~ kappa P^gamma` the first step does not matter."""
    gamma, (sizes, line) = 1 / (1 + runs.only("chi")), line_by_size(runs)
    says, within = "at full batch eta_c ~ P^gamma", fifth(gamma)
    if np.isfinite(line).any(axis=1).sum() < 2:
        few = "eta_c was found at fewer than 2 sizes"
        return [Constant("1", says, None, equals=gamma, within=within, otherwise=few)]
    says += f" (effective exponent at {size_range(sizes)}; {drift(sizes, line)})"
    return [Constant("1", says, exponent(sizes, line), equals=gamma, within=within)]


def draw_line(runs: Runs) -> Any:
    """`lr_c` at full batch against the number of points, and the theory's line without a fit."""
    sizes, line = line_by_size(runs)
    chi, dim, margin = (runs.only(name) for name in ("chi", "dim", "margin"))
    title = (
        rf"perceptron, $\chi={chi:g}$, $d={dim}$, margin ${power_of_two_tex(margin)}$, "
        f"{line.shape[1]} seeds"
    )
    ylabel = r"$\eta_c$ at full batch"
    figure, axes = panel("training points $P$", ylabel, title, size=(4.6, 3.6))
    draw_curve(axes, sizes, line, marker="o", ls="none", color="black", label="simulated")
    each = [scales(part.runs[0].training) for part in runs.split("train_size")]
    bend = [one.critical_temperature * one.critical_batch for one in each]
    label = r"theory, no fit: $T_cB^*\sim\kappa P^\gamma$"
    axes.plot(sizes, bend, "--", color=ORANGE, label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.legend(loc="best", frameon=False)
    return figure


# Of figure X2: what theory draws, with its colour and style, and its direct label.
_THEORY: dict[str, dict[str, Any]] = {
    "T_c": {"color": ORANGE, "ls": (0, (4, 1.5)),
            "label": r"theory: $\eta=T_cB$ up to $B^*$, then $T_cB^*$"},
    "kappa": {"color": "white", "ls": "-",
              "label": r"theory: first step reaches $\kappa$ at the hardest point"},
    "once": {"color": PURPLE, "ls": "-", "label": "theory: all points fitted in one step"},
}  # fmt: skip


def draw_with_theory(runs: Runs) -> Any:
    parts = runs.split("chi")
    figure, axes = new_figure(len(parts), size=(3.3, 3.5))
    for letter, each, part in zip("abc", axes, parts, strict=False):
        draw_plane(each, part.diagram, "value")
        limits = each.get_xlim(), each.get_ylim()
        _draw_measured(each, part.diagram)
        star = part.diagram.critical_batch
        _draw_theory(each, scales(part.runs[0].training), *limits, star.value if star else 1.0)
        each.set(xlim=limits[0], ylim=limits[1])
        each.set_title(rf"({letter}) $\chi={part.only('chi'):g}$", loc="left", fontsize=10)
    size, dim, margin = (runs.only(name) for name in ("train_size", "dim", "margin"))
    seeds = len(runs.values("seed"))
    figure.suptitle(
        f"perceptron, P = {size}, d = {dim}, margin ${power_of_two_tex(margin)}$, {seeds} seeds",
        fontsize=10,
    )
    handles, labels = axes[-1].get_legend_handles_labels()
    look: Any = {"ncols": 2, "fontsize": 9, "frameon": False}
    figure.legend(handles, labels, loc="outside lower center", **look)
    return figure


def _look(color: str, zorder: int) -> dict[str, Any]:
    from matplotlib import patheffects

    dark = "black" if color == "white" else "white"
    halo = [patheffects.withStroke(linewidth=3.2, foreground=dark, alpha=0.9)]
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


def _draw_theory(axes: Any, expected: theory.Scales, x: Any, y: Any, simulated: float) -> None:
    (left, right), (bottom, top) = x, y
    star, cold = np.log2(expected.critical_batch), np.log2(expected.critical_temperature)
    step, once = np.log2(expected.first_step_lr), np.log2(expected.one_step_batch)
    bend, looks = star + cold, {name: _look(how["color"], 5) | how for name, how in _THEORY.items()}
    axes.plot([left, star, right], [left + cold, bend, bend], **looks["T_c"])
    axes.plot([star, star], [bend, top], **looks["T_c"] | {"label": None})
    axes.plot([star, right], [step, step], **looks["kappa"])
    axes.plot([once, once], [max(step, bottom), top], **looks["once"])
    room, head = 0.02 * (right - left), top - 0.03 * (top - bottom)
    # On the side where the simulated B* is not.
    side, ha = (1, "left") if simulated <= expected.critical_batch else (-1, "right")
    axes.text(star + side * room, head, "$B^*$", ha=ha, va="top", fontsize=9, **_boxed())
    if left < once < right:
        fits = once < right - 0.25 * (right - left)
        where: Any = {"ha": "left"} if fits else {"ha": "right"}
        axes.text(once + (room if fits else -room), head, "one step", va="top", fontsize=9,
                  **where, **_boxed())  # fmt: skip
    low = 0.03 * (top - bottom)
    has_room = step < top - 0.1 * (top - bottom)
    for text, height, up in ((r"$T_cB^*$", bend, False), (r"$\kappa$", step, has_room)):
        va, shift = ("bottom", low) if up else ("top", -low)
        axes.text(right - room, height + shift, text, ha="right", va=va, fontsize=9, **_boxed())


def _boxed() -> dict[str, Any]:
    """A light box behind a label, so that it can be read on any colour."""
    return {"bbox": {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.8}}


def prefactor_claims(runs: Runs) -> list[Constant]:
    """Of one chi."""
    diagram, expected = runs.diagram, scales(runs.runs[0].training)
    bend = expected.critical_temperature * expected.critical_batch
    first, hardest = diagram.first_step_lr, "first step exceeds the margin at the hardest point"
    never = FIXED_PART if runs.only("chi") == 0 else ""
    return [
        _ratio("1", "B*", diagram.critical_batch, expected.critical_batch),
        _ratio("2", "T_c", diagram.critical_temperature, expected.critical_temperature),
        _ratio("3", "eta_c above B* = T_c B*", first, bend, never),
        _ratio("4", f"eta_c above B* = {hardest}", first, expected.first_step_lr, never),
    ]


# The theory's scales turn comparisons of orders of magnitude into equalities. The planes span four
# decades in B and six in eta.
HALF_A_DECADE = Tolerance(
    0.5, "half a decade is what an argument by orders of magnitude can promise"
)


def _ratio(
    id: str, name: str, measured: Estimate | None, predicted: float, never: str = ""
) -> Constant:
    logs = measured and measured.mapped(lambda x: np.log10(x / predicted))
    return Constant(
        id, f"{name}: log10 of measured over theory, no fit", logs, equals=0, within=HALF_A_DECADE,
        otherwise="the plane does not hold this boundary", untestable=never,
    )  # fmt: skip


def _figure(name: str, chi: float, claims: Any) -> Figure:
    rates, batches = powers(-6, 12, 2), whole_powers(0, 10)
    return Figure(
        name,
        f"phase diagram of the perceptron in (B, eta): alignment and test error, chi = {chi:g}",
        plan=_grid(chi, train_size=1024, dim=32, lr=rates, batch=batches, seeds=3),
        draw=draw_phases,
        claims=claims,
    )


def _full_batches(scale: Scale) -> list[Training]:
    """Columns as that of the largest batch of Fig. 1A, at several numbers of points."""
    common: Any = {"chi": 1.0, "margin": 2.0**-7, "lr": powers(-4, 7)}
    quick, paper = {"dim": 32, "seeds": 3, "test_size": 2048}, {"dim": 128, "seeds": 5}
    sizes = whole_powers(7, 11) if scale == "quick" else whole_powers(9, 14)
    grids = [Grid(train_size=P, batch=P, quick=quick, paper=paper, **common) for P in sizes]
    return together(*grids)(scale)


FIGURES = (
    _figure("fig1a", 1.0, [phase_claims, best_claim]),
    # (6) is said of chi = 1: at smaller chi no batch of one training set fits it in one step.
    _figure("fig1a-chi0", 0.0, [phase_claims]),
    Figure(
        "fig1a-line",
        "the learning rate of the GD line at full batch against the number of points",
        plan=_full_batches,
        draw=draw_line,
        claims=[line_claims],
    ),
    Figure(
        "figX2",
        "phase diagram of theory alone (no fit) over the simulated one, chi = 0, 1, 3",
        plan=together(_small_grid(0.0, -4), _small_grid(1.0, -6), _small_grid(3.0, -6)),
        draw=draw_with_theory,
        claims=[Each("chi", lambda chi: [prefactor_claims])],
        ledger="ours",
    ),
)
