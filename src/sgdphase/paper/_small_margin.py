"""Networks at small margin: the phase diagram (Fig. 1B, C) and the change of the kernel (Fig. S3).

Both read the same plane of trainings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sgdphase.diagram import phase_diagram, plane_from_table
from sgdphase.diagram._style import new_figure
from sgdphase.paper import _phase
from sgdphase.paper._plane import regions
from sgdphase.paper._scaling import power_of_two, shades, spread
from sgdphase.paper.captions import omissions, title, write_left_out
from sgdphase.paper.claim import Claim
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs
from sgdphase.paper.settings import Setting

At = Callable[[Scale], Setting]


def phase_figure(name: str, of: str, at: At) -> Figure:
    """Alignment and test error in the plane of batch and learning rate."""

    def draw(runs: Runs, scale: Scale) -> Any:
        picture = _phase.draw(runs)
        picture.suptitle(title(at(scale)), fontsize=10)
        write_left_out(picture, at(scale).plane(), at("paper").plane())
        return picture

    return Figure(
        name,
        f"phase diagram of {of} in (B, eta): alignment and test error",
        lambda scale: at(scale).plane(),
        draw,
        lambda runs, _: _phase.claims(name, runs),
        remark=omissions(at("laptop")),
    )


def kernel_figure(name: str, of: str, at: At) -> Figure:
    """The relative change of the neural tangent kernel against T, a curve for each batch."""

    def draw(runs: Runs, scale: Scale) -> Any:
        picture = draw_kernel(runs, title(at(scale)))
        write_left_out(picture, at(scale).plane(), at("paper").plane())
        return picture

    return Figure(
        name,
        f"relative change of the neural tangent kernel of {of} against T = eta/B",
        lambda scale: at(scale).plane(),
        draw,
        lambda runs, _: kernel_claims(name, runs),
        remark=omissions(at("laptop")),
    )


def draw_kernel(runs: Runs, heading: str) -> Any:
    figure, axes = new_figure(size=(5.4, 4.0))
    change = plane_from_table(runs.table(), observable="ntk_change")
    for j, color in enumerate(shades(change.batch.size)):
        fitted = np.isfinite(change.log_value[:, j]).any(axis=-1)
        if fitted.any():
            mean, error = spread(change.value[fitted, j])
            batch = change.batch[j]
            axes.errorbar(
                change.lr[fitted] / batch, mean, error,
                color=color, marker="o", markersize=4, linewidth=0.9,
                label=f"$B={power_of_two(batch)[1:]}",
            )  # fmt: skip
    axes.set(
        xscale="log",
        yscale="log",
        xlabel=r"$T=\eta/B$",
        ylabel=r"$\|\Delta K\|\,/\,\|K_0\|$",
    )
    axes.set_title(heading, fontsize=10)
    diagram = phase_diagram(plane_from_table(runs.table()))
    if diagram.critical_temperature is not None:
        axes.axvline(diagram.critical_temperature.value, color="0.4", ls="--", lw=1, label="$T_c$")
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    return figure


def kernel_claims(id: str, runs: Runs) -> list[Claim]:
    """In the noise regime, as cut out by the boundaries of the alignment."""
    noise = regions(phase_diagram(plane_from_table(runs.table())))["noise"]
    change = plane_from_table(runs.table(), observable="ntk_change")
    claim = "the change of the kernel grows with T in the noise-dominated regime"
    return [_phase.growth_claim(f"{id}.1", claim, change, noise)]
