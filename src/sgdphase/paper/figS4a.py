"""Fig. S4A: test error and amplification of a network against `T`, on the perceptron's task."""

from __future__ import annotations

from typing import Any

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.diagram._style import BLUE, GREY, ORANGE, new_figure
from sgdphase.paper._along import mean
from sgdphase.paper._scaling import inset, spread
from sgdphase.paper._teacher_network import (
    ADAPTED,
    TITLE,
    by_temperature,
    first_crossing,
    plan,
)
from sgdphase.paper.captions import write_left_out
from sgdphase.paper.claim import Claim, above, below, equal
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs

# The error has fallen when it is below its value at the lowest T by the factor that makes a net
# adapted.
FALLEN = 1 / ADAPTED


def draw(runs: Runs, scale: Scale) -> Any:
    figure, axes = new_figure(size=(5.4, 4.2))
    small = inset(axes, (0.13, 0.13, 0.42, 0.42), xlabel="$T$", ylabel=r"$\Lambda$")
    for panel, name, color in ((axes, "test_error", BLUE), (small, "amplification", ORANGE)):
        temperature, y = by_temperature(runs, name)
        there = (y > 0).any(axis=1)
        centre, error = spread(y[there])
        panel.errorbar(temperature[there], centre, error, color=color, marker="o", markersize=4)
        lost = temperature[np.isnan(y).any(axis=1)]
        panel.plot(lost, np.full(lost.size, 0.02), "k.", transform=panel.get_xaxis_transform())
    small.axhline(ADAPTED, color=GREY, linestyle=":", linewidth=1)
    start = float(np.mean(_crossings(runs)[0]))
    for panel in (axes, small):
        panel.axvline(start, color=GREY, linestyle=":", linewidth=1, zorder=0)
    small.set_yscale("log", base=2)
    axes.set(xscale="log", yscale="log", xlabel=r"$T=\eta/B$", ylabel="test error")
    axes.set_title(TITLE, fontsize="medium")
    write_left_out(figure, plan(scale), plan("paper"))
    return figure


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    temperature, factor = by_temperature(runs, "amplification")
    _, error = by_temperature(runs, "test_error")
    hottest = int(np.flatnonzero(np.isfinite(factor).all(axis=1))[-1])
    adapts, falls = _crossings(runs)
    at = f"at the largest T that fits ({temperature[hottest]:g})"
    return [
        above("figS4a.1a", f"Lambda > 1 above a threshold T: Lambda {at}", mean(factor[hottest]),
              ADAPTED, "four deviations of the Lambda of a random net of width 128 from 1"),
        equal("figS4a.1b", f"and not below it: Lambda at the lowest T ({temperature[0]:g})",
              mean(factor[0]), 1, ADAPTED - 1, "the same deviations"),
        below("figS4a.2a", f"the error falls above a threshold T: error {at} over that at the "
              "lowest", mean(error[hottest] / error[0]), FALLEN,
              "by the factor that Lambda has at its threshold"),
        equal("figS4a.2b", "it starts falling where Lambda starts growing: log2 of the T where "
              "the error has made a quarter of its whole fall, over the T where log Lambda has "
              "made a quarter of its whole growth", mean(np.log2(falls / adapts)), 0, 2,
              "within a factor of 4 in T, of the 2^12 that are scanned"),
    ]  # fmt: skip


def _crossings(runs: Runs) -> tuple[FloatArray, FloatArray]:
    """The temperatures at which each net adapts, and at which its error falls.

    Each seed is compared with itself at the lowest temperature, where its weights are nearly those
    it started from. A fixed factor of both would not do: it is reached at different temperatures
    if the error falls slowly with `log Lambda`.
    """
    temperature, factor = by_temperature(runs, "amplification")
    _, error = by_temperature(runs, "test_error")
    adapts = [_quarter(temperature, np.log(y / y[0])) for y in factor.T]
    falls = [_quarter(temperature, y[0] - y) for y in error.T]
    return np.array(adapts), np.array(falls)


def _quarter(temperature: FloatArray, rise: FloatArray) -> float:
    """Where a rise from 0 first is a quarter of its largest; NaN if there is none."""
    there = np.isfinite(rise)
    if not there.any():
        return float("nan")
    return first_crossing(temperature[there], rise[there], float(rise[there].max()) / 4)


FIGURE = Figure(
    "figS4a",
    "test error of a fully connected net on the perceptron's task against T; inset: amplification "
    "of the informative direction",
    plan,
    draw,
    claims,
    remark=(
        "The first rule of 2b (a fixed factor in both) depended on the slope of the error in log "
        "Lambda, as planted runs showed; it was changed when quick scale had been seen, and "
        "laptop not. At laptop scale the claim holds by either."
    ),
)
