"""Weights in time under weight decay (SI 2.B): the setting of Figs. S1b and S2b, and its panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps

from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase._typing import FloatArray
from sgdphase.paper._along import Trajectory
from sgdphase.paper.figure import Scale
from sgdphase.theory import Online, online, scales

CHI, MARGIN, TEMPERATURE = 1.0, 2.0**-7, 2.0
COLUMNS = ("w1", "w_perp")
LABELS = {"w1": r"$w_1$", "w_perp": r"$\|w_\perp\|$"}
# Deviations of w1 decay as exp(-4 Lambda t), those of a large first step as exp(-Lambda t): what
# is left after 4 / Lambda is 2 % of the step.
SETTLED = 4.0


@dataclass(frozen=True)
class Setting:
    """Sizes, and until when the trainings run."""

    train_size: int
    dim: int
    seeds: int
    max_time: float

    @property
    def critical_decay(self) -> float:
        """`Lambda*` of the theory."""
        return scales(
            train_size=self.train_size, dim=self.dim, chi=CHI, margin=MARGIN, lr=TEMPERATURE,
            batch=1,
        ).critical_decay  # fmt: skip

    def plan(self, batch: int, decays: Sequence[float]) -> Sequence[Training]:
        return grid(
            train_size=self.train_size,
            dim=self.dim,
            chi=CHI,
            margin=MARGIN,
            temperature=TEMPERATURE,
            batch=batch,
            weight_decay=decays,
            seeds=self.seeds,
            max_time=self.max_time,
        )

    def online(self, times: FloatArray, decay: float) -> Online:
        return online(
            times,
            chi=CHI,
            dim=self.dim,
            margin=MARGIN,
            temperature=TEMPERATURE,
            weight_decay=decay,
        )


def setting(scale: Scale) -> Setting:
    """Trainings run to 16 times the longest `1 / Lambda`."""
    if scale == "quick":
        return Setting(4096, 32, 3, 2.0**22)
    return Setting(16384, 128, 5, 2.0**26)


def decay_colors(decays: Sequence[float]) -> dict[float, Any]:
    """Black without decay, then from dark to bright."""
    shades = colormaps["plasma"](np.linspace(0.1, 0.85, len([d for d in decays if d > 0])))
    return {0.0: "k"} | dict(zip([d for d in decays if d > 0], shades, strict=True))


def decay_label(decay: float) -> str:
    return rf"$\Lambda=2^{{{np.log2(decay):.0f}}}$" if decay > 0 else r"$\Lambda=0$"


def draw_weights(panels: Sequence[Any], along: Trajectory, **style: Any) -> None:
    """`w1` in the first panel, `|w_perp|` in the second."""
    for panel, name in zip(panels, COLUMNS, strict=True):
        panel.plot(along["time"], along[name], **style)


def finish(figure: Any, panels: Sequence[Any], title: str) -> None:
    """The same axes in both panels, and one legend on the right."""
    lines = [line.get_ydata() for panel in panels for line in panel.lines if line.get_ydata().size]
    low, high = min(y.min() for y in lines) / 1.5, max(y.max() for y in lines) * 1.5
    for panel, name in zip(panels, COLUMNS, strict=True):
        panel.set_title(title, fontsize="medium")
        panel.set(xscale="log", yscale="log", xlabel=r"$t$", ylabel=LABELS[name],
                  ylim=(low, high))  # fmt: skip
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
