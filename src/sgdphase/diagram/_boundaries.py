"""Where the regimes meet: the GD line, the critical batch, `T_c` and the first-step line.

All logarithms are base 2, all comparisons are made within a seed before seeds are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sgdphase._typing import FloatArray, Mask, Names
from sgdphase.diagram._cells import Plane
from sgdphase.diagram._regimes import TARGETS, Regime
from sgdphase.stats import (
    Estimate,
    interval,
    level_difference,
    line_fit,
    linear_fit,
    seed_means,
    seed_replicates,
)

FINE = 16  # points per grid step at which an interpolated curve is evaluated


@dataclass(frozen=True)
class LinePoint:
    """A point of the GD line in the diagram returned by `phase_diagram`.

    Attributes
    ----------
    batch : float
    lr : Estimate
    """

    batch: float
    lr: Estimate

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON: `batch`, `lr`, and `low` and `high` of `lr`."""
        lr = self.lr.as_dict()
        return {"batch": self.batch, "lr": lr.pop("value"), **lr}


@dataclass(frozen=True)
class Line:
    """`log2 lr_c` at some batches, with replicates `[R, batch]`."""

    batch: FloatArray
    log_lr: FloatArray
    replicates: FloatArray

    def points(self, level: float) -> tuple[LinePoint, ...]:
        """`lr_c` at each batch, with its interval."""
        columns = zip(self.batch, self.log_lr, self.replicates.T, strict=True)
        return tuple(
            LinePoint(float(b), interval(2.0**y, 2.0**copies, level)) for b, y, copies in columns
        )


@dataclass(frozen=True)
class Branch:
    """One side of the GD line: its slope in log batch, and its level at the expected slope."""

    slope: Estimate | None
    level: Estimate


def inner_cells(plane: Plane, regime: Names, name: Regime) -> Mask:
    """The inner half of a regime.

    Cells of the regime at least half as far from every cell of the other regimes (in octaves) as
    its deepest cell is. Crossovers are broad (from GD to noise the excess over GD halves with each
    octave), so cells at the rim would bias a mean over the whole regime.
    """
    mine = regime == name
    others = np.any([_joined(regime == n) for n in TARGETS if n != name], axis=0)
    if not mine.any() or not others.any():
        return np.asarray(mine)
    x, y = np.meshgrid(np.log2(plane.lr), np.log2(plane.batch), indexing="ij")
    gap = np.hypot(x[mine][:, None] - x[others], y[mine][:, None] - y[others]).min(axis=1)
    inner = np.zeros_like(mine)
    inner[mine] = gap >= gap.max() / 2
    return np.asarray(inner)


def gd_line(
    plane: Plane,
    regime: Names,
    factor: float,
    rng: np.random.Generator,
    replicates: int,
) -> Line | None:
    """`lr_c(batch)`: where `m` reaches `factor` times its GD value; None without GD cells.

    `m_GD` of a seed is its geometric mean over the inner half of the GD regime. Each column of
    `log(m/m_GD)`, averaged over seeds, is interpolated in `log lr` by a monotone cubic, and
    the line is where that rises through `log factor`.
    """
    plateau = inner_cells(plane, regime, "GD")
    if not plateau.any():
        return None
    gd_value = seed_means(np.moveaxis(plane.log_value[plateau], 0, -1))
    ratio = plane.log_value - gd_value
    mean, copies = seed_means(ratio), seed_replicates(ratio, rng, replicates)
    ok = np.isfinite(mean)
    batches, places, place_copies = [], [], []
    for j in range(plane.batch.size):
        rows = np.flatnonzero(ok[:, j])
        if rows.size < 2:
            continue
        x = np.log2(plane.lr[rows])
        y, height = mean[rows, j], np.log2(factor)
        if y[0] < height <= y[-1]:
            batches.append(plane.batch[j])
            place, *many = crossing(x, np.vstack([y, copies[:, rows, j]]), height)
            places.append(place)
            place_copies.append(many)
    if not batches:
        return None
    return Line(np.array(batches), np.array(places), np.transpose(place_copies))


def line_branch(
    line: Line, keep: Mask, slope: float, level: float, rng: np.random.Generator
) -> Branch | None:
    """The GD line on some batches: its fitted slope, and `lr_c / batch^slope` at the given one.

    With `slope = 1` the level is `T_c`, with `slope = 0` the first-step line.
    """
    if not keep.any():
        return None
    x = np.log2(line.batch[keep])
    y, copies = line.log_lr[keep], line.replicates[:, keep]
    flat, flat_copies = linear_fit(np.ones((x.size, 1)), y - slope * x, copies - slope * x, rng)
    fitted = None
    if x.size >= 2:
        coefficients, many = line_fit(x, y, copies, rng)
        fitted = interval(float(coefficients[1]), many[:, 1], level)
    return Branch(fitted, interval(2.0 ** flat[0], 2.0 ** flat_copies[:, 0], level))


def branches(
    line: Line | None,
    b_star: Estimate | None,
    regime: Names,
    level: float,
    rng: np.random.Generator,
) -> tuple[Branch | None, Branch | None]:
    """The two sides of the GD line, each an octave away from `B*` where it bends."""
    if line is None:
        return None, None
    if b_star is not None:
        low, high = line.batch <= b_star.value / 2, line.batch >= b_star.value * 2
    else:
        noise, first = (regime == "noise-dominated").any(), (regime == "first-step-dominated").any()
        low = np.full(line.batch.size, noise and not first)
        high = np.full(line.batch.size, first and not noise)
    return line_branch(line, low, 1.0, level, rng), line_branch(line, high, 0.0, level, rng)


def critical_batch(
    plane: Plane,
    regime: Names,
    level: float,
    rng: np.random.Generator,
    replicates: int,
) -> Estimate | None:
    """`B*`: where the two power laws of `m/lr`, `a/batch` and `b`, are equal; None without both.

    `log a` is the mean of `log(m batch/lr)` over the inner half of the noise-dominated cells,
    `log b` that of `log(m/lr)` over the inner half of the first-step-dominated ones. Cells of one
    batch count as one: departures from a power law in `batch` are common to them.
    """
    log_lr = np.log2(plane.lr)[:, None, None]
    log_batch = np.log2(plane.batch)[None, :, None]
    noise = _column_means(
        plane.log_value - log_lr + log_batch, inner_cells(plane, regime, "noise-dominated")
    )
    first = _column_means(
        plane.log_value - log_lr, inner_cells(plane, regime, "first-step-dominated")
    )
    if len(noise) == 0 or len(first) == 0:
        return None
    log_star, copies = level_difference(noise, first, rng, replicates)
    return interval(2.0**log_star, 2.0**copies, level)


def _column_means(values: FloatArray, keep: Mask) -> FloatArray:
    """Means over the kept rows of each column that has any, for each seed: `[column, seed]`."""
    columns = [
        # Per seed; rows that a seed lacks are filled in from the others.
        seed_means(np.moveaxis(values[keep[:, j], j], 0, -1))
        for j in range(values.shape[1])
        if keep[:, j].any()
    ]
    return np.array(columns).reshape(len(columns), values.shape[2])


def crossing(x: FloatArray, curves: FloatArray, height: float) -> FloatArray:
    """Where each of `curves [R, n]` rises through `height`: an end of `x` if that is beyond it.

    It is the start plus the length over which the curve is below: the crossing itself if there is
    one, and a value in their middle if noise makes several, of which the first would be too low on
    average and the last too high.
    """
    from scipy.interpolate import PchipInterpolator

    out = np.full(len(curves), np.nan)
    good = np.isfinite(curves).all(axis=1)
    if not good.any():
        return out
    y, length = curves[good] - height, np.diff(x)
    low, high = np.minimum(y[:, 1:], y[:, :-1]), np.maximum(y[:, 1:], y[:, :-1])
    below = np.where(high <= 0, 1.0, 0.0)
    # The cubic is monotone from point to point, so that only steps through the height need it.
    row, step = np.nonzero((low < 0) & (high > 0))
    cubic = PchipInterpolator(x, y, axis=1).c[:, step, row]
    at = np.linspace(0, 1, FINE + 1)[:, None] * length[step]
    fine = ((cubic[0] * at + cubic[1]) * at + cubic[2]) * at + cubic[3]
    low, high = np.minimum(fine[1:], fine[:-1]), np.maximum(fine[1:], fine[:-1])
    span = np.where(high > low, high - low, 1.0)
    share = np.where(high <= 0, 1.0, np.where(low >= 0, 0.0, -low / span))
    below[row, step] = share.mean(axis=0)
    out[good] = x[0] + below @ length
    return out


def _joined(cells: Mask) -> Mask:
    """Cells that share a side with another of them: a single cell is noise, not a region."""
    padded = np.pad(cells, 1)
    beside = padded[:-2, 1:-1] | padded[2:, 1:-1] | padded[1:-1, :-2] | padded[1:-1, 2:]
    return np.asarray(cells & beside)
