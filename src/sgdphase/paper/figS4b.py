"""Fig. S4B: the test error of a network against its amplification, on the perceptron's task.

The paper says that the error falls as `log Lambda`. With `u = log Lambda`, a parabola through
`error(u)` is off its own chord by at most `c L^2/4`, where `c` is its quadratic coefficient and `L`
the length of the range; over the fall of the chord this is the *bend*. It is 0 for a straight line,
and for a power law `error ~ Lambda^-p` that falls by a factor of 3 it is 0.13.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import LogNorm

from sgdphase._typing import FloatArray
from sgdphase.diagram._style import GREY, new_figure
from sgdphase.paper._along import mean
from sgdphase.paper._teacher_network import ADAPTED, TITLE, by_temperature, plan
from sgdphase.paper.captions import write_left_out
from sgdphase.paper.claim import Claim, below, equal
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs

# A parabola has three coefficients.
FEWEST = 4


def draw(runs: Runs, scale: Scale) -> Any:
    figure, axes = new_figure(size=(5.4, 4.2))
    temperature, factor = by_temperature(runs, "amplification")
    _, error = by_temperature(runs, "test_error")
    colors = np.broadcast_to(temperature[:, None], factor.shape)
    dots = axes.scatter(factor, error, c=colors, cmap="viridis", norm=LogNorm(), s=22, zorder=3)
    figure.colorbar(dots, ax=axes, label=r"$T=\eta/B$", pad=0.02)
    axes.axvline(ADAPTED, color=GREY, linestyle=":", linewidth=1, zorder=0)
    axes.set_xscale("log", base=2)
    axes.set(xlabel=r"amplification $\Lambda$", ylabel="test error")
    _draw_line(axes, factor, error)
    axes.set_title(TITLE, fontsize="medium")
    write_left_out(figure, plan(scale), plan("paper"))
    return figure


def _draw_line(axes: Any, factor: FloatArray, error: FloatArray) -> None:
    there = factor > ADAPTED
    if there.sum() < FEWEST:
        return
    line = np.polynomial.Polynomial.fit(np.log(factor[there]), error[there], 1)
    ends = np.array([ADAPTED, factor[there].max()])
    label = rf"line in $\log\Lambda$ above {ADAPTED:g}"
    axes.plot(ends, line(np.log(ends)), "k--", linewidth=1, label=label)
    axes.legend(loc="upper right")


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    _, factor = by_temperature(runs, "amplification")
    _, error = by_temperature(runs, "test_error")
    fits = np.array([slope_and_bend(*own) for own in zip(factor.T, error.T, strict=True)])
    where = f"over the T at which Lambda > {ADAPTED:g}"
    return [
        below("figS4b.3a", f"the error falls with log Lambda: its slope, {where}", mean(fits[:, 0]),
              0, "a fall is a slope below 0"),
        equal("figS4b.3b", f"linearly: the bend of a parabola in log Lambda, {where}",
              mean(fits[:, 1]), 0, 0.1,
              "a power law that falls by a factor of 3 has 0.13, a straight line 0"),
    ]  # fmt: skip


def slope_and_bend(factor: FloatArray, error: FloatArray) -> tuple[float, float]:
    """Of one seed's error in `log Lambda`, where it is adapted; NaN with too few points."""
    there = factor > ADAPTED
    if there.sum() < FEWEST:
        return float("nan"), float("nan")
    u, y = np.log(factor[there]), error[there]
    slope = np.polynomial.Polynomial.fit(u, y, 1).convert().coef[1]
    parabola = np.polynomial.Polynomial.fit(u, y, 2)
    first, last = parabola(u.min()), parabola(u.max())
    middle = parabola((u.min() + u.max()) / 2)
    return float(slope), float(((first + last) / 2 - middle) / (first - last))


FIGURE = Figure(
    "figS4b",
    "test error of a fully connected net on the perceptron's task against the amplification of "
    "the informative direction",
    plan,
    draw,
    claims,
)
