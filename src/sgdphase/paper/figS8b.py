"""Fig. S8B: the weight change of the convolutional net on CIFAR10 against `B`, large margin."""

from __future__ import annotations

from sgdphase.paper._network_collapse import WEIGHT_CHANGE, Batches, Range
from sgdphase.paper.settings import cnn_large_margin

BATCHES = Batches(
    name="figS8b",
    title=r"CNN, CIFAR10 animals, $\kappa=1$",
    setting=cnn_large_margin,
    ranges={
        "quick": Range((4, 5), (0, 0), (2, 4)),
        "laptop": Range((6, 8), (2, 2), (3, 8)),
        "paper": Range((10, 14), (0, 0), (0, 11)),
    },
    learnt=WEIGHT_CHANGE,
    id="figS8b.2",
    says="B* ~ P^0.5",
    exponent=0.5,
)

FIGURE = BATCHES.figure(
    "relative weight change of the convolutional net on CIFAR10 against B, for several P, "
    "collapsed: large margin",
    remark="At laptop scale eta = 4 and B of at least 8 were chosen after a look at other runs: at "
    "eta = 8 some trainings of 128 points do not end, and T = 1 diverges (figS6a). At P = 256 "
    "the first-step line is at 6, so that the weight change at large B is that of GD.",
)
