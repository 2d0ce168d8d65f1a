"""Figs. 1B and 1C: phase diagrams of networks at small margin.

1B is the fully connected net on parity MNIST, 1C the CNN on CIFAR10.

Trained: `_settings.fc`, `_settings.mobilenet`. Drawn: `_planes.draw_phases`. Claims (1) to (5):
`_planes.phase_claims`.
"""

from __future__ import annotations

from sgdphase.paper._figure import Figure
from sgdphase.paper._planes import draw_phases, phase_claims, plane_figure
from sgdphase.paper._settings import SettingAt, fc, mobilenet


def _figure(name: str, of: str, at: SettingAt) -> Figure:
    shows = f"phase diagram of {of} in (B, eta): alignment and test error"
    return plane_figure(name, shows, at, draw_phases, phase_claims)


FIGURES = (
    _figure("fig1b", "the fully connected net on parity MNIST", fc),
    _figure("fig1c", "the CNN on CIFAR10 (animals against the rest)", mobilenet),
)
