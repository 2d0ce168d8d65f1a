"""What the figures about the crossover of SI 5 share: tolerances, curves over seeds, colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from numpy.typing import ArrayLike

from sgdphase._sweep import Run
from sgdphase._typing import FloatArray
from sgdphase.paper.runs import Runs
from sgdphase.stats import (
    LEVEL,
    REPLICATES,
    Estimate,
    PowerLaw,
    interval,
    seed_means,
    seed_replicates,
)
from sgdphase.theory import averages

CHI = 1.0
QUICK_TEST = 4096  # points of the test set at quick scale
TEMPERATURE = 0.125
MARGIN = 2.0**-7

# The paper gives the exponents of its networks to a tenth, and b = 2 +- 0.1 tells chi = 1 from 0.8
# and from 1.2.
TOLERANCE = 0.1
REASON = "a tenth is the precision to which the paper gives exponents"

TIME = r"$t$"
UNFITTED = r"$n(\mathbf{w}^t)$"
LAMBDA = r"\lambda^{\chi+1}"

Trajectory = Mapping[str, FloatArray]


def powers(first: int, last: int, step: int = 1) -> list[int]:
    """Powers of two with these exponents."""
    return [2**k for k in range(first, last + 1, step)]


def exponent(law: PowerLaw) -> Estimate:
    """The exponent of a fit with its interval."""
    return law.exponent


def typical(values: ArrayLike) -> Estimate:
    """Geometric mean of positive numbers `[cells, seeds]`, with its interval over seeds."""
    given = np.asarray(values, dtype=np.float64)
    logs = np.full(given.shape, np.nan)
    np.log(given, out=logs, where=given > 0)
    by_seed = seed_means(logs.T)[None]
    copies = seed_replicates(by_seed, np.random.default_rng(0), REPLICATES)[:, 0]
    found = interval(float(seed_means(by_seed)[0]), copies, LEVEL)
    return Estimate(*(float(np.exp(x)) for x in (found.value, found.low, found.high)))


def by_seed(runs: Runs, **fixed: Any) -> list[Run]:
    """The runs with these parameters, in order of seeds."""
    return sorted(runs.where(**fixed).runs, key=lambda run: run.training.seed)


def expected(along: Trajectory, chi: float = CHI) -> FloatArray:
    """Unfitted fraction of the data distribution: what a test set without end would show."""
    return averages(along["lambda"], along["r"], chi).unfitted


def error_of(lam: ArrayLike, chi: float = CHI) -> FloatArray:
    """Test error of a student at this angle: the points with `y f <= 0`."""
    angle = np.asarray(lam, dtype=np.float64)
    return averages(angle, np.zeros_like(angle), chi).unfitted


def at(time: ArrayLike, along: Trajectory, values: FloatArray) -> FloatArray:
    """Values of a trajectory at other times; before its start and after its end they stand."""
    log_t = np.log(np.asarray(time, dtype=np.float64))
    return np.asarray(np.interp(log_t, np.log(along["time"]), values))


def at_crossover(run: Run) -> float:
    """Unfitted fraction of the data distribution at `t_hat`."""
    along, t_hat = run.outcome.trajectory, run.outcome.crossover_time
    return float(at(t_hat, along, expected(along))) if np.isfinite(t_hat) else float("nan")


def times_of(runs: Sequence[Run], per_octave: int = 4) -> FloatArray:
    """A grid of times from the first step to the last of any of the runs."""
    first = min(float(run.outcome.trajectory["time"][0]) for run in runs)
    last = max(run.outcome.time for run in runs)
    return np.geomspace(first, last, 2 + int(per_octave * np.log2(last / first)))


def mean_curve(time: FloatArray, runs: Sequence[Run], name: str) -> FloatArray:
    """Mean over seeds of a column of the trajectories; NaN where it is 0, for log axes."""
    curves = [at(time, along, along[name]) for along in (run.outcome.trajectory for run in runs)]
    mean = np.mean(curves, axis=0)
    return np.where(mean > 0, mean, np.nan)


def shades(count: int) -> list[Any]:
    """Colours in order, dark to light, that print and colour-blind readers tell apart."""
    return [colormaps["viridis"](x) for x in np.linspace(0.0, 0.88, count)]


def power_label(symbol: str, value: float) -> str:
    """`$P = 2^{10}$` for powers of two."""
    return rf"${symbol}=2^{{{round(np.log2(value))}}}$"


def inset(axes: Any, bounds: tuple[float, float, float, float], **labels: Any) -> Any:
    """Small log-log axes inside a panel."""
    small = axes.inset_axes(bounds)
    small.tick_params(labelsize=7, pad=1.5)
    small.set(xscale="log", yscale="log")
    small.set_xlabel(labels.get("xlabel", ""), fontsize=8, labelpad=1)
    small.set_ylabel(labels.get("ylabel", ""), fontsize=8, labelpad=1)
    return small


def legend(axes: Any, loc: str) -> None:
    """A small legend in two columns."""
    style: Any = {"fontsize": 8, "columnspacing": 1, "handlelength": 1.6, "frameon": False}
    axes.legend(loc=loc, ncols=2, **style)
