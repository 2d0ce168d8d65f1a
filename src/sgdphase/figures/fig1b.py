"""Fig. 1B: the phase diagram of the fully connected net on parity MNIST, at small margin."""

from __future__ import annotations

from sgdphase.figures._networks import fc
from sgdphase.figures._small_margin import phase_figure

FIGURE = phase_figure("fig1b", "the fully connected net on parity MNIST", fc)
