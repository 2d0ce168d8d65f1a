"""Figs. 1B and 1C: phase diagrams of networks at small margin.

1B is the fully connected net on parity MNIST: at laptop scale `fig1b` has three seeds of fewer
points, `fig1b-full` one seed of as many as in the paper. 1C is the CNN on CIFAR10.

Trained: `_settings.fc`, `_settings.cnn`. Drawn: `_planes.draw_network`. Claims (1) to (5):
`_planes.phase_claims`.
"""

from __future__ import annotations

from sgdphase.paper._figure import Figure
from sgdphase.paper._planes import draw_network, phase_claims, plane_figure
from sgdphase.paper._settings import SettingAt, cnn, fc, fc_full_size


def _figure(name: str, of: str, at: SettingAt) -> Figure:
    shows = f"phase diagram of {of} in (B, eta): alignment and test error"
    return plane_figure(name, shows, at, draw_network, phase_claims)


NET = "the fully connected net on parity MNIST"
FIGURES = (
    _figure("fig1b", NET, fc),
    _figure(
        "fig1b-full", f"{NET} (at laptop scale all points of the paper, one seed)", fc_full_size
    ),
    _figure("fig1c", "the CNN on CIFAR10 (animals against the rest)", cnn),
)
