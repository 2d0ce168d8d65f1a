"""The alignment of a network in time at one learning rate, for several batches.

The paper's words are that it reaches its final value "after some training steps" where batches are
large and the margin small. Here some steps are `FEW`, and what is read off is the part of the final
alignment that is there after them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.paper._along import Trajectory, mean
from sgdphase.paper._fitted import fitted
from sgdphase.paper._runs import Runs
from sgdphase.paper._scaling import shades
from sgdphase.stats import Estimate

# A step at which all trainings are looked at (1, 2, 4, ...).
FEW = 8


def part_after(runs: Runs, batch: int, steps: int) -> FloatArray:
    """Alignment after so many steps over the final one, for each seed; NaN if it did not end."""
    _, final = fitted(runs).curve("batch", "alignment", batch=batch)
    there = [_after(along, steps) for along in runs.trajectories(batch=batch)]
    return np.array(there) / np.where(final[0] > 0, final[0], np.nan)


def _after(along: Trajectory, steps: int) -> float:
    """The latest look up to a step; the last one if the training was shorter."""
    seen = along["alignment"][along["step"] <= steps]
    return float(seen[-1]) if seen.size else float("nan")


def largest_part_after(runs: Runs, steps: int) -> Estimate:
    """The same at the batch where it is largest."""
    each = [mean(part_after(runs, batch, steps)) for batch in runs.values("batch")]
    return max(each, key=lambda part: -np.inf if np.isnan(part.value) else part.value)


def steps_to(runs: Runs, batch: int, part: float) -> float:
    """Median over seeds of the steps after which the alignment first has this part of its end."""
    found = []
    for along in runs.trajectories(batch=batch):
        there = along["step"][along["alignment"] >= part * along["alignment"][-1:]]
        found += [float(there[0])] if there.size else []
    return float(np.median(found)) if found else float("nan")


def steps_in_all(runs: Runs, batch: int) -> float:
    """Median over seeds of the last step that changed a weight."""
    _, steps = runs.curve("batch", "steps", batch=batch)
    return float(np.median(steps))


def draw_alignment(axes: Any, runs: Runs) -> None:
    """One seed of each batch, starred at its end (a black dot if it did not fit its points)."""
    batches, (lr,) = runs.values("batch"), runs.values("lr")
    for batch, color in zip(batches, shades(len(batches)), strict=True):
        (run,) = runs.where(batch=batch, seed=0).runs
        time, alignment = run.outcome.trajectory["time"], run.outcome.trajectory["alignment"]
        axes.plot(time, alignment, color=color, label=f"$B={batch}$")
        end = {"marker": "*", "markersize": 9, "markerfacecolor": color}
        if run.outcome.status != "fitted":
            end = {"marker": ".", "markersize": 9}
        axes.plot(time[-1:], alignment[-1:], color="k", **end)
    axes.axvline(FEW * lr, color="0.4", linestyle=":", linewidth=1, zorder=0)
    axes.text(
        FEW * lr * 1.1, 0.02, f"{FEW} steps", color="0.4", fontsize="small",
        transform=axes.get_xaxis_transform(),
    )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="$t$", ylabel=r"alignment $\langle yf\rangle$")
