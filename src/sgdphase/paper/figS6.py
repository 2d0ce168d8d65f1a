"""Fig. S6: the CNN on CIFAR10, animals against the rest, at margin 1, panels A to D."""

from __future__ import annotations

from sgdphase.paper._error_regimes import best_claim, same_claim, worse_claim
from sgdphase.paper._large_margin import alignment, figures, regimes
from sgdphase.paper.settings import cnn_large_margin

BEST = "the lowest test error is in the noise-dominated regime"
WORSE = "at the end of training GD is worse than noise-dominated SGD"
SAME = "with early stopping GD is as good as noise-dominated SGD"

FIGURES = figures(
    "figS6",
    "the CNN on CIFAR10 (animals against the rest)",
    cnn_large_margin,
    1.5,
    {
        "a": regimes,
        "b": alignment,
        "c": lambda id, errors, lines: [
            best_claim(f"{id}.2a", BEST, errors, lines),
            worse_claim(f"{id}.2b", WORSE, errors, lines),
        ],
        "d": lambda id, errors, lines: [same_claim(f"{id}.2c", SAME, errors, lines)],
    },
)
