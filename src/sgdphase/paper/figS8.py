"""Fig. S8: what the convolutional net on CIFAR10 has learnt against `B`.

(A) its alignment at small margin; (B) its weight change at large margin.
"""

from __future__ import annotations

from sgdphase.paper.fig4b import collapse_figure, exponents
from sgdphase.paper.settings import cnn, cnn_large_margin

_A = collapse_figure(
    "figS8a",
    "alignment of the convolutional net on CIFAR10 at the end of training against B, for several "
    "P, collapsed: small margin",
    title=r"CNN, CIFAR10 animals, $\kappa=2^{-15}$",
    setting=cnn,
    cells={
        "quick": exponents((4, 6), (2, 2, 2), (0, 4, 2)),
        "laptop": exponents((7, 9), (4, 4, 2), (0, 9)),
        "paper": exponents((10, 14), (5, 5, 2), (0, 10)),
    },
    observable="alignment",
    exponent=0.4,
    claim=("1", "B* ~ P^0.4, hence chi = 1.5"),
)

_B = collapse_figure(
    "figS8b",
    "relative weight change of the convolutional net on CIFAR10 against B, for several P, "
    "collapsed: large margin",
    title=r"CNN, CIFAR10 animals, $\kappa=1$",
    setting=cnn_large_margin,
    cells={
        "quick": exponents((4, 5), (0, 0, 2), (2, 4)),
        "laptop": exponents((6, 8), (2, 2, 2), (3, 8)),
        "paper": exponents((10, 14), (0, 0, 2), (0, 11)),
    },
    observable="weight_change",
    exponent=0.5,
    claim=("2", "B* ~ P^0.5"),
    remark="At laptop scale eta = 4 and B of at least 8 were chosen after a look at other runs: at "
    "eta = 8 some trainings of 128 points do not end, and T = 1 diverges (figS6a). At P = 256 "
    "the first-step line is at 6, so that the weight change at large B is that of GD.",
)

FIGURES = (_A, _B)
