"""Fig. S8A: the alignment of the convolutional net on CIFAR10 against `B`, small margin."""

from __future__ import annotations

from sgdphase.paper._network_collapse import ALIGNMENT, Batches, Range
from sgdphase.paper.settings import cnn

BATCHES = Batches(
    name="figS8a",
    title=r"CNN, CIFAR10 animals, $\kappa=2^{-15}$",
    setting=cnn,
    ranges={
        "quick": Range((4, 6), (2, 2), (0, 4), step=2),
        "laptop": Range((7, 9), (4, 4), (0, 9)),
        "paper": Range((10, 14), (5, 5), (0, 10)),
    },
    learnt=ALIGNMENT,
    id="figS8a.1",
    says="B* ~ P^0.4, hence chi = 1.5",
    exponent=0.4,
)

FIGURE = BATCHES.figure(
    "alignment of the convolutional net on CIFAR10 at the end of training against B, for several "
    "P, collapsed: small margin"
)
