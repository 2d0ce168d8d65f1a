"""Fig. 1B: the phase diagram of the fully connected net on parity MNIST, at small margin.

At laptop scale `fig1b` has three seeds of fewer points, `fig1b-full` one seed of as many as in the
paper.
"""

from __future__ import annotations

from sgdphase.paper.planes import network_figure
from sgdphase.paper.settings import fc, fc_full_size

NET = "the fully connected net on parity MNIST"
FIGURES = (
    network_figure("fig1b", NET, fc),
    network_figure(
        "fig1b-full", f"{NET} (at laptop scale all points of the paper, one seed)", fc_full_size
    ),
)
