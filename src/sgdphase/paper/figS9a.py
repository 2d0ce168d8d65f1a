"""Fig. S9a: training and test error part at a time that depends on the dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase._typing import FloatArray
from sgdphase.diagram._style import new_figure
from sgdphase.paper._crossover import (
    CHI,
    MARGIN,
    QUICK_TEST,
    REASON,
    TEMPERATURE,
    TIME,
    TOLERANCE,
    at,
    by_seed,
    error_of,
    exponent,
    inset,
    legend,
    mean_curve,
    powers,
    shades,
    times_of,
    typical,
)
from sgdphase.paper.claim import Claim, below, equal
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs
from sgdphase.stats import power_law
from sgdphase.theory import constants, online


def plan(scale: Scale) -> Sequence[Training]:
    if scale == "quick":
        own: dict[str, Any] = {"train_size": 2048, "dim": powers(3, 5), "seeds": 3}
        own["test_size"] = QUICK_TEST
    else:
        own = {"train_size": 8192, "dim": powers(5, 9), "seeds": 20}
    return grid(chi=CHI, margin=MARGIN, temperature=TEMPERATURE, batch=1, **own)


def draw(runs: Runs, scale: Scale) -> Any:
    """Errors in time (full: training, dotted: test); dashed the online theory; dots at t_hat."""
    figure, axes = new_figure(size=(5.4, 4.3))
    small = inset(axes, (0.13, 0.11, 0.37, 0.4), xlabel="test error", ylabel="train error")
    dims = runs.values("dim")
    for dim, colour in zip(dims, shades(len(dims)), strict=True):
        mine = by_seed(runs, dim=dim)
        time = times_of(mine)
        train, test = (mean_curve(time, mine, name) for name in ("train_error", "test_error"))
        axes.plot(time, train, color=colour, label=f"$d={dim}$")
        axes.plot(time, test, color=colour, ls=":", lw=1.8)
        t_hat = typical([[run.outcome.crossover_time for run in mine]]).value
        if np.isfinite(t_hat):
            axes.plot(t_hat, np.interp(np.log(t_hat), np.log(time), test), "o", color=colour, ms=5)
        axes.plot(time, online_error(time, dim), "k--", lw=0.8, zorder=1)
        small.plot(test, train, color=colour, lw=1)
    small.plot([1e-4, 0.5], [1e-4, 0.5], "k--", lw=0.8)
    small.set(xlim=(3e-4, 0.6), ylim=(3e-5, 0.6))
    axes.set(xscale="log", yscale="log", xlabel=TIME, ylabel="train and test error", ylim=(2e-5, 1))
    axes.plot([], [], color="0.4", label="train")
    axes.plot([], [], color="0.4", ls=":", lw=1.8, label="test")
    axes.plot([], [], "o", color="0.4", ms=5, label=r"$\hat t$")
    axes.plot([], [], "k--", lw=0.8, label="online theory")
    legend(axes, "upper right")
    size = runs.values("train_size")[0]
    axes.set_title(rf"$\chi={CHI:g}$, $P={size}$, $T={TEMPERATURE:g}$", fontsize="medium")
    return figure


def online_error(time: FloatArray, dim: int) -> FloatArray:
    """Test error of the online solution."""
    solution = online(time, chi=CHI, dim=dim, margin=MARGIN, temperature=TEMPERATURE)
    return error_of(solution.lam)


# Training set and distribution differ by one half at t_hat. By SI 5 the difference goes as d/(P n),
# that is as t^((chi+1)/(chi+3)): at t_hat / 64 it is 6 % for chi = 1.
EARLY = 64.0
EARLY_TOLERANCE = 0.1


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    dims, t_hat = runs.curve("dim", "crossover_time")
    law = exponent(power_law(dims, t_hat))
    slope = 1 - constants(CHI).b
    return [
        equal(
            "figS9a.1a",
            f"train and test error are equal before t_hat: their ratio at t_hat/{EARLY:g}",
            typical(_early_ratios(runs)),
            1.0,
            EARLY_TOLERANCE,
            "one half apart at t_hat and falling as t^(1/2) backwards is 6 %; the rest is counting",
        ),
        below(
            "figS9a.1b",
            "they part at a time t_hat that falls with d (exponent of t_hat in d)",
            law,
            0.0,
            "any dependence on d of this sign",
        ),
        equal(
            "figS9a.1c",
            "t_hat ~ d^(1-b) (effective exponent at this P)",
            law,
            slope,
            TOLERANCE,
            REASON,
        ),
    ]


def _early_ratios(runs: Runs) -> list[list[float]]:
    """Train over test error at an early part of t_hat, `[dim, seed]`."""
    ratios = []
    for dim in runs.values("dim"):
        row = []
        for run in by_seed(runs, dim=dim):
            along, early = run.outcome.trajectory, run.outcome.crossover_time / EARLY
            train, test = (at(early, along, along[name]) for name in ("train_error", "test_error"))
            row.append(float(train / test))
        ratios.append(row)
    return ratios


FIGURE = Figure(
    "figS9a",
    "train and test error in time for several d: they part at t_hat",
    plan,
    draw,
    claims,
    trajectories=True,
    remark=(
        "The number of seeds was raised from 5 to 20 after a first run, in which 1c was undecided."
    ),
)
