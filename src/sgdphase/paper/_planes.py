"""Phase planes of batch and learning rate (Figs. 1A to 1C): their picture, and claims (1) to (5).

The insides of the regimes are cut out by the boundaries alone (GD line, `B*`), not by the slopes of
their cells, so that the slopes measured in them can disagree with the regime's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sgdphase._typing import FloatArray, Mask
from sgdphase.diagram import PhaseDiagram, Plane
from sgdphase.paper._claim import TENTH, Constant, Decide, Tolerance
from sgdphase.paper._figure import Figure
from sgdphase.paper._measure import AWAY
from sgdphase.paper._runs import Runs
from sgdphase.paper._settings import SettingAt, heading
from sgdphase.stats import (
    REPLICATES,
    Estimate,
    LogLinear,
    interval,
    logarithms,
    loglinear,
    seed_means,
    seed_replicates,
)

# Regimes, by the names that the cells of a diagram have.
NOISE, FIRST_STEP, GD = "noise-dominated", "first-step-dominated", "GD"


@dataclass(frozen=True)
class Region:
    """The cells of a regime at least a factor `away` from each boundary that bounds it.

    `lacks` names a boundary that the plane does not have: then there are no cells.
    """

    name: str
    cells: Mask
    away: float
    lacks: str = ""

    def too_few(self, needed: int, among: Mask | None = None) -> str:
        """Why a number cannot be measured that takes so many cells."""
        if self.lacks:
            return f"the plane does not have {self.lacks}, which bounds the {self.name} regime"
        inside = int((self.cells if among is None else self.cells & among).sum())
        cells = f"{inside} fitted cell{'s' * (inside != 1)}"
        where = f"at least a factor {self.away:g} inside the {self.name} regime"
        return f"{cells} {where}: {needed} needed"


def regions(diagram: PhaseDiagram, away: float = AWAY) -> dict[str, Region]:
    """The cells `[lr, batch]` of each regime.

    Gradient descent is bounded by the GD line alone, and is taken from the smallest batch of the
    line on: to the left the line falls. The other two are bounded by `B*` and by the line, or,
    at a batch where the plane does not reach it, by an upper bound of it.
    """
    lr, batch = diagram.lr[:, None], diagram.batch[None, :]
    star, nowhere = diagram.critical_batch, np.zeros((lr.size, batch.size), dtype=np.bool_)
    without = "B*" if diagram.gd_line else no_line(diagram)
    inside = {name: Region(name, nowhere, away, without) for name in (NOISE, FIRST_STEP)}
    if star is not None:
        hot = lr >= away * upper_line(diagram)
        inside[NOISE] = Region(NOISE, hot & (batch <= star.value / away), away)
        inside[FIRST_STEP] = Region(FIRST_STEP, hot & (batch >= away * star.value), away)
    inside[GD] = Region(GD, nowhere, away, no_line(diagram))
    if diagram.gd_line:
        cold = (lr <= line_at(diagram, batch) / away) & (batch >= diagram.gd_line[0].batch)
        inside[GD] = Region(GD, cold, away)
    return inside


def no_line(diagram: PhaseDiagram) -> str:
    """The line that a plane lacks, with the reason."""
    return " ".join(["the GD line", *(f"({note})" for note in diagram.notes)])


def line_at(diagram: PhaseDiagram, batch: FloatArray) -> FloatArray:
    """The GD line at any batch, constant beyond its ends."""
    x, y = np.log([(point.batch, point.lr.value) for point in diagram.gd_line]).T
    return np.asarray(np.exp(np.interp(np.log(batch), x, y)))


def upper_line(diagram: PhaseDiagram) -> FloatArray:
    """The GD line, or an upper bound of it, at each batch of the plane; infinite without any.

    The bound is the lowest learning rate around which the observable grows with a slope above 1/2.
    """
    grows = diagram.grid("slope_lr") > 0.5
    bound = np.where(grows, diagram.lr[:, None], np.inf).min(axis=0)
    if not diagram.gd_line:
        return np.asarray(bound)
    first, last = diagram.gd_line[0].batch, diagram.gd_line[-1].batch
    there = (first <= diagram.batch) & (diagram.batch <= last)
    return np.asarray(np.where(there, line_at(diagram, diagram.batch), bound))


# Directions in the plane of `log lr` and `log batch`; along the diagonal `lr / batch` is constant.
_DIRECTIONS = {"lr": (1, 0), "batch": (0, 1), "diagonal": (1, 1)}


def fit_along(plane: Plane, region: Mask, along: str, *, bend: bool = False) -> LogLinear | None:
    """`log y` along the lines of a region in a direction: one slope, and a level per line.

    So nothing is assumed of how `y` changes from line to line: what depends on `T` alone need not
    be a power of it. The slope is the first exponent; with `bend`, the second is the coefficient of
    the square of the distance from the centre. None with too few cells.
    """
    place, line, log_y = _on_lines(plane, region, along)
    several = np.bincount(line)[line] > 1
    if not several.any():
        return None
    place, line, log_y = place[several], line[several], log_y[several]
    powers = [place, (place - place.mean()) ** 2] if bend else [place]
    x = np.column_stack([*powers, line[:, None] == np.unique(line)[1:]])
    if len(x) < x.shape[1] + 2:
        return None
    if np.linalg.matrix_rank(x - x.mean(axis=0), tol=1e-6) < x.shape[1]:
        return None
    return loglinear(x, log_y)


def extent(plane: Plane, region: Mask, along: str) -> float:
    """How far the cells of a region reach in a direction: its longest line, in logarithms."""
    place, line, _ = _on_lines(plane, region, along)
    return max((float(np.ptp(place[line == each])) for each in np.unique(line)), default=0.0)


def _on_lines(plane: Plane, region: Mask, along: str) -> tuple[FloatArray, Any, FloatArray]:
    """Of the fitted cells of a region: place on the line, number of the line, and `log y`."""
    i, j = np.nonzero(region & some_fitted(plane))
    places = np.stack([np.log(plane.lr[i]), np.log(plane.batch[j])], axis=1)
    lr, batch = _DIRECTIONS[along]
    across = (places @ (-batch, lr)).round(6)
    line = np.unique(across, return_inverse=True)[1]
    return places @ (lr, batch) / (lr + batch), line, logarithms(plane.value[i, j])


def some_fitted(plane: Plane) -> Mask:
    """The cells where a seed was fitted."""
    return np.asarray(np.isfinite(plane.log_value).any(axis=-1))


def complete(plane: Plane) -> Mask:
    """The cells where every seed was fitted."""
    return np.asarray(np.isfinite(plane.log_value).all(axis=-1))


def relative_change(plane: Plane, region: Mask, along: str) -> Estimate | None:
    """The change of a number over a region in a direction, over its variation in the panel.

    The change is the slope of the logarithm times the extent, or, with a parabola, the ends over
    the middle: the one whose interval reaches further from 0. The variation is the logarithm of the
    highest over the lowest (geometric) mean over seeds, among cells where every seed was fitted.
    """
    length = extent(plane, region, along)
    trend, bent = (fit_along(plane, region, along, bend=bend) for bend in (False, True))
    whole = logarithms(plane.value[complete(plane)])
    if trend is None or length == 0 or len(whole) < 2:
        return None
    means = seed_means(whole)
    ends = [means.argmax(), means.argmin()]
    # The replicates of the fits draw the same weights of seeds. The two cells stay the same: the
    # extremes of a replicate would have its noise on top of that of the means.
    copies = seed_replicates(whole, np.random.default_rng(0), REPLICATES)[:, ends]
    variation, variations = float(np.ptp(means)), copies[:, 0] - copies[:, 1]
    if not np.isfinite(variations).all():
        variations = np.full(REPLICATES, variation)

    def change(fit: LogLinear, number: int, times: float) -> Estimate:
        changes = times * fit.replicates[:, 1 + number] / variations
        value = times * float(fit.exponents[number]) / variation
        return replace(interval(value, changes), misfit=fit.misfit)

    slope = change(trend, 0, length)
    bend = change(bent, 1, (length / 2) ** 2) if bent else slope
    return max(slope, bend, key=lambda each: max(-each.low, each.high))


# Id, claim, regime, and the direction in which the exponent of the alignment is 0 or 1.
_EXPONENTS = (
    ("1", "noise-dominated: m is constant along T", NOISE, "diagonal", 0),
    ("2a", "first-step: m is constant in B", FIRST_STEP, "batch", 0),
    ("2b", "first-step: m is proportional to eta", FIRST_STEP, "lr", 1),
    ("3a", "GD: m does not depend on eta", GD, "lr", 0),
    ("3b", "GD: m does not depend on B", GD, "batch", 0),
)
_ERRORS = (
    ("5a", "noise-dominated: test error constant along T", NOISE, "diagonal"),
    ("5b", "GD: test error does not depend on eta", GD, "lr"),
    ("5c", "GD: test error does not depend on B", GD, "batch"),
)
APPROXIMATELY = Tolerance(0.5, "approximately proportional: closer to 1 than to 0 or to 2")
OF_THE_PANEL = Tolerance(
    0.1, "change over the regime, as a part of the panel's variation, which is what regimes could "
    "differ by; a tenth of it is no dependence",
)  # fmt: skip
# At chi = 0.
FIXED_PART = (
    "at chi = 0, B* is a fixed part of P (P/4 by the theory), so that at no P several batches lie "
    "above 4 B*"
)


def phase_claims(runs: Runs) -> list[Constant]:
    """(1) to (5): the alignment in each regime, the line between them, and the test error."""
    perceptron = runs.runs[0].training.model == "perceptron"
    first_step = FIXED_PART if perceptron and runs.only("chi") == 0 else ""
    if perceptron:
        runs = runs.with_exact_errors
    m, errors = runs.plane(), runs.plane("test_error")
    diagram, inside = runs.diagram, regions(runs.diagram)
    above = "eta_c(B) has slope 0 above B*"
    claims = [
        line_claim("4a", "eta_c(B) has slope 1 below B*", diagram, "below", 1),
        line_claim("4b", above, diagram, "above", 0, untestable=first_step),
    ]
    for id, says, regime, along, predicted in _EXPONENTS:
        fit = fit_along(m, inside[regime].cells, along)
        within, never = TENTH, first_step if regime == FIRST_STEP else ""
        if id == "2b" and not perceptron:
            says, within = says.replace("is", "is approximately"), APPROXIMATELY
        slope = fit.exponent(1) if fit else None
        few = _few(inside[regime], m)
        how: Any = {"equals": predicted, "within": within, "otherwise": few, "untestable": never}
        claims.append(Constant(id, says, slope, **how))
    for id, says, regime, along in _ERRORS:
        change = relative_change(errors, inside[regime].cells, along)
        few = _few(inside[regime], errors)
        claims.append(Constant(id, says, change, equals=0, within=OF_THE_PANEL, otherwise=few))
    return sorted(claims, key=lambda claim: claim.id)


def _few(region: Region, plane: Plane) -> str:
    fitted = some_fitted(plane)
    if not region.lacks and (region.cells & fitted).sum() >= 4:
        return f"too few cells inside the {region.name} regime share a line in this direction"
    return region.too_few(4, fitted)


# The slope of one side of the GD line.
LINE = Tolerance(0.15, "as regimes, with fewer points on the line")


def line_claim(
    id: str, says: str, diagram: PhaseDiagram, side: str, predicted: float, *, untestable: str = ""
) -> Constant:
    """The slope of the GD line on one `side` of `B*`, "below" or "above"."""
    if diagram.critical_batch is None or not diagram.gd_line:
        few = f"the plane does not have {'B*' if diagram.gd_line else no_line(diagram)}"
    else:
        star, on = diagram.critical_batch.value, [point.batch for point in diagram.gd_line]
        there = sum(b <= star / 2 if side == "below" else b >= star * 2 for b in on)
        few = f"the line is there for {there} of the batches a factor 2 {side} B*: 2 needed"
    slope = diagram.slopes.get(side)
    how: Any = {"equals": predicted, "otherwise": few, "untestable": untestable}
    return Constant(id, says, slope, within=LINE, **how)


def draw_phases(runs: Runs) -> Any:
    """Alignment and test error, side by side, under a line that says the setting."""
    from sgdphase.diagram import draw_figure

    if runs.runs[0].training.model == "perceptron":
        runs = runs.with_exact_errors
    picture = draw_figure(runs.diagram)
    picture.suptitle(heading(runs), fontsize=10)
    return picture


def plane_figure(
    name: str, shows: str, at: SettingAt, draw: Callable[[Runs], Any], claims: Decide | None
) -> Figure:
    """A figure on the plane of a network."""
    return Figure(
        name,
        shows,
        plan=lambda scale: at(scale).plane,
        draw=draw,
        claims=[claims] if claims else [],
        remark=at("laptop").omissions(),
    )
