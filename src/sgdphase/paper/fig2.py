"""Figs. 2 and S1a: trainings in the (w1, |w_perp|) plane at fixed eta/B; S1a with momentum.

One training for each batch, over the loss of its training set (white where it is zero), next to the
online theory (dashed). A circle is the first step, a star the last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from sgdphase import theory
from sgdphase._sweep import Run
from sgdphase._typing import FloatArray
from sgdphase.paper._claim import Above, Below, Constant, Exponent, Tolerance
from sgdphase.paper._draw import colored, one_of, panel
from sgdphase.paper._figure import Figure, Grid
from sgdphase.paper._measure import Mean, above_critical, below_critical, mean, scales, share
from sgdphase.paper._runs import Runs, Trajectory
from sgdphase.problems import TeacherTask
from sgdphase.stats import Estimate, whole_powers

CHI, MARGIN, TEMPERATURE, MOMENTUM = 1.0, 0.01, 2.0, 0.9
SLOWER = 10.0  # 1 / (1 - MOMENTUM)
PIXELS = 80
LOWEST = 1e-6  # of the colours of the loss


def _grid(*momentum: float) -> Grid:
    return Grid(
        chi=CHI, margin=MARGIN, temperature=TEMPERATURE, momentum=momentum,
        quick=dict(train_size=8192, dim=64, batch=whole_powers(1, 13), seeds=3),
        paper=dict(train_size=16384, dim=128, batch=whole_powers(1, 14), seeds=40),
    )  # fmt: skip


@lru_cache(maxsize=8)
def _online(train_size: int, dim: int, temperature: float = TEMPERATURE) -> theory.Online:
    """The online solution, from before any first step to after any end."""
    setting: Any = {"chi": CHI, "dim": dim, "margin": MARGIN}
    crossover = theory.scales(train_size=train_size, lr=TEMPERATURE, batch=1, **setting)
    times = np.geomspace(1e-2, 1e12 * crossover.crossover_time, 800)
    return theory.online(times, temperature=temperature, **setting)


def outputs(train_size: int, dim: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """`y f` of each training point of a seed for unit weights along `e1` and along `xi`.

    `xi` is a random direction: a Gaussian vector of `d - 1` components, scaled to length 1.
    """
    data = TeacherTask(dim, CHI).train_set(train_size, seed)
    xi = np.random.default_rng(0).standard_normal(dim - 1)
    z = data.x * data.y[:, None] / math.sqrt(dim)
    return z[:, 0], z[:, 1:] @ (xi / np.linalg.norm(xi))


def training_loss(
    along: FloatArray, across: FloatArray, w1: FloatArray, w_perp: FloatArray
) -> FloatArray:
    """`L(w1 e1 + w_perp xi)` of a training set with these `outputs`, as `[w_perp, w1]`."""
    loss = np.empty((w_perp.size, w1.size))
    for i, size in enumerate(w_perp):
        output = np.multiply.outer(w1, along) + size * across
        loss[i] = np.maximum(MARGIN - output, 0.0).mean(axis=1)
    return loss


def zero_loss(along: FloatArray, across: FloatArray, w_perp: FloatArray) -> FloatArray:
    """The `w1` from which on `training_loss` is zero, for each `w_perp`."""
    return np.array([((MARGIN - size * across) / along).max() for size in w_perp])


def draw(runs: Runs, momentum: float = 0.0) -> Any:
    batches = [*whole_powers(1, 11, 2), runs.only("train_size")]
    paths = {batch: runs.trajectories(batch=batch, momentum=momentum)[0] for batch in batches}
    shown = runs.where(momentum=momentum).at(seed=0)
    figure, axes = panel(
        r"$w_1$", r"$\|w_\perp\|$", one_of(runs.where(momentum=momentum), "lr"), size=(6.0, 4.4)
    )
    w1, w_perp = _frame(list(paths.values()))
    of = runs.only("train_size"), runs.only("dim")
    _draw_loss(figure, axes, outputs(*of, shown.only("seed")), w1, w_perp)
    expected = _online(*of, TEMPERATURE / (1 - momentum))
    axes.plot(expected.w1, expected.w_perp, "k--", linewidth=1.6, zorder=4)
    for batch, color in colored(batches, "plasma"):
        x, y = paths[batch]["w1"], paths[batch]["w_perp"]
        axes.plot(x, y, color=color, label=f"$B={batch}$", linewidth=1.5, zorder=3)
        axes.plot(x[0], y[0], "o", color="k", markerfacecolor=color, markersize=5, zorder=5)
        axes.plot(x[-1], y[-1], "*", color="k", markerfacecolor=color, markersize=11, zorder=6)
    axes.set(xlim=(w1[0], w1[-1]), ylim=(w_perp[0], w_perp[-1]))
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside upper center", ncols=4, columnspacing=1.2,
        handlelength=1.4, frameon=False, fontsize="small",
    )  # fmt: skip
    signs = [
        axes.plot([], [], fmt, color="k", markerfacecolor="w", label=label)[0]
        for fmt, label in (("--", "online SDE"), ("o", "first step"), ("*", "last step"))
    ]
    axes.legend(handles=signs, loc="lower right", fontsize="small", frameon=False)
    return figure


def _frame(paths: Sequence[Trajectory]) -> tuple[FloatArray, FloatArray]:
    """Log-spaced coordinates of the pixels: all of the paths, and some room around them."""
    w1 = np.concatenate([path["w1"][path["w1"] > 0] for path in paths])
    w_perp = np.concatenate([path["w_perp"] for path in paths])
    return (
        np.geomspace(w1.min() / 1.6, w1.max() * 2.5, PIXELS),
        np.geomspace(w_perp.min() / 2, w_perp.max() * 2, PIXELS),
    )


def _draw_loss(
    figure: Any, axes: Any, of: tuple[FloatArray, FloatArray], w1: FloatArray, w_perp: FloatArray
) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    # A light map, on which the lines of all batches can be seen.
    pale = LinearSegmentedColormap.from_list("pale", colormaps["GnBu"](np.linspace(0.2, 0.7, 64)))
    loss = np.maximum(training_loss(*of, w1, w_perp), LOWEST)
    look: Any = {"cmap": pale, "norm": LogNorm(LOWEST, loss.max()), "shading": "gouraud"}
    mesh = axes.pcolormesh(w1, w_perp, loss, rasterized=True, **look)
    edge = zero_loss(*of, w_perp)
    axes.fill_betweenx(w_perp, edge, max(w1[-1], edge.max()), color="w", linewidth=0)
    axes.plot(edge, w_perp, color="0.6", linewidth=0.8)
    axes.text(0.97, 0.34, r"$L_{\rm train}=0$", ha="right", transform=axes.transAxes)
    figure.colorbar(mesh, ax=axes, label=r"$L_{\rm train}(w_1, w_\perp)$", extend="min")


# Up to B*/8 the first step leaves a factor of 8 in w1 to meet the online solution before the
# crossover, where that solution ends. From 4 B* on the first step is 4 times w1 there. The same
# with momentum: B* compares w1 after the first steps, proportional to eta / (1 - m), with that at
# the crossover, proportional to T / (1 - m).
# With momentum, the velocity of the first step has spent 96 % of itself after this many steps.
FIRST_STEPS = 30
SMALL_BATCHES, LARGE_BATCHES = below_critical("batch", 8), above_critical("batch", 4)
FLUCTUATES = "a training of d = 128 fluctuates by d^(-1/2) = 0.09 about "


def _over_online(run: Run) -> float:
    """`|w_perp|` over that of the online solution at the same `w1`, before the crossover."""
    training = run.training
    expected, last = _online(training.train_size, training.teacher.dim), scales(training).w1
    w1, w_perp = run.outcome.trajectory["w1"], run.outcome.trajectory["w_perp"]
    inside = (w1 >= last / 2) & (w1 <= last)
    if not inside.any():  # a first step beyond the crossover
        return float("nan")
    there = np.interp(np.log(w1[inside]), np.log(expected.w1), np.log(expected.w_perp))
    return float(np.exp(np.mean(np.log(w_perp[inside]) - there)))


def _first_unfitted(run: Run) -> float:
    return float(run.outcome.trajectory["unfitted"][0])


def _lands(runs: Runs) -> Estimate:
    """The share of seeds whose first step leaves no training point unfitted."""
    unfitted = runs.at(batch=-1).curve("batch", _first_unfitted)[1]
    return share(int((unfitted == 0).sum()), int(np.isfinite(unfitted).sum()))


def _early(run: Run) -> float:
    """`w1` after the first steps over its final value."""
    time, w1 = run.outcome.trajectory["time"], run.outcome.trajectory["w1"]
    return float(np.interp(FIRST_STEPS, time / time[0], w1) / w1[-1])


WITH, WITHOUT, FULL = {"momentum": -1}, {"momentum": 0}, {"batch": -1}
FIGURES = (
    Figure(
        "fig2",
        "trajectories in the (w1, |w_perp|) plane at fixed T, one per B, over the training loss",
        plan=_grid(0.0),
        draw=draw,
        claims=[
            Constant("1a", "B <= B*/8: |w_perp| is that of the online solution at the same w1, "
                     "from half its w1 at the crossover to it",
                     Mean(_over_online, "batch", where=SMALL_BATCHES), equals=1,
                     within=Tolerance(0.1, f"{FLUCTUATES}it")),
            Exponent("1b", "B <= B*/8: |w_perp| at the same w1 does not depend on B", _over_online,
                     of="batch", where=SMALL_BATCHES, equals=0,
                     within=Tolerance(0.05, "first steps have |w_perp| ~ B^(1/2); a tenth of that "
                                      "is left at most")),
            Exponent("2a", "the final |w| grows with B above B*: as eta = T B, from 4 B* on",
                     "norm", of="batch", where=LARGE_BATCHES, equals=1),
            Below("3a", "the full batch fits nearly all data after one step: unfitted fraction",
                  Mean(_first_unfitted, "batch", at=FULL, how=mean), 0.01,
                  "nearly all: 99 of 100 points"),
            Below("3b", "the full batch fits all data within a few steps: steps to zero loss",
                  Mean("steps", "batch", at=FULL), 10, "few: at most 10"),
            Above("3c", "the full batch can land directly in the white area: share of seeds "
                  "with zero training loss after one step", _lands, 0.1,
                  "the paper draws one training, and it does; at the level of 90 % that excludes "
                  "a share below a tenth"),
        ],
        trajectories=("time", "w1", "w_perp", "unfitted"),
        remark="The bound of 3b was set when the number of steps of one seed was known. After one "
        "step the theory expects 20 unfitted points at full batch (3c), whether the weights across "
        "the teacher are those of the step or a random direction, as in the white area.",
    ),
    Figure(
        "figS1a",
        "trajectories as fig2 with momentum 0.9",
        plan=_grid(0.0, MOMENTUM),
        draw=partial(draw, momentum=MOMENTUM),
        claims=[
            Constant("1", "B <= B*/8: the final |w_perp| is 1/(1-m) = 10 times that without "
                     "momentum", Mean("w_perp", "batch", SMALL_BATCHES, at=WITH, to=WITHOUT),
                     equals=SLOWER, within=Tolerance(1, f"{FLUCTUATES}its mean")),
            Above("2a", "B >= 4 B*: first steps dominate; w1 after 30 steps over its final value",
                  Mean(_early, "batch", LARGE_BATCHES, at=WITH), 0.8,
                  "all but a crossover's worth of it"),
            Exponent("2b", "B >= 4 B*: the final w1 is proportional to eta", "w1", of="batch",
                     where=LARGE_BATCHES, at=WITH, equals=1),
            Constant("2c", "B >= 4 B*: the final w1 is 1/(1-m) = 10 times that without momentum",
                     Mean("w1", "batch", LARGE_BATCHES, at=WITH, to=WITHOUT), equals=SLOWER,
                     within=Tolerance(2.5, "a training may end before the velocity of its first "
                                      "step is spent")),
        ],
        trajectories=("time", "w1", "w_perp", "unfitted"),
    ),
)  # fmt: skip
