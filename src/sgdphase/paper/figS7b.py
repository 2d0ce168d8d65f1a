"""Fig. S7B: the weight change of the fully connected net on MNIST against `B`, large margin."""

from __future__ import annotations

from sgdphase.paper.fig4b import WEIGHT_CHANGE, Batches, Range
from sgdphase.paper.settings import fc_large_margin

BATCHES = Batches(
    title=r"fully connected, parity MNIST, $\kappa=1$",
    setting=fc_large_margin,
    ranges={
        "quick": Range((5, 7), (1, 1), (0, 6), step=2),
        "laptop": Range((8, 11), (5, 5), (1, 10)),
        "paper": Range((10, 14), (3, 3), (0, 12)),
    },
    learnt=WEIGHT_CHANGE,
    id="2",
    says="B* ~ P^0.4",
    exponent=0.4,
)

FIGURE = BATCHES.figure(
    "figS7b",
    "relative weight change of the fully connected net on parity MNIST against B, for several P, "
    "collapsed: large margin",
    remark="A first run at laptop scale had eta = 8, which at these P is below the first-step line "
    "(16 at P = 1024, figS5a): its weight change at large B was that of GD, which grows with P, "
    "and the claim failed with 1.01 (0.854 .. 1.01), or 0.43 with free heights.",
)
