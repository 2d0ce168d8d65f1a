"""Fig. S11: weights at the end of training against `T`, in the noise-dominated regime and below.

S11a: their norm, at chi = 0 and 1. Main panel: `|w|/P^gamma`, with the theory's
`k_perp sqrt(d) T (2 pi c_n d)^-gamma` dashed. Batches of 8: far below `B*`. At chi = 0 the sizes
stop at 2^13 (the time to fit grows as `P^3`).

S11b: `|w_perp|` for several margins. Main panel: both in units of the margin. Dashed:
`k_perp sqrt(d) T`; vertical: `T_c = kappa/k_perp`. For `T << T_c` the theory has no prefactor.
SGD from `w = 0` under the hinge loss is unchanged when margin, learning rate and weights are scaled
together. That `|w_perp|` is a function of `T/kappa` in units of kappa (`T_c ~ kappa`, `|w_perp| ~
kappa` below it, no kappa above) is exact, and decides nothing: what can fail is the form of that
function (2a, 2c). Each margin has seeds of its own to make the collapse visible.

Insets: raw. Nothing is fitted.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from sgdphase.paper._claim import Each, Exponent, fifth
from sgdphase.paper._draw import DASHED, Curves, conditions, key
from sgdphase.paper._figure import FIRST_SEED, Figure, Grid, together
from sgdphase.paper._measure import above_critical, below_critical
from sgdphase.paper._runs import Runs
from sgdphase.stats import powers, whole_powers
from sgdphase.theory import constants


def _grid_of_chi(chi: float, quick: tuple[int, int], paper: tuple[int, int]) -> Grid:
    """Sizes are given as exponents of two, first and last."""
    return Grid(
        chi=chi, margin=2.0**-7, temperature=powers(-5, 5, 2),
        quick=dict(train_size=whole_powers(*quick), dim=32, batch=4, seeds=3, test_size=1024),
        paper=dict(train_size=whole_powers(*paper), dim=128, batch=8, seeds=5),
    )  # fmt: skip


def _grid_of_margin(i: int, margin: float) -> Grid:
    def own(first: int, count: int, step: int, **other: Any) -> dict[str, Any]:
        temperature = [margin * ratio for ratio in powers(-6, 8, step)]
        seeds = range(first + i * count, first + (i + 1) * count)
        return {"seeds": seeds, "temperature": temperature, **other}

    return Grid(
        chi=1.0, margin=margin,
        quick=own(0, 3, 2, dim=32, train_size=1024, batch=4, test_size=1024),
        paper=own(FIRST_SEED, 5, 1, dim=128, train_size=8192, batch=8),
    )  # fmt: skip


def _norm_in_theory(axes: Any, runs: Runs) -> None:
    T = np.array([runs.values("temperature")[0], runs.values("temperature")[-1]])
    for chi in runs.values("chi"):
        c, dim = constants(chi), runs.only("dim")
        line = c.k_perp * math.sqrt(dim) * T * (2 * math.pi * c.c_n * dim) ** -c.gamma
        axes.plot(T, line, **DASHED)
    key(axes, "--", r"theory at $\hat t$", "k")


def _w_perp_in_theory(axes: Any, runs: Runs) -> None:
    k_perp, hot = constants(1.0).k_perp, np.array([2.0**-1, 2.0**8])
    line = k_perp * np.sqrt(runs.only("dim")) * hot
    axes.plot(hot, line, label=r"theory, $k_\perp T\sqrt{d}$", **DASHED)
    axes.axvline(1 / k_perp, ymin=0.5, color="0.6", linewidth=0.8, linestyle=":")
    top = axes.get_xaxis_transform()
    axes.text(1.1 / k_perp, 0.97, r"$T_c$", color="0.4", transform=top, va="top")


def _own_seeds(runs: Runs) -> str:
    """Each margin has as many seeds as the first."""
    return f"{conditions(runs.at(margin=0), 'margin')} each"


Hot = partial(Exponent, where=above_critical("temperature"))
Cold = partial(Exponent, where=below_critical("temperature"))
NORM: Any = {"y": "norm", "among": ("temperature", "train_size")}
PERP: Any = {"y": "w_perp", "among": ("temperature", "margin"),
             "otherwise": "too few temperatures on this side of T_c"}  # fmt: skip
FIGURES = (
    Figure(
        "figS11a",
        "norm of the final weights against T for several P, collapsed: chi = 0, 1",
        plan=together(_grid_of_chi(0.0, (7, 9), (9, 13)), _grid_of_chi(1.0, (8, 11), (10, 15))),
        draw=Curves(
            "temperature", "norm", by="train_size", marks="chi",
            symbols={"train_size": "P", "chi": r"\chi"},
            unit=lambda t: (1.0, t.train_size ** constants(t.teacher.chi).gamma),
            xlabel=r"$T=\eta/B$", ylabel=r"$\|\mathbf{w}\|\,/\,P^{\gamma}$,  $\gamma=1/(1+\chi)$",
            inset=((0.13, 0.6, 0.38, 0.38), "$T$", r"$\|\mathbf{w}\|$"), extra=_norm_in_theory,
            look={"linestyle": "", "markersize": 5, "markerfacecolor": "none"},
            room=(0.0, 0.35), legend=None, title=conditions, size=(6.4, 4.4),
        ),
        claims=[Each("chi", lambda chi: [
            Hot("1a", "|w| ~ T for T >> T_c", of="temperature", equals=1, otherwise="too few T",
                **NORM),
            Hot("1b", "|w| ~ P^gamma", of="train_size", equals=constants(chi).gamma,
                within=fifth(constants(chi).gamma), drift=True, **NORM),
        ])],
    ),
    Figure(
        "figS11b",
        "final |w_perp| against T for several margins, in units of the margin",
        plan=together(*(_grid_of_margin(*place) for place in enumerate(powers(-9, -3, 2)))),
        draw=Curves(
            "temperature", "w_perp", by="margin", symbols={"margin": r"\kappa"},
            unit=lambda training: (training.margin, training.margin),
            xlabel=r"$T/\kappa$", ylabel=r"$\|\mathbf{w}_\perp\|\,/\,\kappa$",
            inset=((0.69, 0.13, 0.3, 0.3), "$T$", r"$\|\mathbf{w}_\perp\|$"),
            extra=_w_perp_in_theory, look={"linestyle": ""}, room=(0.1, 0.0),
            legend={"loc": "upper left"}, title=_own_seeds,
        ),
        claims=[
            Hot("2a", "T >> kappa: |w_perp| ~ T", of="temperature", equals=1, **PERP),
            Cold("2c", "T << kappa: |w_perp| does not depend on T", of="temperature", equals=0,
                 **PERP),
        ],
        remark="T_c ~ kappa, |w_perp| ~ kappa below it and its independence of kappa above follow "
        "from 2a and 2c: scaling margin, learning rate and weights together changes nothing.",
    ),
)  # fmt: skip
