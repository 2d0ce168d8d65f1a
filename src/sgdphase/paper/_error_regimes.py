"""Test errors of one regime against those of another, compared within seeds."""

from __future__ import annotations

import numpy as np

from sgdphase._typing import Mask
from sgdphase.diagram import PhaseDiagram, Plane
from sgdphase.paper._plane import regions
from sgdphase.paper.claim import Claim, above, below, equal, untested
from sgdphase.stats import LEVEL, REPLICATES, Estimate, interval, seed_means, seed_replicates

# As for the weight decay of Fig. S2A.
TWENTIETH = 0.05
_RATIO = (
    "error of GD over that of the noise regime, geometric means over the cells at least a factor 4 "
    "inside; less than a twentieth is no difference"
)
_NONE_INSIDE = "no cells well inside both regimes"


def best_claim(id: str, claim: str, errors: Plane, diagram: PhaseDiagram) -> Claim:
    """The lowest error is in the noise regime."""
    noise = regions(diagram, away=1.0)["noise"]
    inside, outside = noise & complete(errors), ~noise & complete(errors)
    if not inside.any() or not outside.any():
        return untested(id, claim, None, "no cells, or no others, in the noise regime")
    ratio = error_ratio(errors, lowest(errors, inside), lowest(errors, outside))
    reason = (
        "lowest error of the regime over the lowest of all other cells, each the lowest mean over "
        "seeds among cells where every seed was fitted"
    )
    return below(id, claim, ratio, 1.0, reason)


def same_claim(id: str, claim: str, errors: Plane, diagram: PhaseDiagram) -> Claim:
    """The error of GD is that of the noise regime."""
    ratio = gd_over_noise(errors, diagram)
    if ratio is None:
        return untested(id, claim, 1.0, _NONE_INSIDE)
    return equal(id, claim, ratio, 1.0, TWENTIETH, _RATIO)


def worse_claim(id: str, claim: str, errors: Plane, diagram: PhaseDiagram) -> Claim:
    """The error of GD is above that of the noise regime."""
    ratio = gd_over_noise(errors, diagram)
    if ratio is None:
        return untested(id, claim, None, _NONE_INSIDE)
    return above(id, claim, ratio, 1 + TWENTIETH, _RATIO)


def gd_over_noise(errors: Plane, diagram: PhaseDiagram) -> Estimate | None:
    """The ratio of the errors well inside the two regimes; None without cells in both."""
    fitted = np.isfinite(errors.log_value).any(axis=-1)
    inside = {name: region & fitted for name, region in regions(diagram).items()}
    if not inside["GD"].any() or not inside["noise"].any():
        return None
    return error_ratio(errors, inside["GD"], inside["noise"])


def complete(errors: Plane) -> Mask:
    """The cells where every seed was fitted."""
    return np.asarray(np.isfinite(errors.log_value).all(axis=-1))


def lowest(errors: Plane, among: Mask) -> Mask:
    """The one cell of lowest mean error among complete ones."""
    place = np.argwhere(among)[errors.value[among].mean(axis=-1).argmin()]
    chosen = np.zeros_like(among)
    chosen[tuple(place)] = True
    return chosen


def error_ratio(errors: Plane, one: Mask, other: Mask) -> Estimate:
    """The geometric mean of the error over some cells, over that of others."""
    cells = one | other
    weights = one[cells] / one.sum() - other[cells] / other.sum()
    logs = errors.log_value[cells]
    copies = seed_replicates(logs, np.random.default_rng(0), REPLICATES)
    return interval(2.0 ** float(weights @ seed_means(logs)), 2.0 ** (copies @ weights), LEVEL)
