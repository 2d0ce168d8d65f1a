"""Fig. S6: the CNN on CIFAR10, animals against the rest, at margin 1, panels A to D."""

from __future__ import annotations

from sgdphase.paper.figS5 import best_claim, four_panels, gd_claim
from sgdphase.paper.settings import cnn_large_margin

WORSE = "at the end of training GD is worse than noise-dominated SGD"
SAME = "with early stopping GD is as good as noise-dominated SGD"

FIGURES = four_panels(
    "figS6",
    "the CNN on CIFAR10 (animals against the rest)",
    cnn_large_margin,
    1.5,
    {
        "c": lambda errors, lines: [
            best_claim("2a", errors, lines),
            gd_claim("2b", WORSE, errors, lines, worse=True),
        ],
        "d": lambda errors, lines: [gd_claim("2c", SAME, errors, lines, worse=False)],
    },
)
