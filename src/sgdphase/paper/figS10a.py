"""Fig. S10a: the unfitted fraction in time for several training set sizes, rescaled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase._sweep import Run, grid
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
    UNFITTED,
    at,
    at_crossover,
    by_seed,
    expected,
    exponent,
    inset,
    legend,
    power_label,
    powers,
    shades,
    times_of,
)
from sgdphase.paper.claim import Claim, equal
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs
from sgdphase.stats import Collapse, Curve, Estimate, collapse, power_law
from sgdphase.theory import asymptotic, constants


def plan(scale: Scale) -> Sequence[Training]:
    if scale == "quick":
        own: dict[str, Any] = {"train_size": powers(8, 12, 2), "dim": 16, "seeds": 3}
        own["test_size"] = QUICK_TEST
    else:
        own = {"train_size": powers(10, 16, 2), "dim": 128, "seeds": 5}
    return grid(chi=CHI, margin=MARGIN, temperature=TEMPERATURE, batch=1, **own)


def draw(runs: Runs, scale: Scale) -> Any:
    """`n(t)` of training set (full) and data distribution (dotted), rescaled by `P`, `P^-b`."""
    figure, axes = new_figure(size=(5.4, 4.3))
    small = inset(axes, (0.12, 0.12, 0.35, 0.38), xlabel=TIME, ylabel=UNFITTED)
    b, dim = constants(CHI).b, runs.values("dim")[0]
    sizes = runs.values("train_size")
    for size, colour in zip(sizes, shades(len(sizes)), strict=True):
        mine = by_seed(runs, train_size=size)
        time = times_of(mine)
        train = np.mean([_train(time, run) for run in mine], axis=0)
        test = np.mean([_test(time, run) for run in mine], axis=0)
        # The mean of a few seeds of which most have ended says little.
        train = np.where(train * size > 0.5, train, np.nan)
        label = power_label("P", size)
        axes.plot(time / size**b, train * size, color=colour, label=label)
        axes.plot(time / size**b, test * size, color=colour, ls=":", lw=1.8)
        small.plot(time, train, color=colour, lw=1)
        small.plot(time, test, color=colour, ls=":", lw=1.2)
    t = np.geomspace(dim * TEMPERATURE, 10 * max(run.outcome.time for run in runs.runs), 50)
    n = asymptotic(t, chi=CHI, dim=dim, temperature=TEMPERATURE).unfitted
    axes.plot(t / sizes[-1] ** b, n * sizes[-1], "k--", lw=1.1, label=r"theory $\sim t^{-1/b}$")
    small.plot(t, n, "k--", lw=0.8)
    axes.plot([], [], color="0.4", label="train")
    axes.plot([], [], color="0.4", ls=":", lw=1.8, label="test")
    axes.set(xscale="log", yscale="log", xlabel=r"$t\,P^{-b}$", ylabel=r"$n(\mathbf{w}^t)\,P$")
    axes.set(ylim=(0.4, 2.5 * sizes[-1]))
    legend(axes, "upper right")
    title = rf"$\chi={CHI:g}$, $d={dim}$, $T={TEMPERATURE:g}$"
    axes.set_title(title, fontsize="medium")
    return figure


def _train(time: FloatArray, run: Run) -> FloatArray:
    along = run.outcome.trajectory
    return at(time, along, along["unfitted"])


def _test(time: FloatArray, run: Run) -> FloatArray:
    along = run.outcome.trajectory
    return at(time, along, expected(along))


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    b = constants(CHI).b
    train, test = (_collapse(runs, kind) for kind in ("train", "test"))
    sizes = runs.values("train_size")
    at_hat = [[at_crossover(run) for run in by_seed(runs, train_size=size)] for size in sizes]
    law = exponent(power_law(sizes, at_hat))
    claim = "curves n P collapse over t P^-b: b of the best collapse (effective)"
    return [
        equal("figS10a.1a", f"training {claim}", _estimate(train), b, TOLERANCE, REASON),
        equal("figS10a.1b", f"test {claim}", _estimate(test), b, TOLERANCE, REASON),
        equal("figS10a.1c", "n(t_hat) ~ 1/P (effective exponent)", law, -1, TOLERANCE, REASON),
    ]


def _collapse(runs: Runs, kind: str) -> Collapse:
    """The best `b` at `n ~ 1/P`, over times from `T d` on, where the asymptotic solution begins.

    Training curves end with the first of their seeds; test curves stand after the end, and are
    followed for two octaves of time.
    """
    curves = []
    for size in runs.values("train_size"):
        mine = by_seed(runs, train_size=size)
        task = mine[0].training.teacher
        first, ends = TEMPERATURE * task.dim, [run.outcome.time for run in mine]
        last = 0.9 * min(ends) if kind == "train" else 4 * max(ends)
        time = np.geomspace(first, last, 2 + int(2 * np.log2(last / first)))
        value = _train if kind == "train" else _test
        curves.append(Curve(size, time, np.array([value(time, run) for run in mine]).T))
    return collapse(curves, y_exponent=-1.0, between=(0.5, 3.5))


def _estimate(found: Collapse) -> Estimate:
    return found.exponent


FIGURE = Figure(
    "figS10a",
    "unfitted fraction n(t) on training and test set for several P, rescaled by P and P^-b",
    plan,
    draw,
    claims,
    trajectories=True,
)
