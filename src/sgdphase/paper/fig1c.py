"""Fig. 1C: the phase diagram of the CNN on CIFAR10, animals against the rest, at small margin."""

from __future__ import annotations

from sgdphase.paper.planes import network_figure
from sgdphase.paper.settings import cnn

FIGURE = network_figure("fig1c", "the CNN on CIFAR10 (animals against the rest)", cnn)
