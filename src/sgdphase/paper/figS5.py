"""Fig. S5: the fully connected net on parity MNIST at margin 1, panels A to D."""

from __future__ import annotations

from sgdphase.paper._error_regimes import best_claim
from sgdphase.paper._large_margin import alignment, figures, regimes
from sgdphase.paper.settings import fc_large_margin

BEST = "the lowest test error is in the noise-dominated regime"

FIGURES = figures(
    "figS5",
    "the fully connected net on parity MNIST",
    fc_large_margin,
    1.3,
    {
        "a": regimes,
        "b": alignment,
        "c": lambda id, errors, lines: [best_claim(f"{id}.2", BEST, errors, lines)],
        "d": lambda id, errors, lines: [
            best_claim(f"{id}.3", f"{BEST} with early stopping too", errors, lines)
        ],
    },
)
