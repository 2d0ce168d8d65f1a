"""Fig. 4A: `w1` at the end of training against `B`, at chi = 0, 1 and 3.

Inset: raw. Main panel: `w1/eta` against `B/P^gamma`, with the theory's lines for the two regimes,
`w1 = k_perp sqrt(d) T (P/(2 pi c_n d))^gamma` and `w1 = eta E|x1|/sqrt(d)`, dashed, nothing fitted.

Every learning rate is at least twice the first-step line of the largest `P`. At chi = 0 the sizes
stop at 2^13 (the time to fit grows as `P^3`), and no batch is far above `B* = P/4`.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from sgdphase.paper._claim import Constant, Each, Exponent, Spec, Tolerance, fifth
from sgdphase.paper._critical import critical_batches
from sgdphase.paper._draw import DASHED, Curves, conditions
from sgdphase.paper._figure import Figure, Grid, grid_values, together
from sgdphase.paper._measure import Mean, above_critical, below_critical, exponents, size_range
from sgdphase.paper._planes import FIXED_PART
from sgdphase.paper._runs import Runs, computed_error
from sgdphase.stats import Estimate, collapse
from sgdphase.theory import constants, mean_abs_x1

# chi: exponents of two of the sizes, learning rates and batches, at quick and at paper scale.
RANGES: dict[float, Any] = {
    0.0: (((8, 10), (12, 14, 2), (2, 10, 2)), ((9, 13), (14, 18, 4), (2, 13))),
    1.0: (((9, 11), (8, 10, 2), (0, 11, 2)), ((10, 15), (8, 12, 2), (1, 15))),
    3.0: (((9, 11), (4, 6, 2), (0, 11, 2)), ((10, 15), (4, 8, 2), (0, 15))),
}
AMONG = ("lr", "batch", "train_size")


def _grid(chi: float) -> Grid:
    quick, paper = RANGES[chi]
    return Grid(
        chi=chi,
        quick=dict(dim=32, seeds=3, test_size=1024, **grid_values(*quick)),
        paper=dict(dim=128, seeds=5, **grid_values(*paper)),
    )


def _theory(panel: Any, runs: Runs) -> None:
    chi, dim = runs.only("chi"), runs.only("dim")
    c, floor = constants(chi), mean_abs_x1(chi) / math.sqrt(dim)
    rise = c.k_perp * math.sqrt(dim) * (2 * math.pi * c.c_n * dim) ** -c.gamma
    largest = runs.values("train_size")[-1]
    left = np.array([runs.values("batch")[0] / largest**c.gamma, rise / floor])
    panel.plot(left, rise / left, zorder=5, label=r"theory at $\hat t$", **DASHED)
    panel.plot([left[1], largest ** (1 - c.gamma)], [floor, floor], zorder=5, **DASHED)


def _by_doublings(runs: Runs) -> str:
    """The claim, with the exponent of `P` between each two sizes."""
    sizes, small, steps = runs.values("train_size"), runs.that(below_critical("batch")), []
    for pair in pairwise(sizes):
        two = small.that(lambda training, pair=pair: training.train_size in pair)  # type: ignore[misc]
        measured = exponents(two, "w1", AMONG).get("train_size")
        steps.append(f"{measured.value if measured else math.nan:.2f}")
    at = f"effective exponent at {size_range(sizes)}; by doublings of P: {'; '.join(steps)}"
    return f"small B: w1 ~ P^gamma ({at})"


def _critical_exponent(runs: Runs) -> Estimate | None:
    law = critical_batches(runs, "w1").law()
    return law.exponent if law else None


def _with_collapse(runs: Runs) -> str:
    """The claim, with the exponent of the best collapse, which decides nothing."""
    per_rate = Mean(lambda run: run.outcome["w1"] / run.training.lr, "batch")
    best = collapse(per_rate.by("train_size")(runs))
    return (
        "B* ~ P^gamma by the crossover of each curve (best collapse of w1/eta: "
        f"{best.exponent.value:.2f}, chi2 {best.chi2:.2g})"
    )


def _claims(chi: float) -> list[Spec]:
    Law = partial(
        Exponent, y="w1", among=AMONG,
        otherwise="no batches far enough above B* to tell the dependence on B from that on P",
    )  # fmt: skip
    Small = partial(Law, where=below_critical("batch"))
    Large = partial(Law, where=above_critical("batch"))
    gamma = constants(chi).gamma
    never = FIXED_PART if chi == 0 else ""
    return [
        Small("1a", _by_doublings, of="train_size", equals=gamma, within=fifth(gamma)),
        Small("1c", "small B: w1 ~ 1/B", of="batch", equals=-1),
        Large("2b", "large B: w1 does not depend on B", of="batch", equals=0, untestable=never),
        Large("2c", "large B: w1 does not depend on P", of="train_size", equals=0,
              untestable=never),
        Constant("3", _with_collapse, _critical_exponent, equals=gamma, within=fifth(gamma)),
        Small("4", "noise-dominated: test error ~ 1/P at the end of training", y=computed_error,
              of="train_size", equals=-1,
              within=Tolerance(0.1, "regimes differ by 1 in it: after a large first step the "
                               "error does not depend on P")),
    ]  # fmt: skip


NOISE_SCALE = Constant(
    "5", "gradient noise larger by a factor sigma: B* ~ sigma P^gamma", None, equals=1,
    untestable="true by construction: noise of the covariance sigma Sigma/B is, at every step, "
    "that of batches of B/sigma points, so that every curve moves by sigma in B; the same if each "
    "point of a batch counts sigma times. It is a change of variables, T -> sigma T",
)  # fmt: skip


FIGURE = Figure(
    "fig4a",
    "w1 at the end of training against B for several P and eta, collapsed: chi = 0, 1, 3",
    plan=together(*map(_grid, RANGES)),
    draw=Curves(
        "batch", "w1", by="train_size", marks="lr", panels="chi",
        symbols={"train_size": "P", "lr": r"\eta"},
        unit=lambda t: (t.train_size ** constants(t.teacher.chi).gamma, t.lr),
        xlabel=r"$B/P^{\gamma}$,  $\gamma=1/(1+\chi)$", ylabel=r"$w_1/\eta$", title=conditions,
        inset=((0.57, 0.57, 0.42, 0.42), "$B$", "$w_1$"), extra=_theory,
        legend={"loc": "upper center", "bbox_to_anchor": (0.5, -0.19), "ncols": 4, "fontsize": 9,
                "handletextpad": 0.2, "columnspacing": 0.8},
        size=(3.5, 4.0),
    ),
    claims=[Each("chi", _claims), NOISE_SCALE],
    setting=r"$\chi=0$: $P=2^9$ to $2^{13}$ (paper: $2^{10}$ to $2^{15}$); else as in the paper",
    remark="Test errors are computed from the angle to the teacher. The tolerance of a fifth was "
    "fixed when the exponents of a sketch (0.46, 0.21 and 0.95) were known.",
)  # fmt: skip
