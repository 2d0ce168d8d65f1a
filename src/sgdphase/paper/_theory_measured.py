"""What the claims of the theory are decided by: its numbers, and small simulations beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.paper._crossover import error_of
from sgdphase.paper.figure import Scale
from sgdphase.perceptron import Points, simulate_sgd
from sgdphase.problems import TeacherTask
from sgdphase.stats import power_law
from sgdphase.theory import (
    Online,
    averages,
    constants,
    first_step,
    fluctuations,
    online,
    online_ensemble,
    scales,
)

CHIS = (0.0, 1.0, 3.0)
DIM = 128
# Small enough that r = margin/(k_perp T) < 0.001 at T = 1: the limit T >> margin.
MARGIN = 1e-4
NAMES = {"g1": "c1", "g_perp": "c2", "unfitted": "c_n", "sigma11": "c11", "sigma12": "c12",
         "sigma22": "c22"}  # fmt: skip


def limits(lam: FloatArray, chi: float) -> dict[str, FloatArray]:
    """Each exact average at `r = 0`, times its power of `lam`, over its asymptotic constant."""
    exact, c = averages(lam, np.zeros_like(lam), chi), constants(chi)
    powers = {"g1": 2, "g_perp": 1, "unfitted": 1, "sigma11": 3, "sigma12": 2, "sigma22": 1}
    signs = {"g_perp": -1}
    return {
        name: signs.get(name, 1) * getattr(exact, name) * lam ** (chi + k) / getattr(c, NAMES[name])
        for name, k in powers.items()
    }


@lru_cache(maxsize=8)
def solution(chi: float) -> Online:
    """The online solution at `T = 1`, at times from 0.1 to 10^8 in units of `T d`."""
    times = np.geomspace(0.1, 1e8, 91) * DIM
    return online(times, chi=chi, dim=DIM, margin=MARGIN, temperature=1.0)


def last_exponents(name: str) -> FloatArray:
    """Exponent in time over the last two decades, one for each chi."""
    return np.array(
        [
            power_law(s.time[-20:], getattr(s, name)[-20:]).exponent.value
            for s in (solution(chi) for chi in CHIS)
        ]
    )


@dataclass(frozen=True)
class Spread:
    """Relative fluctuations `[dim, group]` of the two weights, and their linear-noise values."""

    dims: FloatArray
    w1: FloatArray
    w_perp: FloatArray
    linear_w1: FloatArray
    linear_w_perp: FloatArray


GROUPS = 10


@lru_cache(maxsize=4)
def spread(scale: Scale) -> Spread:
    """Trajectories of the two-variable SDE at `t = 100 T d`, chi = 1, in groups as if of seeds."""
    dims = [16, 64, 256] if scale == "quick" else [16, 32, 64, 128, 256, 512, 1024]
    each = 8 if scale == "quick" else 120
    rows: dict[str, list[Any]] = {"w1": [], "w_perp": [], "linear_w1": [], "linear_w_perp": []}
    for dim in dims:
        setting: Any = {"chi": 1.0, "dim": dim, "margin": MARGIN, "temperature": 1.0}
        time = [100.0 * dim]
        many = online_ensemble(time, size=GROUPS * each, seed=dim, **setting)
        mean, noise = online(time, **setting), fluctuations(time, **setting)
        for name in ("w1", "w_perp"):
            groups = getattr(many, name).reshape(GROUPS, each)
            centre = float(getattr(mean, name)[0])
            rows[name].append(groups.std(axis=1, ddof=1) / centre)
            rows[f"linear_{name}"].append(np.sqrt(getattr(noise, f"var_{name}")[0]) / centre)
    return Spread(np.array(dims, dtype=np.float64), **{k: np.array(v) for k, v in rows.items()})


@dataclass(frozen=True)
class OneStep:
    """After one step of SGD: `w1` over theory and error of the distribution, `[batch, seed]`."""

    batch: FloatArray
    w1: FloatArray
    error: FloatArray


ONE_STEP_DIM = 32


@lru_cache(maxsize=16)
def one_step(chi: float, scale: Scale) -> OneStep:
    """One simulated step at a large learning rate, at batches well above the dimension."""
    largest = 13 if scale == "quick" else 15
    batches = [2**k for k in range(9, largest + 1)]
    seeds = range(5 if scale == "quick" else 20)
    w1, error = np.empty((2, len(batches), len(seeds)))
    for seed in seeds:
        points = Points.of(TeacherTask(ONE_STEP_DIM, chi).train_set(2**largest, seed))
        for i, batch in enumerate(batches):
            w = _after_one_step(points, batch, seed, lr=1.0)
            theory = first_step(lr=1.0, batch=batch, dim=ONE_STEP_DIM, chi=chi)
            w1[i, seed] = w[0] / theory.w1
            error[i, seed] = error_of(w[0] / np.linalg.norm(w[1:]), chi)
    return OneStep(np.array(batches, dtype=np.float64), w1, error)


def _after_one_step(points: Points, batch: int, seed: int, lr: float) -> FloatArray:
    """Weights after the first step, at a margin that nothing comes near."""
    run = simulate_sgd(points, margin=1e-12, lr=lr, batch=batch, seed=seed, max_steps=1)
    first: FloatArray = run.snapshots[0]
    return first


@dataclass(frozen=True)
class Fitted:
    """Share of training sets that one step fits, against the batch in units of its scale."""

    ratio: FloatArray
    share: FloatArray
    trials: int


@lru_cache(maxsize=4)
def fitted_share(scale: Scale) -> Fitted:
    """Training sets of chi = 3 fitted altogether by one step."""
    chi, dim, size = 3.0, 8, 2**13
    unit = scales(train_size=size, dim=dim, chi=chi, margin=1e-12).one_step_batch
    ratio = np.exp2(np.arange(-3.0, 5.0))
    trials = 20 if scale == "quick" else 400
    hits = np.zeros(ratio.size)
    for seed in range(trials):
        points = Points.of(TeacherTask(dim, chi).train_set(size, seed))
        for i, x in enumerate(ratio):
            w = _after_one_step(points, max(round(x * unit), 1), seed, lr=1.0)
            hits[i] += bool((points.z @ w > 0).all())
    return Fitted(ratio, hits / trials, trials)
