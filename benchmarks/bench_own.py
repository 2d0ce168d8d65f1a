"""The search of `diagnose` on an ordinary network, against a grid: ten digits of MNIST.

`B*` at 1000 points by the phase diagram of a grid, and by `diagnose` until fitted at `lr = 0.05`,
`batch = 128`, each from runs of its own. A few minutes on two cores; needs the files of MNIST
(docs/data.md).

Usage: `python benchmarks/bench_own.py`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import sgdphase as sp
from sgdphase._own import user_training

EXAMPLE = Path(__file__).parents[1] / "examples" / "mnist_digits.py"
POINTS, SEEDS = 1000, 3
# Hotter ones do not end.
CELLS = [
    (2.0**k, 2**b) for k in range(-10, -1, 2) for b in (0, 2, 4, 6, 8, 9) if k - b <= -6
]  # fmt: skip


def main() -> None:
    user = user_training(EXAMPLE, until_fitted=True)
    plan = [
        user.training(lr=lr, batch=batch, seed=seed, train_size=POINTS)
        for lr, batch in CELLS
        for seed in range(SEEDS)
    ]
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "grid.sqlite"
        grid = sp.phase_diagram(sp.sweep(plan, store))
    found = sp.diagnose_until_fitted(EXAMPLE, lr=0.05, batch=128, train_sizes=[POINTS])
    print(f"grid    {len(plan)} trainings: {_shown(grid.critical_batch)}")
    print(f"search  {found.trainings} trainings, regime and GD line included: "
          f"{_shown(found.sizes[-1].critical_batch)}")  # fmt: skip


def _shown(b_star: sp.Estimate | None) -> str:
    return "B* not found" if b_star is None else (
        f"B* = {b_star.value:.3g} [{b_star.low:.3g}, {b_star.high:.3g}]"
    )  # fmt: skip


if __name__ == "__main__":
    main()
