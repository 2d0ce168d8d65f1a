"""A figure: what is run, how it is drawn, and which claims it decides.

Here: `|w_perp|` at the end of training against the temperature `T = lr / batch`. In the
noise-dominated regime, `T` well above `T_c = margin / k_perp`, it is proportional to `T`.
"""

from __future__ import annotations

from sgdphase.paper import Curves, Exponent, Figure, Grid, Tolerance, above_critical
from sgdphase.stats import powers

FIGURE = Figure(
    "my_figure",
    "final |w_perp| against T, for two dimensions",
    plan=Grid(
        chi=1.0,
        margin=2.0**-7,
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
            of="temperature",
            equals=1,
            within=Tolerance(0.1, "regimes differ by 1 in it; a tenth allows for crossovers"),
            among=("temperature", "dim"),
            where=above_critical("temperature", 4),
        )
    ],
)
