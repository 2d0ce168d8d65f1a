"""Fig. S4: a fully connected net on the perceptron's task, at one batch and many temperatures.

Its amplification `Lambda` is how much more its first layer sees of `x1`, which decides the label,
than of any other direction (SI 3.B). For random weights of `n` neurons it is 1, up to a deviation
of `1/sqrt(2 n)`: 0.06 at width 128. (A) test error and `Lambda` against `T`; (B) the error against
`Lambda`.

The paper says that the error falls as `log Lambda`. With `u = log Lambda`, a parabola through
`error(u)` is off its own chord by at most `c L^2/4`, where `c` is its quadratic coefficient and `L`
the length of the range; over the fall of the chord this is the *bend*. It is 0 for a straight line,
and for a power law `error ~ Lambda^-p` that falls by a factor of 3 it is 0.13.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.diagram._style import BLUE, new_figure
from sgdphase.paper._claim import Above, Below, Constant, Spec, Tolerance
from sgdphase.paper._draw import Curves
from sgdphase.paper._figure import Figure, Grid
from sgdphase.paper._measure import mean
from sgdphase.paper._runs import Runs
from sgdphase.paper._settings import SMALL_MARGIN
from sgdphase.problems import TeacherTask
from sgdphase.stats import powers

# Above it a net counts as adapted: four deviations of a random one. The error has fallen when it is
# below its value at the lowest T by the same factor.
ADAPTED = 1.25
FEWEST = 4  # points of a parabola, which has three coefficients


# The batch is named in the paper's file of the figure.
PLAN = Grid(
    model="fc", margin=SMALL_MARGIN, batch=1,
    quick=dict(problem=TeacherTask(16, 1.0), width=32, train_size=256, seeds=2, test_size=1024,
               temperature=powers(-7, 1, 2), max_samples=2**18),
    laptop=dict(problem=TeacherTask(128, 1.0), width=128, train_size=4096, seeds=3, test_size=8192,
                temperature=powers(-7, 5), max_samples=2**24),
    paper=dict(problem=TeacherTask(128, 1.0), width=128, train_size=8192, seeds=5,
               temperature=powers(-7, 5)),
)  # fmt: skip


def by_temperature(runs: Runs) -> tuple[FloatArray, FloatArray, FloatArray]:
    """`T [n]`, amplification and test error `[n, seeds]`, NaN where a training did not end."""
    temperature, factor = runs.fitted().curve("temperature", "amplification")
    return temperature, factor, runs.fitted().curve("temperature", "test_error")[1]


def title(runs: Runs) -> str:
    size, dim, width = (runs.only(name) for name in ("train_size", "dim", "width"))
    return (
        r"fully connected, teacher task, $\chi=1$, $\kappa=2^{-15}$, $B=1$"
        f"\n$P={size}$, $d={dim}$, width {width}, {len(runs.values('seed'))} seeds"
    )


def _marks(axes: Any, runs: Runs) -> None:
    """Where the nets adapt, and from which `Lambda` on they count as adapted."""
    start, (small,) = float(np.mean(crossings(runs)[0])), axes.child_axes
    label = r"a quarter of the growth of $\Lambda$"
    for panel in (axes, small):
        panel.axvline(start, color="0.6", linestyle=":", linewidth=1, zorder=0, label=label)
    small.axhline(ADAPTED, color="0.6", linestyle=":", linewidth=1)
    small.set_yscale("log", base=2)


def temperature_claims(runs: Runs) -> list[Spec]:
    temperature, factor, error = by_temperature(runs)
    hottest = int(np.flatnonzero(np.isfinite(factor).all(axis=1))[-1])
    adapts, falls = crossings(runs)
    at = f"at the largest T that fits ({temperature[hottest]:g})"
    return [
        Above("1a", f"Lambda > 1 above a threshold T: Lambda {at}", mean(factor[hottest]), ADAPTED,
              "four deviations of the Lambda of a random net of width 128 from 1"),
        Constant("1b", f"and not below it: Lambda at the lowest T ({temperature[0]:g})",
                 mean(factor[0]), equals=1, within=Tolerance(ADAPTED - 1, "the same deviations")),
        Below("2a", f"the error falls above a threshold T: error {at} over that at the lowest",
              mean(error[hottest] / error[0]), 1 / ADAPTED,
              "by the factor that Lambda has at its threshold"),
        Constant("2b", "it starts falling where Lambda starts growing: log2 of the T where the "
                 "error has made a quarter of its whole fall, over the T where log Lambda has made "
                 "a quarter of its whole growth", mean(np.log2(falls / adapts)), equals=0,
                 within=Tolerance(2, "within a factor of 4 in T, of the 2^12 that are scanned")),
    ]  # fmt: skip


def crossings(runs: Runs) -> tuple[FloatArray, FloatArray]:
    """The temperatures at which each net adapts, and at which its error falls.

    Each seed is compared with itself at the lowest temperature, where its weights are nearly those
    it started from. A fixed factor of both would not do: it is reached at different temperatures
    if the error falls slowly with `log Lambda`.
    """
    temperature, factor, error = by_temperature(runs)
    adapts = [_quarter(temperature, np.log(y / y[0])) for y in factor.T]
    falls = [_quarter(temperature, y[0] - y) for y in error.T]
    return np.array(adapts), np.array(falls)


def _quarter(temperature: FloatArray, rise: FloatArray) -> float:
    """Where a rise from 0 first is a quarter of its largest; NaN if there is none."""
    there = np.isfinite(rise)
    if not there.any():
        return float("nan")
    return first_crossing(temperature[there], rise[there], float(rise[there].max()) / 4)


def first_crossing(x: FloatArray, y: FloatArray, level: float) -> float:
    """Where `y` first rises above a level, between points by straight lines in `log x`.

    NaN where it does not, or starts above.

    >>> first_crossing(np.array([1.0, 4.0]), np.array([0.0, 2.0]), 1.0)
    2.0
    """
    after = int(np.argmax(y > level))
    if after == 0:
        return float("nan")
    before = after - 1
    share = (level - y[before]) / (y[after] - y[before])
    return float(x[before] * (x[after] / x[before]) ** share)


def draw_amplification(runs: Runs) -> Any:
    from matplotlib.colors import LogNorm

    figure, axes = new_figure(size=(5.4, 4.2))
    temperature, factor, error = by_temperature(runs)
    colors = np.broadcast_to(temperature[:, None], factor.shape)
    dots = axes.scatter(factor, error, c=colors, cmap="viridis", norm=LogNorm(), s=22, zorder=3)
    figure.colorbar(dots, ax=axes, label=r"$T=\eta/B$", pad=0.02)
    axes.axvline(ADAPTED, color="0.6", linestyle=":", linewidth=1, zorder=0)
    axes.set_xscale("log", base=2)
    axes.set(xlabel=r"amplification $\Lambda$", ylabel="test error")
    axes.set_title(title(runs), fontsize="medium")
    there = factor > ADAPTED
    if there.sum() >= FEWEST:
        line = np.polynomial.Polynomial.fit(np.log(factor[there]), error[there], 1)
        ends = np.array([ADAPTED, factor[there].max()])
        label = rf"line in $\log\Lambda$ above {ADAPTED:g}"
        axes.plot(ends, line(np.log(ends)), "k--", linewidth=1, label=label)
        axes.legend(loc="upper right")
    return figure


def amplification_claims(runs: Runs) -> list[Spec]:
    _, factor, error = by_temperature(runs)
    fits = np.array([slope_and_bend(*own) for own in zip(factor.T, error.T, strict=True)])
    where = f"over the T at which Lambda > {ADAPTED:g}"
    bend = "a power law that falls by a factor of 3 has 0.13, a straight line 0"
    return [
        Below("3a", f"the error falls with log Lambda: its slope, {where}", mean(fits[:, 0]), 0,
              "a fall is a slope below 0"),
        Constant("3b", f"linearly: the bend of a parabola in log Lambda, {where}",
                 mean(fits[:, 1]), equals=0, within=Tolerance(0.1, bend)),
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


NET = "test error of a fully connected net on the perceptron's task against"
FIGURES = (
    Figure(
        "figS4a",
        f"{NET} T; inset: amplification of the informative direction",
        plan=PLAN,
        draw=Curves(
            "temperature", "test_error", xlabel=r"$T=\eta/B$", ylabel="test error",
            title=title, inset=((0.13, 0.13, 0.42, 0.42), "$T$", r"$\Lambda$"),
            inset_y="amplification", extra=_marks, look={"color": BLUE}, size=(5.4, 4.2),
            room=(0.0, 0.15), legend={"loc": "upper right"},
        ),
        claims=[temperature_claims],
        remark="The first rule of 2b (a fixed factor in both) depended on the slope of the error "
        "in log Lambda, as planted runs showed; it was changed when quick scale had been seen, and "
        "laptop not. At laptop scale the claim holds by either.",
    ),
    Figure(
        "figS4b",
        f"{NET} the amplification of the informative direction",
        plan=PLAN,
        draw=draw_amplification,
        claims=[amplification_claims],
    ),
)  # fmt: skip
