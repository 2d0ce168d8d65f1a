"""What the phase diagrams of Fig. 1 share: the picture, and claims (1) to (5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sgdphase._typing import Mask
from sgdphase.diagram import Plane, draw_figure, phase_diagram, plane_from_table
from sgdphase.paper._plane import Slopes, region_slopes, regions
from sgdphase.paper.claim import Claim, above, equal, untested
from sgdphase.paper.runs import Runs
from sgdphase.stats import (
    LEVEL,
    REPLICATES,
    Estimate,
    interval,
    linear_fit,
    seed_means,
    seed_replicates,
)

# An exponent within 0.1 of an integer cannot be taken for that of another regime, and lets a
# crossover that is a few octaves wide reach a little into the region.
TOLERANCE = 0.1
REASON = "regimes differ by 1 in it; a tenth allows for the width of the crossovers"


def draw(runs: Runs) -> Any:
    """Alignment and test error, side by side."""
    return draw_figure(phase_diagram(plane_from_table(runs.table())))


def claims(id: str, runs: Runs) -> list[Claim]:
    """(1) to (5): the alignment in each regime, the line between them, and the test error."""
    plane = plane_from_table(runs.table())
    errors = plane_from_table(runs.table(), observable="test_error")
    diagram = phase_diagram(plane)
    inside = regions(diagram)
    m = {name: region_slopes(plane, region) for name, region in inside.items()}
    error = {name: region_slopes(errors, region) for name, region in inside.items()}
    return [
        _exponent(f"{id}.1", "noise-dominated: m is constant along T", m["noise"], "diagonal", 0),
        _exponent(f"{id}.2a", "first-step: m is constant in B", m["first step"], "batch", 0),
        _exponent(f"{id}.2b", "first-step: m is proportional to eta", m["first step"], "lr", 1),
        _exponent(f"{id}.3a", "GD: m does not depend on eta", m["GD"], "lr", 0),
        _exponent(f"{id}.3b", "GD: m does not depend on B", m["GD"], "batch", 0),
        line_claim(f"{id}.4a", "eta_c(B) has slope 1 below B*", diagram.slopes.get("below"), 1),
        line_claim(f"{id}.4b", "eta_c(B) has slope 0 above B*", diagram.slopes.get("above"), 0),
        _exponent(f"{id}.5a", "noise-dominated: test error constant along T", error["noise"],
                  "diagonal", 0),
        _exponent(f"{id}.5b", "GD: test error does not depend on eta", error["GD"], "lr", 0),
        _exponent(f"{id}.5c", "GD: test error does not depend on B", error["GD"], "batch", 0),
    ]  # fmt: skip


def _exponent(id: str, claim: str, slopes: Slopes | None, along: str, predicted: float) -> Claim:
    if slopes is None:
        return untested(id, claim, predicted, "fewer than 4 cells well inside this regime")
    return equal(id, claim, getattr(slopes, along), predicted, TOLERANCE, REASON)


def line_claim(id: str, claim: str, slope: Estimate | None, predicted: float) -> Claim:
    """The slope of one side of the GD line."""
    if slope is None:
        return untested(id, claim, predicted, "too few batches on this side of B*")
    return equal(id, claim, slope, predicted, 0.15, "as regimes, with fewer points on the line")


def growth_claim(id: str, claim: str, plane: Plane, noise: Mask) -> Claim:
    """A number grows with T over a region: its exponent is one that is not taken for 0."""
    slope = temperature_slope(plane, noise)
    if slope is None:
        return untested(id, claim, None, "fewer than 3 cells well inside the noise regime")
    reason = "exponent of T over the cells at least a factor 4 inside; up to a tenth counts as none"
    return above(id, claim, slope, TOLERANCE, reason)


def temperature_slope(plane: Plane, region: Mask) -> Estimate | None:
    """The exponent of `y ~ T^slope` over a region `[lr, batch]`; None with fewer than 3 cells."""
    log_y = plane.log_value
    i, j = np.nonzero(region & np.isfinite(log_y).any(axis=-1))
    log_t = np.log2(plane.lr[i] / plane.batch[j])
    if len(i) < 3 or np.ptp(log_t) == 0:
        return None
    rng = np.random.default_rng(0)
    design = np.stack([np.ones(len(i)), log_t - log_t.mean()], axis=1)
    copies = seed_replicates(log_y[i, j], rng, REPLICATES)
    fit, many = linear_fit(design, seed_means(log_y[i, j]), copies, rng)
    return interval(float(fit[1]), many[:, 1], LEVEL)
