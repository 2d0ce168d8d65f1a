"""Fig. S7B: the weight change of the fully connected net on MNIST against `B`, large margin."""

from __future__ import annotations

from sgdphase.figures._network_collapse import WEIGHT_CHANGE, Batches, Range
from sgdphase.figures._networks import fc_large_margin

BATCHES = Batches(
    name="figS7b",
    title=r"fully connected, parity MNIST, $\kappa=1$",
    setting=fc_large_margin,
    ranges={
        "quick": Range((5, 7), (1, 1), (0, 6), step=2),
        "laptop": Range((8, 11), (3, 3), (1, 10)),
        "paper": Range((10, 14), (3, 3), (0, 12)),
    },
    learnt=WEIGHT_CHANGE,
    id="figS7b.2",
    says="B* ~ P^0.4",
    exponent=0.4,
)

FIGURE = BATCHES.figure(
    "relative weight change of the fully connected net on parity MNIST against B, for several P, "
    "collapsed: large margin"
)
