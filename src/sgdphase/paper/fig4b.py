"""Fig. 4B: the alignment of the fully connected net on MNIST against `B`, small margin."""

from __future__ import annotations

from sgdphase.paper._network_collapse import ALIGNMENT, Batches, Range
from sgdphase.paper.settings import fc

BATCHES = Batches(
    name="fig4b",
    title=r"fully connected, parity MNIST, $\kappa=2^{-15}$",
    setting=fc,
    ranges={
        "quick": Range((6, 8), (2, 2), (0, 6), step=2),
        "laptop": Range((9, 12), (1, 3), (0, 10)),
        "paper": Range((10, 15), (1, 5), (0, 12)),
    },
    learnt=ALIGNMENT,
    id="fig4b.1",
    says="B* ~ P^0.2, hence chi = 4",
    exponent=0.2,
)

FIGURE = BATCHES.figure(
    "alignment of the fully connected net on parity MNIST at the end of training against B, for "
    "several P and eta, collapsed: small margin"
)
