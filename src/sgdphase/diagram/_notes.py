"""What the runs cannot decide, and which runs would."""

from __future__ import annotations

import numpy as np

from sgdphase._typing import Names
from sgdphase.diagram._boundaries import Branch, Line
from sgdphase.diagram._cells import Plane
from sgdphase.stats import Estimate, power_of_two

# Student's 90 % interval is 6.3 standard errors wide on each side for 2 seeds, 2.9 for 3.
ENOUGH_SEEDS = 3


def run_notes(plane: Plane) -> list[str]:
    """Notes on the runs: seeds, grid, runs without a value."""
    notes = []
    seeds = plane.seed.size
    if seeds == 1:
        notes.append(
            "1 seed: no scatter between seeds, so confidence comes from neighbouring cells and "
            f"most intervals are left out; run --seeds {ENOUGH_SEEDS} or more"
        )
    elif seeds < ENOUGH_SEEDS:
        notes.append(f"{seeds} seeds: intervals are very wide; run --seeds {ENOUGH_SEEDS} or more")
    for name, grid in (("learning rate", plane.lr), ("batch", plane.batch)):
        option, ending = ("--lr", "s") if name != "batch" else ("--batch", "es")
        if grid.size < 3:
            a, b = power_of_two(grid[0] / 4), power_of_two(grid[-1] * 4)
            a = "2^0" if name == "batch" and grid[0] < 4 else a
            notes.append(
                f"{grid.size} {name}{ending if grid.size > 1 else ''}: regimes need slopes in both "
                f"directions, over 3 or more values; run {option} {a}..{b}"
            )
    absent = (np.isfinite(plane.log_value).sum(axis=-1) == 0) & ~(
        (plane.status == "diverged").any(axis=-1)
    )
    if absent.any():
        by_status = ", ".join(
            f"{count} {what}"
            for what, count in (
                ("never run", int((plane.status[absent] == "").sum())),
                ("out of budget", int((plane.status[absent] == "budget").sum())),
                ("failed", int((plane.status[absent] == "failed").sum())),
                ("with no positive value", int((plane.status[absent] == "fitted").sum())),
            )
            if count
        )
        notes.append(
            f"{int(absent.sum())} of {absent.size} cells have no fitted run ({by_status}): "
            "sweep the whole grid, with --retry failed,budget"
        )
    return notes


def boundary_notes(
    plane: Plane,
    regime: Names,
    line: Line | None,
    b_star: Estimate | None,
    below: Branch | None,
    above: Branch | None,
) -> list[str]:
    """Notes on regimes and boundaries that are missing."""
    notes = []
    lr, batch = plane.lr, plane.batch
    has = {name: bool((regime == name).any()) for name in ("noise-dominated", "GD")}
    if not has["GD"]:
        notes.append(
            "no GD cells, so no GD line: run smaller learning rates, "
            f"--lr {power_of_two(lr[0] / 16)}..{power_of_two(lr[-1])}"
        )
    if not has["noise-dominated"]:
        where = f"--batch 2^0..{power_of_two(batch[-1])}, " if batch[0] > 1 else ""
        notes.append(
            "no noise-dominated cells, so no critical batch and no T_c: run smaller batches at "
            f"larger learning rates, {where}--lr {power_of_two(lr[0])}..{power_of_two(lr[-1] * 16)}"
        )
    if not (regime == "first-step-dominated").any():
        notes.append(f"no first-step-dominated cells, so no critical batch: {_larger(plane)}")
    if line is None and has["GD"]:
        notes.append(
            "m never reaches the factor over its GD value, so no GD line: run larger learning "
            f"rates, --lr {power_of_two(lr[0])}..{power_of_two(lr[-1] * 16)}"
        )
    if line is not None and b_star is not None:
        if below is None or below.slope is None:
            notes.append(
                "fewer than two batches of the GD line below B*/2, so no slope below: "
                "run smaller batches or smaller learning rates"
            )
        if above is None or above.slope is None:
            notes.append(
                f"fewer than two batches of the GD line above 2 B*, so no slope above: "
                f"{_larger(plane)}"
            )
    return notes


def _larger(plane: Plane) -> str:
    """Advice to go to larger batches, which end at the train size."""
    lr, batch = plane.lr, plane.batch
    size = plane.fixed.get("train_size")
    rates = f"--lr {power_of_two(lr[0])}..{power_of_two(lr[-1] * 16)}"
    if size is not None and batch[-1] >= size:
        return f"batches already reach the train size {size}; run larger learning rates, {rates}"
    top = batch[-1] * 16 if size is None else min(batch[-1] * 16, size)
    return f"run larger batches, --batch {power_of_two(batch[0])}..{power_of_two(top)}"
