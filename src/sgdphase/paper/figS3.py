"""Fig. S3: how much the neural tangent kernel changes, against T: (A) the FC net, (B) the CNN.

Both read the planes of trainings of Fig. 1B and C.
"""

from __future__ import annotations

from typing import Any

from sgdphase.diagram import phase_diagram, plane_from_table
from sgdphase.paper.captions import omissions, title
from sgdphase.paper.claim import Claim, Scale
from sgdphase.paper.draw import legend_outside, panels, power_label, shades, spread
from sgdphase.paper.figure import Figure
from sgdphase.paper.planes import growth_claim, regions
from sgdphase.paper.runs import Runs
from sgdphase.paper.settings import At, cnn, fc


def draw_kernel(runs: Runs, heading: str) -> Any:
    """The relative change of the kernel against T, a curve for each batch."""
    figure, axes = panels(size=(5.4, 4.0))
    batches = runs.values("batch")
    for batch, color in zip(batches, shades(len(batches)), strict=True):
        x, y = runs.fitted().curve("temperature", "ntk_change", batch=batch)
        there = (y > 0).any(axis=1)
        look = {"color": color, "marker": "o", "markersize": 4, "linewidth": 0.9}
        axes.errorbar(x[there], *spread(y[there]), label=power_label("B", batch), **look)
    temperature = phase_diagram(plane_from_table(runs.table())).critical_temperature
    if temperature is not None:
        axes.axvline(temperature.value, color="0.4", ls="--", lw=1, label="$T_c$")
    axes.set(xscale="log", yscale="log", xlabel=r"$T=\eta/B$")
    axes.set_ylabel(r"$\|\Delta K\|\,/\,\|K_0\|$")
    axes.set_title(heading, fontsize=10)
    legend_outside(figure, axes)
    return figure


def kernel_claims(runs: Runs, scale: Scale) -> list[Claim]:
    """In the noise regime, as cut out by the boundaries of the alignment."""
    table = runs.table()
    noise = regions(phase_diagram(plane_from_table(table)))["noise"]
    change = plane_from_table(table, observable="ntk_change")
    says = "the change of the kernel grows with T in the noise-dominated regime"
    return [growth_claim("1", says, change, noise)]


def _figure(name: str, of: str, at: At) -> Figure:
    return Figure(
        name,
        f"relative change of the neural tangent kernel of {of} against T = eta/B",
        lambda scale: at(scale).plane(),
        lambda runs, scale: draw_kernel(runs, title(at(scale))),
        kernel_claims,
        remark=omissions(at("laptop")),
        reduced=True,
    )


FIGURES = (
    _figure("figS3a", "the fully connected net on parity MNIST", fc),
    _figure("figS3b", "the CNN on CIFAR10 (animals against the rest)", cnn),
)
