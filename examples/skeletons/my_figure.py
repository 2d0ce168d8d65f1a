"""A figure: what is run, how it is drawn, and which claims it decides.

Here: `|w_perp|` at the end of training against the temperature `T = lr / batch`. In the
noise-dominated regime, `T` well above `T_c = margin / k_perp`, it is proportional to `T`.
"""

from __future__ import annotations

import numpy as np

from sgdphase._typing import Mask
from sgdphase.paper.claim import Exponent
from sgdphase.paper.draw import Curves
from sgdphase.paper.figure import Figure, Grid
from sgdphase.paper.runs import Runs
from sgdphase.stats import powers
from sgdphase.theory import constants

CHI, MARGIN = 1.0, 2.0**-7
AWAY = 4  # times T_c: regimes are measured this far from their border


def hot(runs: Runs) -> Mask:
    """The runs in the noise-dominated regime."""
    table = runs.table()
    return np.asarray(table["temperature"] >= AWAY * MARGIN / constants(CHI).k_perp)


FIGURE = Figure(
    "my_figure",
    "final |w_perp| against T, for two dimensions",
    plan=Grid(
        chi=CHI,
        margin=MARGIN,
        batch=2,
        temperature=powers(-9, 1, 2),
        quick={"dim": [16, 32], "train_size": 256, "seeds": 3, "test_size": 256},
        paper={"dim": [64, 128], "train_size": 8192, "seeds": 5},
    ),
    draw=Curves(
        "temperature",
        "w_perp",
        by="dim",
        symbols={"dim": "d"},
        xlabel="$T$",
        ylabel=r"$\|\mathbf{w}_\perp\|$",
    ),
    # The prediction, the tolerance and its reason are fixed before the run.
    claims=[
        Exponent(
            "1",
            "T >> T_c: |w_perp| ~ T",
            "w_perp",
            "temperature",
            equals=1,
            among=("temperature", "dim"),
            where=hot,
            within=0.1,
            reason="regimes differ by 1 in this exponent; a tenth allows for crossovers",
        )
    ],
)
