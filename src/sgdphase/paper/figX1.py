"""Figure X1: how the exponents of `w1 ~ P^gamma` and `t ~ P^b` drift with `P`.

Not in the paper. Effective exponents over four consecutive sizes against the size in the middle,
at the end of training `t*` (filled) and at the crossover `t_hat` (open); dashed: the asymptotic
theory; dotted: the theory at finite `P`, from the online solution where `|g| = |xi|/sqrt(P)`.
Nothing is fitted.

The sizes go on to 2^18, where the paper has 2^15; at chi = 0 the time to fit grows as `P^3` and
they stop at 2^14. `T = 2`, and batches of 2 are far below `B*` throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sgdphase._records import Outcome, Training
from sgdphase._sweep import grid
from sgdphase._typing import FloatArray
from sgdphase.diagram._style import BLUE, GREEN, ORANGE, new_figure
from sgdphase.paper._scaling import (
    Crossovers,
    crossovers,
    drift,
    effective,
    number,
    size_claim,
    size_range,
    whole_powers,
)
from sgdphase.paper.claim import Claim, above
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs
from sgdphase.stats import (
    LEVEL,
    REPLICATES,
    Estimate,
    interval,
    linear_fit,
    power_law,
    seed_means,
    seed_replicates,
)
from sgdphase.theory import constants

MARGIN, TEMPERATURE, BATCH = 2.0**-7, 2.0, 2
COLORS = {0.0: BLUE, 1.0: ORANGE, 3.0: GREEN}
LAST = 4  # sizes that the claims about the largest ones use: a factor of 8 in P

# chi: exponents of two of the first size, of the last with ten seeds, and of the last with five.
PAPER = {0.0: (9, 13, 14), 1.0: (9, 15, 18), 3.0: (9, 16, 18)}
QUICK = {0.0: (7, 10, 10), 1.0: (8, 12, 12), 3.0: (8, 12, 12)}


def plan(scale: Scale) -> Sequence[Training]:
    quick = scale == "quick"
    trainings: list[Training] = []
    for chi, (first, many, last) in (QUICK if quick else PAPER).items():
        for size in whole_powers(first, last):
            trainings += grid(
                dim=32 if quick else 128,
                chi=chi,
                margin=MARGIN,
                train_size=size,
                batch=BATCH,
                temperature=TEMPERATURE,
                seeds=4 if quick else 10 if size <= 2**many else 5,
                test_size=1024 if quick else 32768,
            )
    return trainings


@dataclass(frozen=True)
class Growth:
    """`w1` and the time, `[size, seed]`, at one moment of the trainings."""

    sizes: FloatArray
    w1: FloatArray
    time: FloatArray


def at_end(runs: Runs) -> Growth:
    """At `t*`."""
    sizes, w1 = runs.curve("train_size", "w1")
    return Growth(sizes, w1, runs.curve("train_size", "time")[1])


def at_crossover(runs: Runs) -> Growth:
    """At `t_hat`, with `w1` between the two snapshots around it."""
    sizes, time = runs.curve("train_size", "crossover_time")
    w1 = np.full(time.shape, np.nan)
    seeds = runs.values("seed")
    for run in runs.runs:
        row = int(np.searchsorted(sizes, run.training.train_size))
        w1[row, seeds.index(run.training.seed)] = _w1_at_crossover(run.outcome)
    return Growth(sizes, w1, time)


def _w1_at_crossover(outcome: Outcome) -> float:
    along, moment = outcome.trajectory, outcome.crossover_time
    if not np.isfinite(moment):
        return float("nan")
    positive = along["w1"] > 0
    log_time, log_w1 = np.log(along["time"][positive]), np.log(along["w1"][positive])
    return float(np.exp(np.interp(np.log(moment), log_time, log_w1)))


def in_theory(chi: float, dim: int, sizes: Sequence[float] | FloatArray) -> Crossovers:
    """At the crossover of the theory at finite `P`."""
    return crossovers(sizes, chi=chi, dim=dim, margin=MARGIN, temperature=TEMPERATURE)


def draw(runs: Runs, scale: Scale) -> Any:
    figure, (left, right) = new_figure(columns=2, size=(4.9, 4.2))
    for chi, color in COLORS.items():
        own, c = runs.where(chi=chi), constants(chi)
        for panel, predicted in ((left, c.gamma), (right, c.b)):
            panel.axhline(predicted, color=color, linestyle="--", linewidth=1.1)
        _markers((left, right), at_end(own), color, {"markersize": 5.5})
        _markers((left, right), at_crossover(own), color,
                 {"markersize": 5.5, "markerfacecolor": "white"})  # fmt: skip
        _curve((left, right), in_theory(chi, own.values("dim")[0], _fine(own)), color)
        left.plot([], [], "o", color=color, label=rf"$\chi={chi:g}$")
    for axes, name in ((left, r"effective $\gamma$:  $w_1\sim P^{\gamma}$"),
                       (right, r"effective $b$:  $t\sim P^{b}$")):  # fmt: skip
        axes.set_xscale("log", base=2)
        axes.set(xlabel="$P$", ylabel=name)
    right.plot([], [], "o", color="0.4", label="end of training $t^*$")
    right.plot([], [], "o", color="0.4", markerfacecolor="white", label=r"crossover $\hat t$")
    right.plot([], [], "--", color="0.4", label=r"theory, $P\to\infty$")
    right.plot([], [], ":", color="0.4", label=r"theory at $\hat t$, finite $P$")
    left.legend(fontsize=9, loc="upper right", frameon=False, ncols=3)
    right.legend(fontsize=9, loc="upper right", frameon=False, ncols=2, columnspacing=0.8)
    left.set_ylim(0, 1.3)
    right.set_ylim(0.5, 4.0)
    return figure


def _markers(panels: tuple[Any, Any], growth: Growth, color: str, look: dict[str, Any]) -> None:
    nudge = 1.04 if "markerfacecolor" in look else 1 / 1.04  # so that bars do not hide each other
    for panel, y in zip(panels, (growth.w1, growth.time), strict=True):
        laws = effective(growth.sizes, y)
        middle = np.array([np.sqrt(law.first * law.last) for law in laws])
        fits = [law.exponent for law in laws]
        value = np.array([fit.value for fit in fits])
        bars = np.array([[fit.value - fit.low, fit.high - fit.value] for fit in fits]).T
        panel.errorbar(middle * nudge, value, bars, color=color, marker="o", linestyle="",
                       elinewidth=0.9, **look)  # fmt: skip


def _curve(panels: tuple[Any, Any], theory: Crossovers, color: str) -> None:
    log_size = np.log(theory.sizes)
    for panel, y in zip(panels, (theory.w1, theory.time), strict=True):
        panel.plot(theory.sizes, np.gradient(np.log(y), log_size), ":", color=color, linewidth=1.3)


def _fine(runs: Runs) -> FloatArray:
    sizes = runs.values("train_size")
    return np.geomspace(sizes[0], sizes[-1], 31)


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    return [claim for chi in COLORS for claim in _claims(runs.where(chi=chi), chi)]


def _claims(runs: Runs, chi: float) -> list[Claim]:
    id, c = f"figX1.chi{chi:g}", constants(chi)
    end, cross = at_end(runs), at_crossover(runs)
    sizes = runs.values("train_size")[-LAST:]
    finite = in_theory(chi, runs.values("dim")[0], sizes)
    gamma, b = (power_law(finite.sizes, y).exponent.value for y in (finite.w1, finite.time))
    where = f"effective exponent at {size_range(sizes)}"
    half, whole = c.gamma, 2 * c.gamma
    return [
        size_claim(f"{id}.1", f"at t*: w1 ~ P^gamma ({where}; {drift(end.sizes, end.w1)})",
                   _last(end.sizes, end.w1), c.gamma, half),
        size_claim(f"{id}.2", f"t* ~ P^b ({where}; {drift(end.sizes, end.time)})",
                   _last(end.sizes, end.time), c.b, whole),
        size_claim(f"{id}.3", f"at t_hat: w1 ~ P^gamma ({where}; {drift(cross.sizes, cross.w1)})",
                   _last(cross.sizes, cross.w1), c.gamma, half),
        size_claim(f"{id}.4", f"t_hat ~ P^b ({where}; {drift(cross.sizes, cross.time)})",
                   _last(cross.sizes, cross.time), c.b, whole),
        size_claim(f"{id}.5", f"at t_hat: w1 grows as in the theory at finite P ({where})",
                   _last(cross.sizes, cross.w1), gamma, half),
        size_claim(f"{id}.6", f"t_hat grows as in the theory at finite P ({where})",
                   _last(cross.sizes, cross.time), b, whole),
        _towards(f"{id}.7", "the effective gamma at t* moves towards the theory as P grows",
                 end.sizes, end.w1, c.gamma),
        _towards(f"{id}.8", "the effective b at t* moves towards the theory as P grows",
                 end.sizes, end.time, c.b),
    ]  # fmt: skip


def _last(sizes: FloatArray, y: FloatArray) -> Any:
    return number(power_law(sizes[-LAST:], y[-LAST:]))


def _towards(id: str, claim: str, sizes: FloatArray, y: FloatArray, predicted: float) -> Claim:
    """Whether the curvature of `log y` in `log P` brings the slope nearer to the prediction."""
    law = power_law(sizes, y)
    sign = 1.0 if law.exponent.value < predicted else -1.0
    rate = curvature(sizes, y)
    measured = Estimate(sign * rate.value, *sorted([sign * rate.low, sign * rate.high]))
    text = f"{claim}; measured: change of the exponent per factor 10 in P, towards the theory"
    return above(id, text, measured, 0.0, "an exponent that stands still is no sign of a limit")


def curvature(sizes: FloatArray, y: FloatArray) -> Estimate:
    """Change of the effective exponent per decade of `P`: a parabola through all sizes."""
    log_size = np.log(sizes) - np.log(sizes).mean()
    log_y = np.log(y)
    design = np.stack([np.ones_like(log_size), log_size, log_size**2], axis=1)
    rng = np.random.default_rng(0)
    fit, copies = linear_fit(
        design, seed_means(log_y), seed_replicates(log_y, rng, REPLICATES), rng
    )
    decade = 2 * np.log(10)
    return interval(float(decade * fit[2]), decade * copies[:, 2], LEVEL)


FIGURE = Figure(
    "figX1",
    "effective exponents of w1 and of the training time against P, chi = 0, 1, 3",
    plan,
    draw,
    claims,
    trajectories=True,
    remark=(
        "The windows of the drawn exponents were widened from 3 to 4 sizes after the run; the "
        "verdicts had 4 all along."
    ),
)
