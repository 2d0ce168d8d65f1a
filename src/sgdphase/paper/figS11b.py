"""Fig. S11B: `|w_perp|` at the end of training against `T`, for several margins.

Inset: raw. Main panel: both in units of the margin. Dashed: `k_perp sqrt(d) T`; vertical:
`T_c = kappa/k_perp`. Nothing is fitted; for `T << T_c` the theory has no prefactor.

SGD from `w = 0` under the hinge loss is unchanged when margin, learning rate and weights are scaled
together, so the collapse is exact; each margin has seeds of its own to make it visible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase.diagram._style import GREY, new_figure
from sgdphase.paper._claims import Claim, equal
from sgdphase.paper._frame import Figure, Scale
from sgdphase.paper._runs import Runs
from sgdphase.paper._scaling import (
    AWAY,
    TENTH,
    TENTH_REASON,
    exponents,
    inset,
    number,
    power_of_two,
    powers,
    regime_claim,
    shades,
    spread,
)
from sgdphase.stats import Curve, collapse
from sgdphase.theory import constants

CHI = 1.0
MARGINS = powers(-9, -3, 2)


def plan(scale: Scale) -> Sequence[Training]:
    quick = scale == "quick"
    count = 3 if quick else 5
    trainings: list[Training] = []
    for i, margin in enumerate(MARGINS):
        trainings += grid(
            dim=32 if quick else 128,
            chi=CHI,
            train_size=1024 if quick else 8192,
            margin=margin,
            batch=4 if quick else 8,
            temperature=[margin * ratio for ratio in powers(-6, 8, 2 if quick else 1)],
            seeds=range(i * count, (i + 1) * count),
            test_size=1024 if quick else 32768,
        )
    return trainings


def draw(runs: Runs, scale: Scale) -> Any:
    figure, axes = new_figure(size=(5.2, 4.4))
    small = inset(axes, (0.65, 0.12, 0.33, 0.33), xlabel="$T$", ylabel=r"$\|\mathbf{w}_\perp\|$")
    margins = runs.values("margin")
    for margin, color, marker in zip(margins, shades(len(margins)), "os^D", strict=True):
        T, w_perp = runs.curve("temperature", "w_perp", margin=margin)
        mean, error = spread(w_perp)
        look = {"color": color, "marker": marker, "linestyle": ""}
        label = rf"$\kappa={power_of_two(margin)[1:]}"
        axes.errorbar(T / margin, mean / margin, error / margin, markersize=5, label=label, **look)
        small.plot(T, mean, markersize=2.5, **look)
    _theory(axes, runs)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel=r"$T/\kappa$",
        ylabel=r"$\|\mathbf{w}_\perp\|\,/\,\kappa$",
    )
    low, high = axes.get_ylim()
    axes.set_ylim(low * (low / high) ** 0.1, high)  # room for the inset
    axes.legend(fontsize=8.5, loc="upper left", frameon=False)
    return figure


def _theory(axes: Any, runs: Runs) -> None:
    k_perp, root_d = constants(CHI).k_perp, math.sqrt(runs.values("dim")[0])
    hot = np.array([2.0**-1, 2.0**8])
    label = r"theory, $k_\perp T\sqrt{d}$"
    axes.plot(hot, k_perp * root_d * hot, "k--", linewidth=1.2, label=label)
    axes.axvline(1 / k_perp, ymin=0.5, color=GREY, linewidth=0.8, linestyle=":")
    top = axes.get_xaxis_transform()
    axes.text(1.1 / k_perp, 0.97, r"$T_c$", color="0.4", transform=top, va="top")


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    table = runs.table()
    ratio = table["temperature"] / table["margin"] * constants(CHI).k_perp  # T/T_c
    of = ("temperature", "margin")
    hot = exponents(table, "w_perp", of, ratio >= AWAY)
    cold = exponents(table, "w_perp", of, ratio <= 1 / AWAY)
    curves = [
        Curve(margin, *runs.curve("temperature", "w_perp", margin=margin))
        for margin in runs.values("margin")
    ]
    best = collapse(curves, y_exponent=None)
    few = "too few temperatures on this side of T_c"
    return [
        regime_claim("figS11b.2a", "T >> kappa: |w_perp| ~ T", hot, "temperature", 1, few),
        regime_claim("figS11b.2b", "T >> kappa: |w_perp| does not depend on kappa", hot, "margin",
                     0, few),
        regime_claim("figS11b.2c", "T << kappa: |w_perp| does not depend on T", cold,
                     "temperature", 0, few),
        regime_claim("figS11b.2d", "T << kappa: |w_perp| ~ kappa", cold, "margin", 1, few),
        equal("figS11b.2e", "T_c ~ kappa: exponent of the best collapse of |w_perp| against T",
              number(best), 1, TENTH, TENTH_REASON),
    ]  # fmt: skip


FIGURE = Figure(
    "figS11b",
    "final |w_perp| against T for several margins, in units of the margin",
    plan,
    draw,
    claims,
)
