"""Fig. S3: how much the neural tangent kernel changes, against T: (A) the FC net, (B) the CNN.

Both read the planes of trainings of Fig. 1B and C.
"""

from __future__ import annotations

from typing import Any

from sgdphase.paper.claim import Claim, Scale
from sgdphase.paper.draw import colored, legend_outside, panel, power_label, spread
from sgdphase.paper.figure import Figure
from sgdphase.paper.planes import NOISE, growth_claim, plane_figure, regions
from sgdphase.paper.runs import Runs
from sgdphase.paper.settings import SettingAt, cnn, fc


def draw_kernel(runs: Runs, heading: str) -> Any:
    """The relative change of the kernel against T, a curve for each batch."""
    ylabel = r"$\|\Delta K\|\,/\,\|K_0\|$"
    figure, axes = panel(r"$T=\eta/B$", ylabel, heading, size=(5.4, 4.0))
    for batch, color in colored(runs.values("batch")):
        x, y = runs.fitted().curve("temperature", "ntk_change", batch=batch)
        there = (y > 0).any(axis=1)
        look = {"color": color, "marker": "o", "markersize": 4, "linewidth": 0.9}
        axes.errorbar(x[there], *spread(y[there]), label=power_label("B", batch), **look)
    temperature = runs.diagram.critical_temperature
    if temperature is not None:
        axes.axvline(temperature.value, color="0.4", ls="--", lw=1, label="$T_c$")
    legend_outside(figure, axes)
    return figure


def kernel_claims(runs: Runs, scale: Scale) -> list[Claim]:
    """In the noise regime, as cut out by the boundaries of the alignment."""
    says = "the change of the kernel grows with T in the noise-dominated regime"
    return [growth_claim("1", says, runs.plane("ntk_change"), regions(runs.diagram)[NOISE])]


def _figure(name: str, of: str, at: SettingAt) -> Figure:
    shows = f"relative change of the neural tangent kernel of {of} against T = eta/B"
    return plane_figure(name, shows, at, draw_kernel, kernel_claims)


FIGURES = (
    _figure("figS3a", "the fully connected net on parity MNIST", fc),
    _figure("figS3b", "the CNN on CIFAR10 (animals against the rest)", cnn),
)
