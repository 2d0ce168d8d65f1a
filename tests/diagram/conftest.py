"""Planes from a known model: `m = (m_gd^p + (a lr/batch)^p + (b lr)^p)^(1/p)`, with noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

LR, BATCH = 2.0 ** np.arange(-8, 9), 2.0 ** np.arange(0, 12)


@dataclass(frozen=True)
class Model:
    gd: float = 0.05
    noise: float = 3.2  # a
    first: float = 0.05  # b, so that B* = a / b = 64
    sharp: float = 3.0  # p

    @property
    def critical_batch(self) -> float:
        return self.noise / self.first

    def line(self, batch: Any, factor: float = 2.0) -> Any:
        """Where the model is `factor` times its GD value."""
        rate = ((self.noise / batch) ** self.sharp + self.first**self.sharp) ** (1 / self.sharp)
        return self.gd * (factor**self.sharp - 1) ** (1 / self.sharp) / rate

    def __call__(self, lr: Any, batch: Any) -> Any:
        terms = self.gd**self.sharp + (self.noise * lr / batch) ** self.sharp
        return (terms + (self.first * lr) ** self.sharp) ** (1 / self.sharp)

    def table(
        self,
        rng: np.random.Generator | None = None,
        *,
        seeds: int = 4,
        common: float = 0.3,
        cell: float = 0.1,
        lr: Any = LR,
        batch: Any = BATCH,
    ) -> dict[str, Any]:
        """Columns of runs; without `rng` there is no noise."""
        grid = np.meshgrid(lr, batch, np.arange(seeds), indexing="ij")
        rates, batches, seed = (g.ravel() for g in grid)
        noise = np.zeros(rates.size)
        if rng is not None:
            noise = common * rng.standard_normal(seeds)[seed.astype(int)]
            noise = noise + cell * rng.standard_normal(rates.size)
        return {
            "lr": rates,
            "batch": batches,
            "seed": seed,
            "status": np.full(rates.size, "fitted", dtype="U8"),
            "alignment": self(rates, batches) * np.exp(noise),
            "test_error": 0.01 * np.exp(-0.01 * batches / batches.max() + 0.01 * noise),
            "train_size": np.full(rates.size, int(batch[-1])),
        }


@pytest.fixture
def model() -> Model:
    return Model()
