"""Figs. S1b and S2b: weights in time with weight decay (SI 2.B), at a small and at a large batch.

S1b, dashed: the online solution. S2b, dashed: a small batch at the same decay. Where the first
steps of a large batch have left no unfitted point, both weights shrink without noise, beyond their
stationary values, until points fall below the margin again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from sgdphase import theory
from sgdphase._sweep import Run
from sgdphase._typing import FloatArray
from sgdphase.diagram._style import GREEN, new_figure
from sgdphase.paper.claim import Claim, Scale, below, equal
from sgdphase.paper.draw import colored, legend_outside
from sgdphase.paper.figure import Figure, Grid
from sgdphase.paper.measure import exponent, furthest, geometric_mean, scales
from sgdphase.paper.runs import Runs, Trajectory
from sgdphase.stats import power_of_two_tex, powers

CHI, MARGIN, TEMPERATURE, SMALL = 1.0, 2.0**-7, 2.0, 8
WEIGHTS = {"w1": r"$w_1$", "w_perp": r"$\|w_\perp\|$"}
# Deviations of w1 decay as exp(-4 Lambda t), those of a large first step as exp(-Lambda t): what
# is left after 4 / Lambda is 2 % of the step.
SETTLED = 4.0
FLUCTUATES = "a training of d = 128 fluctuates by d^(-1/2) = 0.09 about its mean"


def _grid(quick: dict[str, Any], paper: dict[str, Any]) -> Grid:
    """Trainings run to 16 times the longest `1 / Lambda`."""
    return Grid(
        chi=CHI,
        margin=MARGIN,
        temperature=TEMPERATURE,
        quick=dict(train_size=4096, dim=32, seeds=3, max_time=2.0**22, **quick),
        paper=dict(train_size=16384, dim=128, seeds=5, max_time=2.0**26, **paper),
    )


def with_decay(runs: Runs) -> Runs:
    return Runs(tuple(run for run in runs.runs if run.training.weight_decay > 0))


def settled(run: Run, name: str = "w1") -> float:
    """The geometric mean of a weight from `4 / Lambda` on."""
    path = run.outcome.trajectory
    return _mean(path, name, path["time"] >= SETTLED / run.training.weight_decay)


def _mean(path: Trajectory, name: str, inside: Any) -> float:
    return float(np.exp(np.mean(np.log(path[name][inside]))))


def first_time(path: Trajectory, reached: Any) -> float:
    """The first time at which a condition holds, NaN if there is none."""
    where = np.flatnonzero(reached)
    return float(path["time"][where[0]]) if where.size else float("nan")


def draw_small(runs: Runs, scale: Scale) -> Any:
    figure, axes = new_figure(2, size=(4.2, 3.6))
    for decay, path, color in _paths(runs):
        _plot(axes, path["time"], path, color=color, label=_label(decay))
        end = path["time"][-1] if decay == 0 else runs.only("max_time")
        times = np.geomspace(path["time"][0], end, 300)
        expected = theory.online(
            times, chi=CHI, dim=runs.only("dim"), margin=MARGIN, temperature=TEMPERATURE,
            weight_decay=decay,
        )  # fmt: skip
        label = "online SDE" if decay == runs.values("weight_decay")[-1] else None
        _plot(axes, times, vars(expected), color="k", ls="--", lw=0.8, zorder=3, label=label)
    return _finished(figure, axes, rf"$B={SMALL}$, $\eta={SMALL * TEMPERATURE:g}$")


def draw_large(runs: Runs, scale: Scale) -> Any:
    figure, axes = new_figure(2, size=(4.2, 3.6))
    large = runs.values("batch")[-1]
    for decay, path, color in _paths(runs.where(batch=large)):
        _plot(axes, path["time"], path, color=color, label=f"{_label(decay)}, $B={large}$")
    label: str | None = rf"$B={SMALL}$, each $\Lambda$"
    for _, path, _ in _paths(with_decay(runs).where(batch=SMALL)):
        _plot(axes, path["time"], path, color=GREEN, ls="--", lw=1.0, label=label)
        label = None  # one entry for all
    return _finished(figure, axes, rf"$\eta/B={TEMPERATURE:g}$")


def _paths(runs: Runs) -> list[tuple[float, Trajectory, Any]]:
    """A training for each decay, and its colour: black without, then from dark to bright."""
    return [
        (decay, runs.trajectories(weight_decay=decay, seed=0)[0], color if decay else "k")
        for decay, color in colored(runs.values("weight_decay"), "plasma")
    ]


def _label(decay: float) -> str:
    return rf"$\Lambda={power_of_two_tex(decay) if decay else 0}$"


def _plot(axes: Sequence[Any], time: FloatArray, along: Any, **look: Any) -> None:
    """`w1` in the first panel, `|w_perp|` in the second."""
    for panel, name in zip(axes, WEIGHTS, strict=True):
        panel.plot(time, along[name], **look)


def _finished(figure: Any, axes: Sequence[Any], title: str) -> Any:
    """The same axes in both panels, and one legend on the right."""
    lines = np.concatenate([line.get_ydata() for panel in axes for line in panel.lines])
    for panel, label in zip(axes, WEIGHTS.values(), strict=True):
        panel.set_title(title, fontsize="medium")
        panel.set(xscale="log", yscale="log", xlabel="$t$", ylabel=label)
        panel.set_ylim(lines.min() / 1.5, lines.max() * 1.5)
    legend_outside(figure, axes[0])
    return figure


def small_claims(runs: Runs, scale: Scale) -> list[Claim]:
    decays, stops = with_decay(runs).curve("weight_decay", _stop)
    _, w_perp = with_decay(runs).curve("weight_decay", partial(settled, name="w_perp"))
    plain = np.array([path["w_perp"][-1] for path in runs.trajectories(weight_decay=0.0)])
    strong = decays >= scales(runs, TEMPERATURE).critical_decay
    return [
        equal("1a", "the stationary |w_perp| does not depend on Lambda",
              exponent(decays, w_perp), 0, 0.05,
              "w1 goes as Lambda^(-1/4); a fifth of that is told apart from it"),
        equal("1b", "the stationary |w_perp| is the final one without decay",
              geometric_mean(w_perp / plain), 1, 0.1, FLUCTUATES),
        below("2a", "w1 stops growing at a time that rises as Lambda falls: its exponent",
              exponent(decays, stops), 0, "any rise"),
        equal("2b", "that time is proportional to 1 / Lambda above Lambda*",
              exponent(decays[strong], stops[strong]), -1, 0.15,
              "times are read off 4 times an octave, over several octaves of Lambda"),
    ]  # fmt: skip


def _stop(run: Run) -> float:
    """When `w1` first reaches 9/10 of its stationary value."""
    path = run.outcome.trajectory
    return first_time(path, path["w1"] >= 0.9 * settled(run))


# The first steps are those of the trajectory that are stored one by one.
FIRST_STEPS = 8


def large_claims(runs: Runs, scale: Scale) -> list[Claim]:
    few, many = with_decay(runs).split("batch")

    def ratio(name: str) -> FloatArray:
        of = partial(settled, name=name)
        return many.curve("weight_decay", of)[1] / few.curve("weight_decay", of)[1]

    return [
        *(equal(f"1{letter}", f"large batch, smallest Lambda: {name} over the first {FIRST_STEPS} "
                "steps is that without decay", geometric_mean(_first_steps(runs, name)), 1, 0.1,
                "the steps draw different batches")
          for letter, name in zip("ab", WEIGHTS, strict=True)),
        *(equal(f"2{letter}", f"the stationary {name} is that of the small batch, at the "
                "Lambda where they differ most", furthest(ratio(name)), 1, 0.1, FLUCTUATES)
          for letter, name in zip("ab", WEIGHTS, strict=True)),
        equal("2c", "w1 first comes down to 1.1 times that at a time proportional to 1 / Lambda",
              exponent(*many.curve("weight_decay", _arrival)), -1, 0.25,
              "the way down is w1 ~ Lambda^(-1/4) longer, whose logarithm enters the time"),
    ]  # fmt: skip


def _first_steps(runs: Runs, name: str) -> FloatArray:
    """A weight over the first steps with the least decay, over that without, for each seed."""

    def early(run: Run) -> float:
        path = run.outcome.trajectory
        return _mean(path, name, path["time"] <= FIRST_STEPS * path["time"][0])

    _, means = runs.split("batch")[-1].curve("weight_decay", early)
    return np.asarray(means[1] / means[0])


def _arrival(run: Run) -> float:
    """When `w1` first comes down to 1.1 times its stationary value."""
    path = run.outcome.trajectory
    return first_time(path, (path["w1"] <= 1.1 * settled(run)) & (path["w1"] > 0))


# S1b: decays around Lambda* and above it. S2b: within a factor of 16 of the inverse training time
# without decay, as in the paper; at stronger decay a batch of 1024 holds more than a few unfitted
# points at the stationary state, and its step is no longer small against |w_perp|.
FIGURES = (
    Figure(
        "figS1b",
        "w1 and |w_perp| in time with weight decay, several Lambda, B = 8",
        plan=_grid(
            quick=dict(batch=SMALL, weight_decay=[0.0, *powers(-18, -12, 2)]),
            paper=dict(batch=SMALL, weight_decay=[0.0, *powers(-22, -14, 2)]),
        ),
        draw=draw_small,
        claims=small_claims,
        trajectories=True,
    ),
    Figure(
        "figS2b",
        "w1 and |w_perp| in time with weight decay at a large batch, small batch for reference",
        plan=_grid(
            quick=dict(batch=[SMALL, 256], weight_decay=[0.0, *powers(-18, -16, 2)]),
            paper=dict(batch=[SMALL, 1024], weight_decay=[0.0, *powers(-22, -18, 2)]),
        ),
        draw=draw_large,
        claims=large_claims,
        trajectories=True,
    ),
)
