"""Test errors of one regime compared with those of another, within seeds (Figs. S5 and S6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sgdphase._typing import FloatArray, Mask
from sgdphase.diagram import PhaseDiagram, Plane
from sgdphase.paper._claim import Below, Constant, Tolerance
from sgdphase.paper._measure import estimate
from sgdphase.paper._planes import GD, NOISE, Region, complete, regions, some_fitted
from sgdphase.stats import Estimate, seed_means

# At margin 1 trainings diverge less than a factor 8 above the lines, so that a distance by a factor
# of 4 from them, as in Fig. 1, would leave no cells.
CLOSE = 2.0


def best_claim(id: str, says: str, errors: Plane, lines: PhaseDiagram) -> Below:
    """The lowest error is in the noise regime."""
    region, ratio = regions(lines, away=1.0)[NOISE], None
    fitted = complete(errors)
    inside, outside = region.cells & fitted, ~region.cells & fitted
    if inside.any() and outside.any():
        ratio = error_ratio(errors, lowest(errors, inside), lowest(errors, outside))
    reason = (
        "lowest error of the regime over the lowest of all other cells, each the lowest mean over "
        "seeds among cells where every seed was fitted"
    )
    return Below(id, says, ratio, 1.0, reason, otherwise=region.too_few(1, fitted))


@dataclass(frozen=True)
class Regimes:
    """The test errors of a panel, compared between regimes."""

    errors: Plane
    inside: Mapping[str, Region]

    @classmethod
    def of(cls, errors: Plane, lines: PhaseDiagram) -> Regimes:
        """In the regions that `lines` bound."""
        return cls(errors, regions(lines, CLOSE))

    def cells(self, name: str) -> Mask:
        """The fitted cells inside a regime."""
        return np.asarray(self.inside[name].cells & some_fitted(self.errors))

    def ratio(self, one: str, other: str, *, but_largest: bool = False) -> dict[str, Any]:
        """The error of a regime over that of another, and why there may be none.

        With `but_largest`, without the largest batch of the first if it has several.
        """
        a, b = self.cells(one), self.cells(other)
        batches = np.flatnonzero(a.any(axis=0))
        if but_largest and batches.size > 1:
            a[:, batches[-1]] = False
        if a.any() and b.any():
            return {"measure": error_ratio(self.errors, a, b)}
        return self.none(other if a.any() else one)

    def none(self, name: str) -> dict[str, Any]:
        """No measure, as a regime has too few cells."""
        few = self.inside[name].too_few(1, some_fitted(self.errors))
        return {"measure": None, "otherwise": few}

    def at_largest_batch(self, name: str) -> dict[str, Any]:
        """The error of a regime at its largest batch over that at the others, at the same lr."""
        cells = self.cells(name)
        batches = np.flatnonzero(cells.any(axis=0))
        if batches.size < 2:
            few = f"the {name} regime has {batches.size} batches with fitted cells: 2 needed"
            return self.none(name) | ({} if self.inside[name].lacks else {"otherwise": few})
        last, rest = np.zeros_like(cells), cells.copy()
        last[:, batches[-1]] = cells[:, batches[-1]]
        rest[:, batches[-1]] = False
        rows = (last.any(axis=1, keepdims=True)) & (rest.any(axis=1, keepdims=True))
        if not rows.any():
            return {"measure": None, "otherwise": f"no eta of the {name} regime has two batches"}
        return {"measure": error_ratio(self.errors, last & rows, rest & rows)}


_MEANS = f"geometric means over the cells at least a factor {CLOSE:g} inside"
TWENTIETH = Tolerance(0.05, f"ratio of errors, {_MEANS}; less than a twentieth is no difference")
COMPARABLE = Tolerance(0.1, f"ratio of errors, {_MEANS}; comparable is within a tenth")
SLIGHTLY = Tolerance(
    0.1, f"ratio of errors, {_MEANS}; slightly worse is above 1, by a fifth at most"
)
LOWER = f"ratio of errors, {_MEANS}; any difference"
SAME_SLOPE = (
    "slope of the logarithm of the error with early stopping in that without, over all cells where "
    "every seed was fitted: 1 is the same dependence, 0 none"
)
SAME = Tolerance(
    0.25, f"{SAME_SLOPE}; the tolerance is half way from the same dependence to half of it"
)


def same_dependence(id: str, says: str, end: Plane, early: Plane) -> Constant:
    """Errors with and without early stopping depend on learning rate and batch in the same way."""
    return Constant(id, says, equals=1, within=SAME, **_dependence(end, early))


def less_dependence(id: str, says: str, end: Plane, early: Plane) -> Below:
    """Most of the dependence of the error on learning rate and batch is gone."""
    reason = f"{SAME_SLOPE}; with more, most of it is left"
    return Below(id, says, bound=0.5, reason=reason, **_dependence(end, early))


def _dependence(end: Plane, early: Plane) -> dict[str, Any]:
    """The slope of one error in the other, both in logarithms, and why there may be none."""
    both = complete(end) & complete(early)
    slope = None
    if both.sum() >= 3:
        logs = np.stack([end.log_value[both], early.log_value[both]])
        x = seed_means(logs[0]) - logs[0].mean()

        def of(means: FloatArray) -> FloatArray:
            # With the same weights in all replicates: their noise in x would lower the slope again.
            return np.asarray((means[..., 1, :] @ x) / (means[..., 0, :] @ x))

        slope = estimate(logs, of)
    few = f"{both.sum()} cells where every seed was fitted: 3 needed"
    return {"measure": slope, "otherwise": few}


def slight_gain(id: str, says: str, end: Regimes, early: Regimes) -> Below:
    """What early stopping gains in GD, as a part of what GD lacks to the noise regime."""
    gd, noise = end.cells(GD) & early.cells(GD), end.cells(NOISE)
    reason = (
        "gain of GD by early stopping over the difference of GD and noise at the end, both in "
        f"logarithms, {_MEANS}; from one half on GD would be nearer to the noise regime than before"
    )
    how = end.none(NOISE if gd.any() else GD)
    if gd.any() and noise.any():
        cells = np.concatenate([end.errors.log_value[gd], early.errors.log_value[gd],
                                end.errors.log_value[noise]])  # fmt: skip
        parts = np.cumsum([gd.sum(), gd.sum()])

        def gain(logs: FloatArray) -> FloatArray:
            at_end, stopped, noisy = (part.mean(axis=-1) for part in np.split(logs, parts, axis=-1))
            return np.asarray((at_end - stopped) / (at_end - noisy))

        how = {"measure": estimate(cells, gain)}
    return Below(id, says, bound=0.5, reason=reason, **how)


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
    return estimate(errors.log_value[cells], lambda logs: 2.0 ** (logs @ weights))
