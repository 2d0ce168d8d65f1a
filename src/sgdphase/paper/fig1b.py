"""Fig. 1B: the phase diagram of the fully connected net on parity MNIST, at small margin.

At laptop scale `fig1b` has three seeds of fewer points, `fig1b-full` one seed of as many as in the
paper.
"""

from __future__ import annotations

from sgdphase.paper._small_margin import phase_figure
from sgdphase.paper.settings import fc, fc_full_size

FIGURE = phase_figure("fig1b", "the fully connected net on parity MNIST", fc)
FIGURE_FULL = phase_figure(
    "fig1b-full",
    "the fully connected net on parity MNIST (at laptop scale all points of the paper, one seed)",
    fc_full_size,
)

FIGURES = (FIGURE, FIGURE_FULL)
