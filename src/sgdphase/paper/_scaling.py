"""What the figures on scaling with the training set size share.

Exponents come from least squares in logarithms over the cells of a region that the theory's scales
cut out, never from the data. They are *effective* ones: at finite `P` they may drift, and each
claim about an exponent of `P` says how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from numpy.typing import NDArray

from sgdphase._typing import FloatArray, Mask
from sgdphase.paper.claim import Claim, equal, untested
from sgdphase.stats import (
    LEVEL,
    REPLICATES,
    Collapse,
    Estimate,
    PowerLaw,
    effective_power_laws,
    interval,
    linear_fit,
    seed_means,
    seed_replicates,
)
from sgdphase.theory import averages, online

# A regime is looked at where the scale that bounds it is at least this factor away.
AWAY = 4.0

# gamma = 1/(1+chi) and b - 1 = 2 gamma: an exponent that is right within a fifth of gamma (for b,
# of 2 gamma) gives 1 + chi within a fifth. The chi of the figures differ by factors of two in it.
PART = 0.2
PART_REASON = "it then gives 1 + chi within a fifth, and the chi drawn here differ by factors of 2"

# As in fig1a: regimes differ by 1 in the exponents of lr, batch and T.
TENTH = 0.1
TENTH_REASON = "regimes differ by 1 in it; a tenth allows for the width of the crossovers"


def powers(first: int, last: int, step: int = 1) -> list[float]:
    """Powers of two with these exponents."""
    return [2.0**k for k in range(first, last + 1, step)]


def whole_powers(first: int, last: int, step: int = 1) -> list[int]:
    """The same as integers."""
    return [2**k for k in range(first, last + 1, step)]


Number = Estimate


def number(fit: PowerLaw | Collapse, sign: float = 1.0) -> Number:
    """The exponent of a power law or of a collapse, or minus it."""
    found = fit.exponent
    return Number(sign * found.value, *sorted([sign * found.low, sign * found.high]))


def exponents(
    table: Mapping[str, NDArray[Any]], y: str, parameters: Sequence[str], keep: Mask
) -> dict[str, Estimate]:
    """`y ~ product of parameter^exponent` over the runs kept, with intervals over seeds.

    A parameter whose exponent these runs cannot tell (it does not vary, or only along with
    another) is left out of the answer.
    """
    if not keep.any():
        return {}
    at = np.stack([np.log(table[name][keep].astype(np.float64)) for name in parameters], axis=1)
    cells, cell = np.unique(at, axis=0, return_inverse=True)
    seeds, seed = np.unique(table["seed"][keep], return_inverse=True)
    log_y = np.full((len(cells), len(seeds)), np.nan)
    values = table[y][keep]
    log_y[cell.ravel(), seed] = np.log(np.where(values > 0, values, np.nan))
    centred = cells - cells.mean(axis=0)
    columns = _independent(centred)
    design = np.column_stack([np.ones(len(cells)), centred[:, columns]])
    if not columns or len(cells) <= len(columns) + 1:
        return {}
    rng = np.random.default_rng(0)
    copies = seed_replicates(log_y, rng, REPLICATES)
    fit, many = linear_fit(design, seed_means(log_y), copies, rng)
    return {
        parameters[column]: interval(float(fit[i]), many[:, i], LEVEL)
        for i, column in enumerate(columns, start=1)
        if _is_told_apart(centred, column)
    }


def _independent(columns: FloatArray) -> list[int]:
    """Columns that are no combination of earlier ones."""
    chosen: list[int] = []
    for column in range(columns.shape[1]):
        if np.linalg.matrix_rank(columns[:, [*chosen, column]], tol=1e-6) > len(chosen):
            chosen.append(column)
    return chosen


def _is_told_apart(columns: FloatArray, column: int) -> bool:
    others = np.delete(columns, column, axis=1)
    rank = np.linalg.matrix_rank(others, tol=1e-6) if others.size else 0
    return bool(np.linalg.matrix_rank(columns, tol=1e-6) > rank)


def regime_claim(
    id: str, claim: str, measured: Mapping[str, Estimate], of: str, predicted: float, else_: str
) -> Claim:
    """An exponent that is whole in each regime; `else_` says why there may be none."""
    if of not in measured:
        return untested(id, claim, float(predicted), else_)
    return equal(id, claim, measured[of], predicted, TENTH, TENTH_REASON)


def size_claim(id: str, claim: str, measured: Estimate, predicted: float, unit: float) -> Claim:
    """An exponent of `P`, right within a fifth of `unit` (`gamma`, or `2 gamma` for `b`)."""
    return equal(id, claim, measured, predicted, PART * unit, PART_REASON)


# Sizes in a window of effective exponents. With 3 there is one degree of freedom left to judge the
# scatter about the line by, and the intervals are now and then of no use.
WINDOW = 4


def effective(sizes: FloatArray, y: FloatArray) -> list[PowerLaw]:
    """The exponent over each window of consecutive sizes."""
    return effective_power_laws(sizes, y, window=min(WINDOW, len(sizes)))


def drift(sizes: FloatArray, y: FloatArray) -> str:
    """How the exponent moves with `P`: its value over windows of consecutive sizes."""
    return listed(effective(sizes, y), min(WINDOW, len(sizes)))


def listed(fits: Sequence[PowerLaw] | Sequence[Collapse], window: int, sign: float = 1.0) -> str:
    """The exponents of several windows, in order of size."""
    values = ", ".join(f"{sign * fit.exponent.value:.2f}" for fit in fits)
    return f"over {window} consecutive sizes, smallest first: {values}"


def size_range(sizes: Sequence[float] | FloatArray) -> str:
    """`P = 2^10 to 2^15`."""
    return f"P = 2^{np.log2(min(sizes)):.0f} to 2^{np.log2(max(sizes)):.0f}"


@dataclass(frozen=True)
class Crossovers:
    """The online solution where trainings leave it: time and `w1` for each size."""

    sizes: FloatArray
    time: FloatArray
    w1: FloatArray


def crossovers(
    sizes: Sequence[float] | FloatArray, *, chi: float, dim: int, margin: float, temperature: float
) -> Crossovers:
    """SI 5 at finite `P`: where `|g| = |xi|/sqrt(P)` on the online solution itself.

    `theory.scales` has the same condition on the asymptotic power laws; here neither the averages
    nor the solution are replaced by theirs, `(g1^2 + g_perp^2)/d = n/P`. NaN where they never meet.
    """
    times = dim * max(temperature, margin) * np.geomspace(1e-4, 1e12, 1200)
    path = online(times, chi=chi, dim=dim, margin=margin, temperature=temperature)
    mean = averages(path.lam, path.r, chi)
    # The largest P that has left by then; it grows with time once the student has learnt a bit.
    log_size = np.log(mean.unfitted * dim / (mean.g1**2 + mean.g_perp**2))
    wanted = np.log(np.asarray(sizes, dtype=np.float64))
    start = int(np.argmin(log_size))
    time, w1 = (
        np.exp(np.interp(wanted, log_size[start:], np.log(y[start:]), left=np.nan, right=np.nan))
        for y in (times, path.w1)
    )
    return Crossovers(np.exp(wanted), time, w1)


def shades(count: int) -> list[Any]:
    """Colours of an ordered set, dark to light, told apart by colour-blind readers."""
    return list(colormaps["viridis"](np.linspace(0.0, 0.88, max(count, 2))))[:count]


def inset(axes: Any, bounds: tuple[float, float, float, float], **labels: str) -> Any:
    """Logarithmic axes within axes, for the raw data."""
    small = axes.inset_axes(bounds)
    small.set(xscale="log", yscale="log", **labels)
    small.minorticks_off()
    small.set_in_layout(False)
    small.tick_params(labelsize=7)
    small.xaxis.label.set_size(9)
    small.yaxis.label.set_size(9)
    small.xaxis.labelpad = small.yaxis.labelpad = 1
    return small


def power_of_two(value: float) -> str:
    """`2^{10}` between dollars."""
    return rf"$2^{{{np.log2(value):.0f}}}$"


def spread(y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Geometric mean over seeds, and the distances down and up by one error of that mean."""
    logs = np.log(np.where(y > 0, y, np.nan))
    mean = np.nanmean(logs, axis=1)
    n = np.maximum(np.isfinite(logs).sum(axis=1), 2)
    error = np.nanstd(logs, axis=1) / np.sqrt(n - 1)
    centre = np.exp(mean)
    return centre, np.stack([centre - np.exp(mean - error), np.exp(mean + error) - centre])
