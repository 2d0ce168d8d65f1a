"""The critical batch from the steps that a training takes to a target, in three definitions.

Below it steps fall as `1/batch`, above it they no longer fall. *Crossover*: where these two laws
meet, by a fit of the usual hyperbola `steps = least (1 + crossover/batch)`, in logarithms.
*Overhead*: where a training takes 20 % more samples than at the three smallest batches, between the
points. *Efficiency*: the same for twice as many, so that each sample is worth half. On an exact
hyperbola, with the smallest batches far below it, the last is the crossover, and the overhead a
fifth of it; if they are not, they have an overhead themselves, and the overhead is at a larger
batch. Real bends are sharper or softer, and not the same at all sizes, so that the three have
different exponents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sgdphase._display import Columns, Shown
from sgdphase._typing import FloatArray
from sgdphase.diagram._run_table import RunTable, named_values
from sgdphase.errors import InputError
from sgdphase.stats import LEVEL, REPLICATES, Estimate, Plain, interval, shown

# More samples than at small batches, as a factor.
OVERHEAD, HALF_EFFICIENCY = 1.2, 2.0
DEFINITIONS = {
    "crossover": "where steps ~ 1/batch and constant steps meet",
    "overhead": "where it takes 20 % more samples than at small batches",
    "efficiency": "where it takes twice as many samples as at small batches",
}
# The smallest batches, that define how many samples a training takes without overhead.
_PLATEAU = 3
_FEWEST = 5


@dataclass(frozen=True, repr=False)
class CriticalBatch(Shown, Plain):
    """The critical batch of a table of steps, returned by `steps_to_target`.

    Attributes
    ----------
    by : mapping; what its runs have in common
    crossover, overhead, efficiency : Estimate
        The critical batch by each definition; an end is NaN if it is outside the batches that were
        run. A value at the smallest or largest batch may lie beyond it.
    scatter : float
        Rms distance of the points from the hyperbola, in natural logarithms.
    """

    by: Mapping[str, Any]
    crossover: Estimate
    overhead: Estimate
    efficiency: Estimate
    scatter: float

    def _lines(self) -> list[str]:
        return [f"Critical batch{f' ({named_values(self.by)})' if self.by else ''}:"]

    def _summary(self) -> Columns:
        return {
            "definition": list(DEFINITIONS),
            "batch": [shown(getattr(self, name)) for name in DEFINITIONS],
            "meaning": list(DEFINITIONS.values()),
        }


def steps_to_target(table: RunTable, *, level: float = LEVEL) -> CriticalBatch:
    """The critical batch of steps to a target, in three definitions.

    Parameters
    ----------
    table : RunTable
        Its value is the number of steps; at least five batches. Of several runs of a batch the one
        with the fewest steps counts.
    level : float, default 0.9; coverage of the intervals

    Examples
    --------
    >>> from sgdphase.diagram import run_table
    >>> batch = 2.0 ** np.arange(14)
    >>> runs = run_table({"batch": batch, "steps": 1000 * (1 + 256 / batch)}, value="steps", lr="")
    >>> found = steps_to_target(runs)
    >>> round(found.crossover.value), round(found.overhead.value), round(found.efficiency.value)
    (255, 52, 260)
    """
    finite = np.isfinite(table.value) & (table.value > 0)
    batches = np.unique(table.batch[finite])
    if batches.size < _FEWEST:
        raise InputError(f"{batches.size} batches with steps above 0: must be {_FEWEST} or more")
    x = np.log(batches)
    y = np.log([table.value[finite & (table.batch == b)].min() for b in batches])
    at, scatter = _crossover(x, y[None])
    freedom = x.size - 2
    rng = np.random.default_rng(0)
    deviation = scatter * math.sqrt(x.size / freedom)
    student = np.sqrt(freedom / rng.chisquare(freedom, REPLICATES))[:, None]
    noise = deviation * student * rng.standard_normal((REPLICATES, x.size))
    # About the points themselves: where the bend is not a hyperbola, they say more than the fit.
    copies = y + noise

    def estimate(value: float, many: FloatArray) -> Estimate:
        e = interval(value, many, level)
        value = min(max(e.value, x[0]), x[-1])
        # An end may be beyond the batches on the other side, where the value itself is cut.
        low = math.nan if e.low <= x[0] else min(e.low, value)
        high = math.nan if not e.high < x[-1] else max(e.high, value)
        return Estimate(value, low, high).mapped(math.exp)

    def needed(factor: float) -> Estimate:
        return estimate(_needed(x, y, factor), np.array([_needed(x, c, factor) for c in copies]))

    crossing = estimate(float(at[0]), _crossover(x, copies)[0])
    return CriticalBatch(table.by, crossing, needed(OVERHEAD), needed(HALF_EFFICIENCY), scatter)


def _crossover(x: FloatArray, y: FloatArray) -> tuple[FloatArray, float]:
    """Where the hyperbola through each row of `y [R, n]` crosses over; rms misfit of the first."""
    places = np.linspace(x[0] - 1, x[-1] + 1, 400)
    shape = np.logaddexp(0, places[:, None] - x)  # [place, x], up to a height
    shape = shape - shape.mean(axis=1, keepdims=True)
    own = y - y.mean(axis=1, keepdims=True)
    squares = (shape**2).sum(axis=1)[None] - 2 * own @ shape.T  # of the misfit, up to own^2
    least = squares.argmin(axis=1)
    rms = math.sqrt(max(float(squares[0, least[0]] + (own[0] ** 2).sum()), 0.0) / x.size)
    return places[least], rms


def _needed(x: FloatArray, y: FloatArray, factor: float) -> float:
    """Log of the batch from which on a training takes so many times the samples; inf if none."""
    from scipy.optimize import isotonic_regression

    samples = x + y - (x + y)[:_PLATEAU].mean()
    rising = isotonic_regression(samples).x
    above = np.flatnonzero(rising > math.log(factor))
    if not above.size or above[0] == 0:
        return math.inf if not above.size else float(x[0])
    k = int(above[0])
    part = (math.log(factor) - rising[k - 1]) / (rising[k] - rising[k - 1])
    return float(x[k - 1] + part * (x[k] - x[k - 1]))
