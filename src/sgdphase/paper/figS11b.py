"""Fig. S11B: `|w_perp|` at the end of training against `T`, for several margins.

Inset: raw. Main panel: both in units of the margin. Dashed: `k_perp sqrt(d) T`; vertical:
`T_c = kappa/k_perp`. Nothing is fitted; for `T << T_c` the theory has no prefactor.

SGD from `w = 0` under the hinge loss is unchanged when margin, learning rate and weights are scaled
together, so the collapse is exact; each margin has seeds of its own to make it visible.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.paper.claim import Collapses, Exponent
from sgdphase.paper.draw import DASHED, Curves
from sgdphase.paper.figure import Figure, Grid, together
from sgdphase.paper.measure import AWAY
from sgdphase.paper.runs import Runs
from sgdphase.stats import Curve, powers
from sgdphase.theory import constants

CHI, MARGINS = 1.0, powers(-9, -3, 2)


def _grid(i: int, margin: float) -> Grid:
    def own(count: int, step: int, **other: Any) -> dict[str, Any]:
        temperature = [margin * ratio for ratio in powers(-6, 8, step)]
        return {"seeds": range(i * count, (i + 1) * count), "temperature": temperature, **other}

    return Grid(
        chi=CHI,
        margin=margin,
        quick=own(3, 2, dim=32, train_size=1024, batch=4, test_size=1024),
        paper=own(5, 1, dim=128, train_size=8192, batch=8),
    )


def _theory(axes: Any, runs: Runs) -> None:
    k_perp, hot = constants(CHI).k_perp, np.array([2.0**-1, 2.0**8])
    line = k_perp * np.sqrt(runs.only("dim")) * hot
    axes.plot(hot, line, label=r"theory, $k_\perp T\sqrt{d}$", **DASHED)
    axes.axvline(1 / k_perp, ymin=0.5, color="0.6", linewidth=0.8, linestyle=":")
    top = axes.get_xaxis_transform()
    axes.text(1.1 / k_perp, 0.97, r"$T_c$", color="0.4", transform=top, va="top")


def _ratio(runs: Runs) -> FloatArray:
    """`T/T_c` of each run."""
    table = runs.table()
    return np.asarray(table["temperature"] / table["margin"] * constants(CHI).k_perp)


Law = partial(
    Exponent,
    y="w_perp",
    among=("temperature", "margin"),
    otherwise="too few temperatures on this side of T_c",
)
Hot = partial(Law, where=lambda runs: _ratio(runs) >= AWAY)
Cold = partial(Law, where=lambda runs: _ratio(runs) <= 1 / AWAY)


def _curves(runs: Runs) -> list[Curve]:
    return [Curve(k, *runs.curve("temperature", "w_perp", margin=k)) for k in runs.values("margin")]


FIGURE = Figure(
    "figS11b",
    "final |w_perp| against T for several margins, in units of the margin",
    plan=together(*(_grid(i, margin) for i, margin in enumerate(MARGINS))),
    draw=Curves(
        "temperature", "w_perp", by="margin", symbols={"margin": r"\kappa"},
        unit=lambda training: (training.margin, training.margin),
        xlabel=r"$T/\kappa$", ylabel=r"$\|\mathbf{w}_\perp\|\,/\,\kappa$",
        inset=((0.65, 0.12, 0.33, 0.33), "$T$", r"$\|\mathbf{w}_\perp\|$"),
        extra=_theory, look={"linestyle": ""}, room=(0.1, 0.0), legend={"loc": "upper left"},
    ),
    claims=[
        Hot("2a", "T >> kappa: |w_perp| ~ T", of="temperature", equals=1),
        Hot("2b", "T >> kappa: |w_perp| does not depend on kappa", of="margin", equals=0),
        Cold("2c", "T << kappa: |w_perp| does not depend on T", of="temperature", equals=0),
        Cold("2d", "T << kappa: |w_perp| ~ kappa", of="margin", equals=1),
        Collapses("2e", "T_c ~ kappa: exponent of the best collapse of |w_perp| against T",
                  _curves, equals=1, how={"y_exponent": None}),
    ],
)  # fmt: skip
