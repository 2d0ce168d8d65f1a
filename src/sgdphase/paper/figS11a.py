"""Fig. S11A: the norm of the weights at the end of training against `T`, at chi = 0 and 1.

Inset: raw. Main panel: `|w|/P^gamma`, with the theory's `k_perp sqrt(d) T (2 pi c_n d)^-gamma`
dashed, nothing fitted. Batches of 8: far below `B*`. At chi = 0 the sizes stop at 2^13 (the time
to fit grows as `P^3`).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from sgdphase._typing import Mask
from sgdphase.paper.claim import PART, PART_REASON, Decide, Each, Exponent
from sgdphase.paper.draw import DASHED, Curves, key
from sgdphase.paper.figure import Figure, Grid, together
from sgdphase.paper.measure import AWAY, drift, size_range
from sgdphase.paper.runs import Runs
from sgdphase.stats import powers, whole_powers
from sgdphase.theory import constants

MARGIN = 2.0**-7


def _grid(chi: float, quick: tuple[int, int], paper: tuple[int, int]) -> Grid:
    """Sizes are given as exponents of two, first and last."""
    return Grid(
        chi=chi,
        margin=MARGIN,
        temperature=powers(-5, 5, 2),
        quick=dict(train_size=whole_powers(*quick), dim=32, batch=4, seeds=3, test_size=1024),
        paper=dict(train_size=whole_powers(*paper), dim=128, batch=8, seeds=5),
    )


def _theory(axes: Any, runs: Runs) -> None:
    T = np.array([runs.values("temperature")[0], runs.values("temperature")[-1]])
    for chi in runs.values("chi"):
        c, dim = constants(chi), runs.only("dim")
        line = c.k_perp * math.sqrt(dim) * T * (2 * math.pi * c.c_n * dim) ** -c.gamma
        axes.plot(T, line, **DASHED)
    key(axes, "--", r"theory at $\hat t$", "k")


def _hot_from(chi: float) -> float:
    """The temperature from which on `T >> T_c`."""
    return AWAY * MARGIN / constants(chi).k_perp


def _claims(chi: float) -> list[Decide]:
    gamma = constants(chi).gamma

    def hot(runs: Runs) -> Mask:
        return np.asarray(runs.table()["temperature"] >= _hot_from(chi))

    def text(runs: Runs) -> str:
        """The drift is that of the geometric mean of `|w|/T` over the temperatures."""
        hot = [t for t in runs.values("temperature") if t >= _hot_from(chi)]
        norms = [runs.curve("train_size", "norm", temperature=t)[1] / t for t in hot]
        sizes = np.array(runs.values("train_size"), dtype=np.float64)
        moves = drift(sizes, np.exp(np.mean(np.log(norms), axis=0)))
        return f"|w| ~ P^gamma (effective exponent at {size_range(sizes)}; {moves})"

    Law = partial(Exponent, y="norm", among=("temperature", "train_size"), where=hot)
    return [
        Law("1a", "|w| ~ T for T >> T_c", of="temperature", equals=1, otherwise="too few T"),
        Law("1b", text, of="train_size", equals=gamma, within=PART * gamma, reason=PART_REASON),
    ]


FIGURE = Figure(
    "figS11a",
    "norm of the final weights against T for several P, collapsed: chi = 0, 1",
    plan=together(_grid(0.0, (7, 9), (9, 13)), _grid(1.0, (8, 11), (10, 15))),
    draw=Curves(
        "temperature",
        "norm",
        by="train_size",
        marks="chi",
        symbols={"train_size": "P", "chi": r"\chi"},
        unit=lambda t: (1.0, t.train_size ** constants(t.teacher.chi).gamma),
        xlabel=r"$T=\eta/B$",
        ylabel=r"$\|\mathbf{w}\|\,/\,P^{\gamma}$,  $\gamma=1/(1+\chi)$",
        inset=((0.62, 0.11, 0.36, 0.36), "$T$", r"$\|\mathbf{w}\|$"),
        extra=_theory,
        look={"linestyle": "", "markersize": 5},
        room=(0.2, 0.12),
        legend={"loc": "upper left"},
    ),
    claims=Each("chi", _claims),
)
