"""Trainings in the `(w1, |w_perp|)` plane, over the training loss, next to the online theory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.lines import Line2D

from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase._typing import FloatArray
from sgdphase.diagram._style import GREY, new_figure
from sgdphase.paper._along import Trajectory
from sgdphase.paper.figure import Scale
from sgdphase.paper.runs import Runs
from sgdphase.problems import TeacherTask
from sgdphase.theory import Online, Scales, online, scales

CHI, MARGIN, TEMPERATURE = 1.0, 0.01, 2.0
PIXELS = 80
LOWEST = 1e-6  # of the colours of the loss


@dataclass(frozen=True)
class Setting:
    """What Fig. 2 and Fig. S1a share: sizes, and the batches that are run and drawn."""

    train_size: int
    dim: int
    seeds: int
    drawn: tuple[int, ...]

    @property
    def batches(self) -> list[int]:
        """Powers of two from 2 to the full batch."""
        return [2**k for k in range(1, int(math.log2(self.train_size)) + 1)]

    @property
    def theory(self) -> Scales:
        """The theory's scales, at the temperature of Fig. 2."""
        return scales(
            train_size=self.train_size,
            dim=self.dim,
            chi=CHI,
            margin=MARGIN,
            lr=TEMPERATURE,
            batch=1,
        )

    def plan(self, momentum: float) -> Sequence[Training]:
        """The trainings at fixed `eta / B`, one for each batch and seed."""
        return grid(
            train_size=self.train_size,
            dim=self.dim,
            chi=CHI,
            margin=MARGIN,
            temperature=TEMPERATURE,
            batch=self.batches,
            momentum=momentum,
            seeds=self.seeds,
        )

    def online(self, temperature: float) -> Online:
        """The online solution, from before any first step to after any end."""
        return online(
            np.geomspace(1e-2, 1e12 * self.theory.crossover_time, 800),
            chi=CHI,
            dim=self.dim,
            margin=MARGIN,
            temperature=temperature,
        )


def setting(scale: Scale) -> Setting:
    if scale == "quick":
        return Setting(8192, 64, 3, (2, 8, 32, 128, 512, 2048, 8192))
    return Setting(16384, 128, 5, (2, 8, 32, 128, 512, 2048, 16384))


def draw_paths(runs: Runs, scale: Scale, *, momentum: float) -> Any:
    """One training for each batch, coloured by it, over the loss of its training set."""
    own = setting(scale)
    paths = {
        batch: runs.trajectories(batch=batch, momentum=momentum, seed=0)[0] for batch in own.drawn
    }
    figure, axes = new_figure(size=(6.0, 4.4))
    w1, w_perp = _frame(list(paths.values()))
    _draw_loss(figure, axes, own, w1, w_perp)
    theory = own.online(TEMPERATURE / (1 - momentum))
    axes.plot(theory.w1, theory.w_perp, "k--", linewidth=1.6, zorder=4)
    colors = colormaps["plasma"](np.linspace(0.0, 0.85, len(paths)))
    for (batch, path), color in zip(paths.items(), colors, strict=True):
        _draw_path(axes, path, color, f"$B={batch}$")
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(w1[0], w1[-1]),
        ylim=(w_perp[0], w_perp[-1]),
        xlabel=r"$w_1$",
        ylabel=r"$\|w_\perp\|$",
    )
    _legends(figure, axes)
    return figure


def _frame(paths: Sequence[Trajectory]) -> tuple[FloatArray, FloatArray]:
    """Log-spaced coordinates of the pixels: all of the paths, and some room around them."""
    w1 = np.concatenate([path["w1"][path["w1"] > 0] for path in paths])
    w_perp = np.concatenate([path["w_perp"] for path in paths])
    return (
        np.geomspace(w1.min() / 1.6, w1.max() * 2.5, PIXELS),
        np.geomspace(w_perp.min() / 2, w_perp.max() * 2, PIXELS),
    )


def training_loss(own: Setting, w1: FloatArray, w_perp: FloatArray) -> FloatArray:
    """`L(w1 e1 + w_perp xi)` of the training set of seed 0, as `[w_perp, w1]`.

    `xi` is a random direction: a Gaussian vector of `d - 1` components, scaled to length 1.
    """
    along, across = _outputs(own)
    loss = np.empty((w_perp.size, w1.size))
    for i, size in enumerate(w_perp):
        output = np.multiply.outer(w1, along) + size * across
        loss[i] = np.maximum(MARGIN - output, 0.0).mean(axis=1)
    return loss


def zero_loss(own: Setting, w_perp: FloatArray) -> FloatArray:
    """The `w1` from which on `training_loss` is zero, for each `w_perp`."""
    along, across = _outputs(own)
    return np.array([((MARGIN - size * across) / along).max() for size in w_perp])


def _outputs(own: Setting) -> tuple[FloatArray, FloatArray]:
    """`y f` of each training point for unit weights along `e1` and along `xi`."""
    data = TeacherTask(own.dim, CHI).train_set(own.train_size, 0)
    xi = np.random.default_rng(0).standard_normal(own.dim - 1)
    z = data.x * data.y[:, None] / math.sqrt(own.dim)
    return z[:, 0], z[:, 1:] @ (xi / np.linalg.norm(xi))


def _draw_loss(figure: Any, axes: Any, own: Setting, w1: FloatArray, w_perp: FloatArray) -> None:
    """The loss in colour; where it is zero the picture is white."""
    loss = np.maximum(training_loss(own, w1, w_perp), LOWEST)
    mesh = axes.pcolormesh(
        w1, w_perp, loss, cmap=_pale(), norm=LogNorm(LOWEST, loss.max()), shading="gouraud",
        rasterized=True,
    )  # fmt: skip
    edge = zero_loss(own, w_perp)
    axes.fill_betweenx(w_perp, edge, max(w1[-1], edge.max()), color="w", linewidth=0)
    axes.plot(edge, w_perp, color=GREY, linewidth=0.8)
    axes.text(
        0.97, 0.34, r"$L_{\rm train}=0$", ha="right", transform=axes.transAxes, fontsize="medium"
    )
    figure.colorbar(mesh, ax=axes, label=r"$L_{\rm train}(w_1, w_\perp)$", extend="min")


def _pale() -> LinearSegmentedColormap:
    """A light map, on which the lines of all batches can be seen."""
    return LinearSegmentedColormap.from_list("pale", colormaps["GnBu"](np.linspace(0.2, 0.7, 64)))


def _draw_path(axes: Any, path: Trajectory, color: Any, label: str) -> None:
    """A training as a line; black circle at its first step, black star at its last."""
    axes.plot(path["w1"], path["w_perp"], color=color, label=label, linewidth=1.5, zorder=3)
    axes.plot(
        path["w1"][0], path["w_perp"][0], "o", color="k", markerfacecolor=color, markersize=5,
        zorder=5,
    )  # fmt: skip
    axes.plot(
        path["w1"][-1], path["w_perp"][-1], "*", color="k", markerfacecolor=color, markersize=11,
        zorder=6,
    )  # fmt: skip


def _legends(figure: Any, axes: Any) -> None:
    """Batches above the picture, signs in it."""
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside upper center", ncols=4, columnspacing=1.2,
        handlelength=1.4, frameon=False, fontsize="small",
    )  # fmt: skip
    signs = [
        Line2D([], [], color="k", linestyle="--", label="online SDE"),
        Line2D([], [], color="k", marker="o", markerfacecolor="w", linestyle="",
               label="first step"),
        Line2D([], [], color="k", marker="*", markerfacecolor="w", markersize=10, linestyle="",
               label="last step"),
    ]  # fmt: skip
    axes.legend(handles=signs, loc="lower right", fontsize="small", frameon=False)
