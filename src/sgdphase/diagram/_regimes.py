"""Which regime a cell is in, from the slopes of `log m` around it.

    regime                   d log m / d log lr    d log m / d log batch
    noise-dominated                  1                     -1             (m ~ T)
    first-step-dominated             1                      0             (m ~ lr)
    GD                               0                      0             (m fixed)

The slopes come from a plane fitted by least squares to the cells at most one grid step away (up to
3 x 3, one-sided at edges and next to missing cells), for each seed by itself: what multiplies all
cells of a seed drops out. The regime is the target nearest to the mean over seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sgdphase._typing import FloatArray, IntArray, Names
from sgdphase.diagram._cells import Plane
from sgdphase.stats import REPLICATES, seed_means, seed_replicates

Regime = Literal["noise-dominated", "first-step-dominated", "GD", "unclear", "diverged", "missing"]
TARGETS: dict[Regime, tuple[float, float]] = {
    "noise-dominated": (1.0, -1.0),
    "first-step-dominated": (1.0, 0.0),
    "GD": (0.0, 0.0),
}
REGIMES: tuple[Regime, ...] = (*TARGETS, "unclear", "diverged", "missing")

# Neighbouring targets are 1 apart: a circle of radius 1/2 around each is the largest that keeps
# them disjoint. Slopes outside all three circles are those of a crossover, not of a regime.
REACH = 0.5
# Odds of four to one. Below it, more than one in five of the named cells would have a wrong name.
CONFIDENCE = 0.8


@dataclass(frozen=True)
class RegimeMap:
    """Regimes of all cells, the share of replicates that agree, and the slopes of `log m`.

    Arrays are `[lr, batch]`.
    """

    regime: Names
    confidence: FloatArray
    slope_lr: FloatArray
    slope_batch: FloatArray


def local_slopes(plane: Plane) -> tuple[FloatArray, FloatArray]:
    """Slopes of `log m` in log lr and log batch around each cell, and their standard errors.

    The errors come from the scatter of the neighbours about the fitted plane, curvature included.
    NaN where the neighbours of a cell do not span both directions. Both arrays are
    `[lr, batch, seed, 2]`.
    """
    y = _neighbours(plane.log_value)
    u = _neighbours(np.broadcast_to(np.log2(plane.lr)[:, None, None], plane.value.shape))
    v = _neighbours(np.broadcast_to(np.log2(plane.batch)[None, :, None], plane.value.shape))
    there = np.isfinite(y) & np.isfinite(plane.log_value)
    n = there.sum(axis=0)

    def centred(a: FloatArray) -> FloatArray:
        a = np.where(there, a, 0.0)
        return np.where(there, a - a.sum(axis=0) / np.maximum(n, 1), 0.0)

    y, u, v = centred(y), centred(u), centred(v)
    uu, uv, vv = (u * u).sum(axis=0), (u * v).sum(axis=0), (v * v).sum(axis=0)
    uy, vy = (u * y).sum(axis=0), (v * y).sum(axis=0)
    determinant = uu * vv - uv**2
    # At a relative determinant near 0 the neighbours lie on a line.
    spans = determinant > 1e-3 * np.maximum(uu * vv, 1e-300)
    inverse = np.divide(1.0, determinant, out=np.full(uu.shape, np.nan), where=spans)
    slopes = np.stack([(vv * uy - uv * vy) * inverse, (uu * vy - uv * uy) * inverse], axis=-1)
    rest = ((y - slopes[..., 0] * u - slopes[..., 1] * v) ** 2).sum(axis=0)
    variance = np.divide(rest, n - 3, out=np.full(rest.shape, np.nan), where=n > 3)
    errors = np.sqrt(np.stack([vv, uu], axis=-1) * (variance * inverse)[..., None])
    return slopes, errors


def classify(
    plane: Plane, *, replicates: int = REPLICATES, confidence: float = CONFIDENCE, seed: int = 0
) -> RegimeMap:
    """The regime of every cell: the target nearest to its slopes.

    The confidence of a cell is the share of bootstrap replicates (over seeds) whose slopes are
    nearest to the same target. A cell is `unclear` if that share is below `confidence`, if its
    slopes are further than `REACH` from every target, or if its neighbours cannot give slopes. It
    is `diverged` if most of its runs are, `missing` if none was fitted. Gradient descent is at
    small learning rates: a flat cell of more than twice the mean of those below it is `unclear`,
    since what it shows is the end of a growth. With a single seed the
    scatter of the neighbours about the local plane replaces that of the seeds.
    """
    rng = np.random.default_rng(seed)
    slopes, errors = local_slopes(plane)
    by_seed = np.moveaxis(slopes, 2, -1)  # [lr, batch, 2, seed]
    mean = seed_means(by_seed)
    if plane.seed.size > 1:
        copies = seed_replicates(by_seed, rng, replicates)
    else:
        # 3 x 3 cells less 3 parameters; at an edge there are fewer, which is neglected.
        student = rng.standard_t(6, size=(replicates, *mean.shape))
        copies = mean + student * errors[:, :, 0]
    nearest, distance = nearest_target(mean)
    agree = np.mean(nearest_target(copies)[0] == nearest, axis=0)
    known = np.isfinite(mean).all(axis=-1) & np.isfinite(copies[0]).all(axis=-1)

    names = np.array(list(TARGETS), dtype="U24")
    regime = np.where(
        known & (agree >= confidence) & (distance <= REACH), names[nearest], "unclear"
    )
    regime = np.where((regime == "GD") & (_rise(plane) > 1), "unclear", regime)
    fitted = np.isfinite(plane.log_value).sum(axis=-1)
    diverged = (plane.status == "diverged").sum(axis=-1)
    regime = np.where(fitted == 0, "missing", regime)
    regime = np.where(diverged > fitted, "diverged", regime)
    return RegimeMap(
        regime=regime,
        confidence=np.where(known & (fitted > 0), agree, np.nan),
        slope_lr=mean[..., 0],
        slope_batch=mean[..., 1],
    )


def nearest_target(slopes: FloatArray) -> tuple[IntArray, FloatArray]:
    """Index of, and distance to, the target nearest to `slopes [..., 2]`."""
    x, y = np.moveaxis(np.nan_to_num(slopes, nan=1e9), -1, 0)
    distance = np.stack([np.sqrt((x - u) ** 2 + (y - v) ** 2) for u, v in TARGETS.values()])
    return distance.argmin(axis=0), distance.min(axis=0)


def _rise(plane: Plane) -> FloatArray:
    """Octaves of each cell above the mean of the cells of smaller learning rates, 0 without."""
    level = seed_means(plane.log_value)
    known = np.isfinite(level)
    total, count = np.cumsum(np.where(known, level, 0.0), axis=0), np.cumsum(known, axis=0)
    below = np.zeros_like(level)
    below[1:] = total[:-1] / np.maximum(count[:-1], 1)
    below[1:] = np.where(count[:-1] > 0, below[1:], level[1:])
    below[0] = level[0]
    return level - below


def _neighbours(values: FloatArray) -> FloatArray:
    """The 3 x 3 cells around each, as a new first axis; NaN beyond the edge."""
    rows, columns = values.shape[:2]
    padded = np.full((rows + 2, columns + 2, *values.shape[2:]), np.nan)
    padded[1:-1, 1:-1] = values
    return np.stack([padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)])
