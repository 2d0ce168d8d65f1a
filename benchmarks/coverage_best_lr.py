"""How often the 90 % interval of a best learning rate covers it, on valleys that are known.

Run: python benchmarks/coverage_best_lr.py    (a minute; three shapes, six grids, 240 valleys each)
"""

from __future__ import annotations

import math

import numpy as np

from sgdphase.stats._smooth import Points, pure_deviation, smooth_curves

# Loss above its least, at a distance `t` from the bottom in log lr.
SHAPES = {
    "steep right, then a cliff": lambda t: 0.03 * (np.exp(0.9 * t) - 0.9 * t - 1) + 3.0 * (t > 2.2),
    "parabola": lambda t: 0.02 * t**2,
    "flat left": lambda t: 0.05 * np.log(np.cosh(1.2 * t)) + 0.03 * np.exp(2.5 * (t - 1)),
}
# Distance of learning rates in octaves, noise of a run at the bottom, runs per learning rate.
GRIDS = [
    (0.5, 0.003, 1), (0.5, 0.006, 1), (1, 0.003, 1), (1, 0.006, 3), (0.5, 0.001, 1), (1, 0.001, 5),
]  # fmt: skip
TABLES, CURVES = 30, 8


def coverage(shape, spacing: float, noise: float, seeds: int) -> float:
    fine = np.linspace(-2, 2, 40001)
    bottom, least = fine[shape(fine).argmin()], shape(fine).min()
    rng, hits = np.random.default_rng(0), []
    for table in range(TABLES):
        points, groups, true = [], [], []
        for curve in range(CURVES):
            x = np.arange(-3, 2.6, spacing) * math.log(2) + rng.uniform(-0.2, 0.2)
            at = -0.5 + 0.1 * curve
            excess = (shape(x - at) - least)[:, None]
            runs = 2.4 + excess + noise * (1 + excess / 0.05) * rng.standard_normal((x.size, seeds))
            points.append(Points(x, runs.mean(axis=1), np.full(x.size, float(seeds))))
            groups.append(list(runs))
            true.append(at + bottom)
        found = smooth_curves(points, pure_deviation(groups), replicates=300, seed=table)
        for smooth, where in zip(found, true, strict=True):
            low, high = np.quantile(smooth.minimum()[1], [0.05, 0.95])
            hits.append(low <= where <= high)
    return float(np.mean(hits))


if __name__ == "__main__":
    every = []
    for name, shape in SHAPES.items():
        shares = [coverage(shape, *grid) for grid in GRIDS]
        every += shares
        print(f"{name:28}", "  ".join(f"{share:.2f}" for share in shares))
    print(f"{min(every):.2f} to {max(every):.2f}, {np.mean(every):.2f} on average")
