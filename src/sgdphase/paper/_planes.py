"""Phase planes of batch and learning rate (Figs. 1A to 1C): their picture, and claims (1) to (5).

The insides of the regimes are cut out by the boundaries alone (GD line, `B*`), not by the slopes of
their cells, so that the slopes measured in them can disagree with the regime's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sgdphase._typing import Mask
from sgdphase.diagram import PhaseDiagram, Plane
from sgdphase.paper._claim import TENTH, Above, Constant, Decide, Tolerance
from sgdphase.paper._figure import Figure
from sgdphase.paper._ledger import Scale
from sgdphase.paper._runs import Runs
from sgdphase.paper._settings import SettingAt, heading
from sgdphase.stats import Estimate, LogLinear, logarithms, loglinear

# Regimes, by the names that the cells of a diagram have.
NOISE, FIRST_STEP, GD = "noise-dominated", "first-step-dominated", "GD"


def regions(diagram: PhaseDiagram, away: float = 4.0) -> dict[str, Mask]:
    """The cells `[lr, batch]` of each regime at least a factor `away` from every boundary."""
    lr, batch = diagram.lr[:, None], diagram.batch[None, :]
    points, star = diagram.gd_line, diagram.critical_batch
    if not points or star is None:
        nowhere = np.zeros((lr.size, batch.size), dtype=np.bool_)
        return dict.fromkeys((NOISE, FIRST_STEP, GD), nowhere)
    log_batch, log_lr = np.log([(point.batch, point.lr.value) for point in points]).T
    line = np.exp(np.interp(np.log(batch), log_batch, log_lr))
    return {
        NOISE: (lr >= away * line) & (batch <= star.value / away),
        FIRST_STEP: (lr >= away * line) & (batch >= away * star.value),
        GD: lr <= line / away,
    }


# Directions in the plane of `log lr` and `log batch`; along the diagonal `lr / batch` is constant.
_DIRECTIONS = {"lr": (1, 0), "batch": (0, 1), "diagonal": (1, 1)}


def region_fit(plane: Plane, region: Mask, *variables: tuple[int, int]) -> LogLinear | None:
    """`log y` over a region, linear in variables given by their weights of `log lr`, `log batch`.

    `(1, -1)` is the logarithm of `T = lr / batch`. None where a variable does not vary, or with
    fewer than two cells more than variables.
    """
    log_y = logarithms(plane.value)
    i, j = np.nonzero(region & np.isfinite(log_y).any(axis=-1))
    log_x = np.stack([np.log(plane.lr[i]), np.log(plane.batch[j])], axis=1) @ np.array(variables).T
    if len(log_x) < 2 + len(variables) or (np.ptp(log_x, axis=0) == 0).any():
        return None
    return loglinear(log_x, log_y[i, j])


# Id, claim, observable, regime, and the direction in which the exponent is 0 or 1. An exponent
# within a tenth of an integer cannot be taken for that of another regime.
_EXPONENTS = (
    ("1", "noise-dominated: m is constant along T", "alignment", NOISE, "diagonal", 0),
    ("2a", "first-step: m is constant in B", "alignment", FIRST_STEP, "batch", 0),
    ("2b", "first-step: m is proportional to eta", "alignment", FIRST_STEP, "lr", 1),
    ("3a", "GD: m does not depend on eta", "alignment", GD, "lr", 0),
    ("3b", "GD: m does not depend on B", "alignment", GD, "batch", 0),
    ("5a", "noise-dominated: test error constant along T", "test_error", NOISE, "diagonal", 0),
    ("5b", "GD: test error does not depend on eta", "test_error", GD, "lr", 0),
    ("5c", "GD: test error does not depend on B", "test_error", GD, "batch", 0),
)


def phase_claims(runs: Runs, scale: Scale) -> list[Constant]:
    """(1) to (5): the alignment in each regime, the line between them, and the test error."""
    planes = {y: runs.plane(y) for y in ("alignment", "test_error")}
    diagram, inside = runs.diagram, regions(runs.diagram)
    claims = [
        line_claim("4a", "eta_c(B) has slope 1 below B*", diagram.slopes.get("below"), 1),
        line_claim("4b", "eta_c(B) has slope 0 above B*", diagram.slopes.get("above"), 0),
    ]
    few = "fewer than 4 cells well inside this regime"
    for id, says, observable, regime, along, predicted in _EXPONENTS:
        fit = region_fit(planes[observable], inside[regime], (1, 0), (0, 1))
        slope = fit.exponent(*_DIRECTIONS[along]) if fit else None
        claims.append(Constant(id, says, slope, equals=predicted, otherwise=few))
    return sorted(claims, key=lambda claim: claim.id)


# The slope of one side of the GD line.
LINE = Tolerance(0.15, "as regimes, with fewer points on the line")


def line_claim(id: str, says: str, slope: Estimate | None, predicted: float) -> Constant:
    """The slope of one side of the GD line."""
    few = "too few batches on this side of B*"
    return Constant(id, says, slope, equals=predicted, within=LINE, otherwise=few)


def growth_claim(id: str, says: str, plane: Plane, noise: Mask) -> Above:
    """A number grows with T over a region: its exponent is one that is not taken for 0."""
    fit = region_fit(plane, noise, (1, -1))
    reason = "exponent of T over the cells at least a factor 4 inside; up to a tenth counts as none"
    few = "fewer than 3 cells well inside the noise regime"
    return Above(id, says, fit.exponent(1) if fit else None, TENTH.size, reason, otherwise=few)


def draw_phases(runs: Runs, scale: Scale) -> Any:
    """Alignment and test error, side by side."""
    from sgdphase.diagram import draw_figure

    return draw_figure(runs.diagram)


def draw_network(runs: Runs, scale: Scale) -> Any:
    """The same under a line that says the setting."""
    picture = draw_phases(runs, scale)
    picture.suptitle(heading(runs), fontsize=10)
    return picture


def plane_figure(
    name: str, shows: str, at: SettingAt, draw: Callable[[Runs, Scale], Any], claims: Decide
) -> Figure:
    """A figure on the plane of a network."""
    return Figure(
        name,
        shows,
        plan=lambda scale: at(scale).plane,
        draw=draw,
        claims=[claims],
        remark=at("laptop").omissions(),
        reduced=True,
    )
