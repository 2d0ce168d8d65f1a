"""Fig. S11A: the norm of the weights at the end of training against `T`, at chi = 0 and 1.

Inset: raw. Main panel: `|w|/P^gamma`, with the theory's `k_perp sqrt(d) T (2 pi c_n d)^-gamma`
dashed, nothing fitted. Batches of 8: far below `B*`. At chi = 0 the sizes stop at 2^13 (the time
to fit grows as `P^3`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase._typing import FloatArray
from sgdphase.diagram._style import new_figure
from sgdphase.paper._scaling import (
    AWAY,
    drift,
    exponents,
    inset,
    power_of_two,
    powers,
    regime_claim,
    shades,
    size_claim,
    size_range,
    spread,
    whole_powers,
)
from sgdphase.paper.claim import Claim
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs
from sgdphase.theory import constants, scales

MARGIN = 2.0**-7
PAPER = {0.0: (9, 13), 1.0: (10, 15)}
QUICK = {0.0: (7, 9), 1.0: (8, 11)}


def plan(scale: Scale) -> Sequence[Training]:
    quick = scale == "quick"
    trainings: list[Training] = []
    for chi, sizes in (QUICK if quick else PAPER).items():
        trainings += grid(
            dim=32 if quick else 128,
            chi=chi,
            margin=MARGIN,
            train_size=whole_powers(*sizes),
            batch=4 if quick else 8,
            temperature=powers(-5, 5, 2),
            seeds=3 if quick else 5,
            test_size=1024 if quick else 32768,
        )
    return trainings


def draw(runs: Runs, scale: Scale) -> Any:
    figure, axes = new_figure(size=(5.2, 4.4))
    small = inset(axes, (0.62, 0.11, 0.36, 0.36), xlabel="$T$", ylabel=r"$\|\mathbf{w}\|$")
    sizes = runs.values("train_size")
    colors = dict(zip(sizes, shades(len(sizes)), strict=True))
    for chi in runs.values("chi"):
        fill = {"markerfacecolor": "none"} if chi == 1 else {}
        gamma = constants(chi).gamma
        for size in runs.where(chi=chi).values("train_size"):
            T, norm = runs.curve("temperature", "norm", chi=chi, train_size=size)
            mean, error = spread(norm)
            look = {"color": colors[size], "marker": "o" if chi else "s", "linestyle": "", **fill}
            axes.errorbar(T, mean / size**gamma, error / size**gamma, markersize=5, **look)
            small.plot(T, mean, markersize=3, **look)
        _theory(axes, runs, chi)
    for size in sizes:
        axes.plot([], [], "o", color=colors[size], label=rf"$P={power_of_two(size)[1:]}")
    axes.plot([], [], "s", color="0.4", label=r"$\chi=0$")
    axes.plot([], [], "o", color="0.4", markerfacecolor="none", label=r"$\chi=1$")
    axes.plot([], [], "k--", label=r"theory at $\hat t$")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel=r"$T=\eta/B$",
        ylabel=r"$\|\mathbf{w}\|\,/\,P^{\gamma}$,  $\gamma=1/(1+\chi)$",
    )
    low, high = axes.get_ylim()
    axes.set_ylim(low * (low / high) ** 0.2, high * (high / low) ** 0.12)  # room for both
    axes.legend(
        fontsize=8, loc="upper left", ncols=2, frameon=False, columnspacing=0.8, handletextpad=0.3
    )
    return figure


def _theory(axes: Any, runs: Runs, chi: float) -> None:
    c, dim = constants(chi), runs.values("dim")[0]
    T = np.array([min(runs.values("temperature")), max(runs.values("temperature"))])
    line = c.k_perp * math.sqrt(dim) * T * (2 * math.pi * c.c_n * dim) ** -c.gamma
    axes.plot(T, line, "k--", linewidth=1.2)


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    return [claim for chi in runs.values("chi") for claim in _claims(runs.where(chi=chi), chi)]


def _claims(runs: Runs, chi: float) -> list[Claim]:
    id, gamma = f"figS11a.chi{chi:g}", constants(chi).gamma
    table, sizes = runs.table(), runs.values("train_size")
    hot = table["temperature"] >= AWAY * _critical_temperature(chi, runs)
    measured = exponents(table, "norm", ("temperature", "train_size"), hot)
    moves = drift(np.array(sizes, dtype=np.float64), _mean_over_temperature(runs, chi))
    return [
        regime_claim(f"{id}.1a", "|w| ~ T for T >> T_c", measured, "temperature", 1, "too few T"),
        size_claim(
            f"{id}.1b",
            f"|w| ~ P^gamma (effective exponent at {size_range(sizes)}; {moves})",
            measured["train_size"],
            gamma,
            gamma,
        ),
    ]


def _critical_temperature(chi: float, runs: Runs) -> float:
    dim = runs.values("dim")[0]
    return scales(train_size=1024, dim=dim, chi=chi, margin=MARGIN).critical_temperature


def _mean_over_temperature(runs: Runs, chi: float) -> FloatArray:
    """`|w|/T [size, seed]`, the geometric mean over the temperatures far above `T_c`."""
    hot = [T for T in runs.values("temperature") if AWAY * _critical_temperature(chi, runs) <= T]
    curves = [runs.curve("train_size", "norm", temperature=T)[1] / T for T in hot]
    return np.asarray(np.exp(np.mean(np.log(curves), axis=0)))


FIGURE = Figure(
    "figS11a",
    "norm of the final weights against T for several P, collapsed: chi = 0, 1",
    plan,
    draw,
    claims,
)
