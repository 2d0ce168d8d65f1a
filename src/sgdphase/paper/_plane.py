"""How a number depends on lr and batch over a region of the plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sgdphase._typing import Mask
from sgdphase.diagram import PhaseDiagram, Plane
from sgdphase.stats import (
    LEVEL,
    REPLICATES,
    Estimate,
    interval,
    linear_fit,
    seed_means,
    seed_replicates,
)


@dataclass(frozen=True)
class Slopes:
    """Exponents of `m ~ lr^lr batch^batch`; `diagonal` is that along constant lr / batch."""

    lr: Estimate
    batch: Estimate
    diagonal: Estimate


def region_slopes(plane: Plane, region: Mask) -> Slopes | None:
    """A plane through `log m` over a region `[lr, batch]`; None with fewer than 4 cells."""
    usable = region & (np.isfinite(plane.value) & (plane.value > 0)).any(axis=-1)
    i, j = np.nonzero(usable)
    if len(i) < 4 or len(set(i)) < 2 or len(set(j)) < 2:
        return None
    log_m = np.full((len(i), plane.value.shape[-1]), np.nan)
    cells = plane.value[i, j]
    np.log(cells, out=log_m, where=cells > 0)
    log_lr, log_batch = np.log(plane.lr[i]), np.log(plane.batch[j])
    design = np.stack(
        [np.ones(len(i)), log_lr - log_lr.mean(), log_batch - log_batch.mean()], axis=1
    )
    rng = np.random.default_rng(0)
    fit, copies = linear_fit(
        design, seed_means(log_m), seed_replicates(log_m, rng, REPLICATES), rng
    )
    return Slopes(
        lr=interval(float(fit[1]), copies[:, 1], LEVEL),
        batch=interval(float(fit[2]), copies[:, 2], LEVEL),
        diagonal=interval(float(fit[1] + fit[2]), copies[:, 1] + copies[:, 2], LEVEL),
    )


def regions(diagram: PhaseDiagram, away: float = 4.0) -> dict[str, Mask]:
    """The insides of the regimes: cells at least a factor `away` from every boundary.

    They are cut out by the boundaries alone (GD line, `B*`), not by the slopes of their cells, so
    that the slopes measured in them can disagree with the regime's.
    """
    lr, batch = diagram.lr[:, None], diagram.batch[None, :]
    nowhere = np.zeros((lr.size, batch.size), dtype=np.bool_)
    if not diagram.gd_line or diagram.critical_batch is None:
        return dict.fromkeys(("noise", "first step", "GD"), nowhere)
    points = diagram.gd_line
    line = np.exp(
        np.interp(
            np.log(diagram.batch),
            np.log([point.batch for point in points]),
            np.log([point.lr for point in points]),
        )
    )[None, :]
    star = diagram.critical_batch.value
    return {
        "noise": (lr >= away * line) & (batch <= star / away),
        "first step": (lr >= away * line) & (batch >= away * star),
        "GD": lr <= line / away,
    }
