"""Regimes by the weight change, for networks at margin 1 (Figs. S5A, S6A).

The weight change is no power of `T` or `lr` there, so the lines are drawn as the paper does:
`lr_c(batch)` is where it is some factor above its value at `lr -> 0`, and `B*` is where the
diagonal and the horizontal part of that line meet.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sgdphase._typing import FloatArray
from sgdphase.diagram import PhaseDiagram, Plane, phase_diagram, plane_from_table
from sgdphase.diagram._boundaries import Line, gd_line, line_branch
from sgdphase.diagram._phase import LinePoint
from sgdphase.paper._phase import line_claim
from sgdphase.paper._plane import regions
from sgdphase.paper.claim import Claim, equal, untested
from sgdphase.paper.runs import Runs
from sgdphase.stats import LEVEL, REPLICATES, Estimate, interval

NAMES = {"noise": "noise-dominated", "first step": "first-step-dominated", "GD": "GD"}


def by_weight_change(runs: Runs, factor: float) -> PhaseDiagram:
    """The diagram with these lines, and each cell in the regime that they put it in."""
    plane = plane_from_table(runs.table(), observable="weight_change")
    rng = np.random.default_rng(0)
    line = gd_line(plane, lowest_rates(plane), factor, rng, REPLICATES)
    star = None if line is None else meeting(line)
    below, above = None, None
    if line is not None and star is not None:
        below = line_branch(line, line.batch <= star.value / 2, 1.0, LEVEL, rng)
        above = line_branch(line, line.batch >= star.value * 2, 0.0, LEVEL, rng)
    points = [] if line is None else line.estimates(LEVEL)
    return _named(
        replace(
            phase_diagram(plane, factor=factor),
            gd_line=tuple(LinePoint(b, e.value, e.low, e.high) for b, e in points),
            critical_batch=star,
            critical_temperature=below.level if below else None,
            first_step_lr=above.level if above else None,
            slopes={
                "below": below.slope if below else None,
                "above": above.slope if above else None,
            },
            notes=(),
        )
    )


def lowest_rates(plane: Plane) -> NDArray[np.str_]:
    """The cells that stand for `lr -> 0`, named GD: the lowest learning rate of each batch."""
    fitted = np.isfinite(plane.log_value).any(axis=-1)
    return np.where(fitted & (np.cumsum(fitted, axis=0) == 1), "GD", "unclear")


def meeting(line: Line) -> Estimate | None:
    """`B*` of `log lr_c = c + slope min(log batch, log B*)` by least squares, rising at first.

    It is near the first or the last batch of a line that does not bend, and None with fewer than 4.
    """
    x = np.log2(line.batch)
    if x.size < 4:
        return None
    stars = np.linspace(x[0], x[-1], 1 + 32 * round(x[-1] - x[0]))[1:]
    shapes = np.minimum(x, stars[:, None])
    shapes -= shapes.mean(axis=1, keepdims=True)
    shapes /= np.linalg.norm(shapes, axis=1, keepdims=True)

    def best(y: FloatArray) -> float:
        explained = shapes @ (y - y.mean())
        return float(2.0 ** stars[explained.argmax()]) if np.isfinite(y).all() else float("nan")

    return interval(best(line.log_lr), np.array([best(y) for y in line.replicates]), LEVEL)


def _named(diagram: PhaseDiagram) -> PhaseDiagram:
    names = np.full((diagram.lr.size, diagram.batch.size), "unclear", dtype="U24")
    for name, region in regions(diagram, away=1.0).items():
        names[region] = NAMES[name]
    cells = tuple(
        cell if cell.regime in ("diverged", "missing") else replace(cell, regime=name)
        for cell, name in zip(diagram.cells, names.ravel().tolist(), strict=True)
    )
    return replace(diagram, cells=cells)


def line_claims(id: str, diagram: PhaseDiagram) -> list[Claim]:
    """The line is diagonal, then horizontal, and the two meet inside the plane."""
    where = f"where the weight change is {diagram.factor:g} x that of eta -> 0"
    slopes = diagram.slopes
    return [
        line_claim(f"{id}.1a", f"{where}: slope 1 in B below B*", slopes["below"], 1),
        line_claim(f"{id}.1b", f"{where}: slope 0 in B above B*", slopes["above"], 0),
        _inside(f"{id}.1c", "the two lines meet at a B* inside the plane", diagram),
    ]


def _inside(id: str, claim: str, diagram: PhaseDiagram) -> Claim:
    """A line that does not bend has its `B*` at one of its ends."""
    if diagram.critical_batch is None:
        return untested(id, claim, None, "the line is there for fewer than 4 batches")
    first, last = 2 * diagram.gd_line[0].batch, diagram.gd_line[-1].batch / 2
    rule = f"the interval of B* lies within {first:g} .. {last:g}, an octave from the line's ends"
    middle, half = (first + last) / 2, (last - first) / 2
    decided = equal(id, claim, diagram.critical_batch, middle, half, "")
    return replace(decided, predicted=None, rule=rule)
