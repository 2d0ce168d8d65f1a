"""Figs. S5 and S6: networks at margin 1, each one plane and four observables (A-D).

S5 is the fully connected net on parity MNIST, S6 the CNN on CIFAR10, animals against the rest.
The weight change is no power of `T` or `lr` at this margin, so the lines are drawn as the paper
does: `lr_c(batch)` is where it is some factor above its value at `lr -> 0`, and `B*` is where the
diagonal and the horizontal part of that line meet. All panels draw these lines, and test errors of
one regime are compared with those of another within seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sgdphase._typing import FloatArray, Mask, Names
from sgdphase.diagram import PhaseDiagram, Plane, phase_diagram
from sgdphase.diagram._boundaries import Line, gd_line, line_branch
from sgdphase.diagram._style import new_figure
from sgdphase.paper._claim import Above, Below, Constant, Spec, Tolerance
from sgdphase.paper._figure import Figure
from sgdphase.paper._ledger import Claim
from sgdphase.paper._measure import estimate
from sgdphase.paper._planes import GD, NOISE, growth_claim, line_claim, plane_figure, regions
from sgdphase.paper._runs import Runs
from sgdphase.paper._settings import SettingAt, cnn_large_margin, fc_large_margin, heading
from sgdphase.stats import LEVEL, REPLICATES, Estimate, interval

# Letter of the panel: the observable, and its name.
PANELS = {
    "a": ("weight_change", r"weight change $\|\Delta w\|/\|w_0\|$"),
    "b": ("alignment", r"alignment $\langle y f\rangle$"),
    "c": ("test_error", r"test error $\epsilon$"),
    "d": ("test_error_early", r"test error $\epsilon$ with early stopping"),
}
# From the plane of a panel's observable and the lines, the panel's claims.
Claims = Callable[[Plane, PhaseDiagram], Sequence[Claim | Spec]]


def by_weight_change(runs: Runs, factor: float) -> PhaseDiagram:
    """The diagram with these lines, and each cell in the regime that they put it in."""
    plane = runs.plane("weight_change")
    rng = np.random.default_rng(0)
    line = gd_line(plane, lowest_rates(plane), factor, rng, REPLICATES)
    star = None if line is None else meeting(line)
    low, high = None, None
    if line is not None and star is not None:
        low = line_branch(line, line.batch <= star.value / 2, 1.0, LEVEL, rng)
        high = line_branch(line, line.batch >= star.value * 2, 0.0, LEVEL, rng)
    diagram = replace(
        phase_diagram(plane, factor=factor),
        gd_line=() if line is None else line.points(LEVEL),
        critical_batch=star,
        critical_temperature=low.level if low else None,
        first_step_lr=high.level if high else None,
        slopes={"below": low.slope if low else None, "above": high.slope if high else None},
        notes=(),
    )
    return replace(diagram, cells=_named_cells(diagram))


def lowest_rates(plane: Plane) -> Names:
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


def _named_cells(diagram: PhaseDiagram) -> tuple[Any, ...]:
    names = np.full((diagram.lr.size, diagram.batch.size), "unclear", dtype="U24")
    for name, region in regions(diagram, away=1.0).items():
        names[region] = name
    return tuple(
        cell if cell.regime in ("diverged", "missing") else replace(cell, regime=name)
        for cell, name in zip(diagram.cells, names.ravel().tolist(), strict=True)
    )


def line_claims(plane: Plane, lines: PhaseDiagram) -> list[Claim | Spec]:
    """Panel A: the line is diagonal, then horizontal, and the two meet inside the plane."""
    where = f"where the weight change is {lines.factor:g} x that of eta -> 0"
    return [
        line_claim("1a", f"{where}: slope 1 in B below B*", lines.slopes["below"], 1),
        line_claim("1b", f"{where}: slope 0 in B above B*", lines.slopes["above"], 0),
        _inside("1c", "the two lines meet at a B* inside the plane", lines),
    ]


def _inside(id: str, says: str, lines: PhaseDiagram) -> Claim:
    """A line that does not bend has its `B*` at one of its ends."""
    few = "the line is there for fewer than 4 batches"
    if lines.critical_batch is None:
        return Claim(id, says, None, None, few, "undecided")
    first, last = 2 * lines.gd_line[0].batch, lines.gd_line[-1].batch / 2
    rule = f"the interval of B* lies within {first:g} .. {last:g}, an octave from the line's ends"
    half = Tolerance((last - first) / 2, "")
    middle = Constant(id, says, lines.critical_batch, equals=(first + last) / 2, within=half)
    return replace(middle.decide(Runs(())), predicted=None, rule=rule)


def alignment_claims(plane: Plane, lines: PhaseDiagram) -> list[Claim | Spec]:
    """Panel B; in the main text: the output has to grow further to overcome the noise of SGD."""
    says = "the alignment grows with T in the noise-dominated regime"
    return [growth_claim("1", says, plane, regions(lines)[NOISE])]


def best_claim(id: str, says: str, errors: Plane, lines: PhaseDiagram) -> Below:
    """The lowest error is in the noise regime."""
    noise, ratio = regions(lines, away=1.0)[NOISE], None
    inside, outside = noise & complete(errors), ~noise & complete(errors)
    if inside.any() and outside.any():
        ratio = error_ratio(errors, lowest(errors, inside), lowest(errors, outside))
    reason = (
        "lowest error of the regime over the lowest of all other cells, each the lowest mean over "
        "seeds among cells where every seed was fitted"
    )
    no_cells = "no cells, or no others, in the noise regime"
    return Below(id, says, ratio, 1.0, reason, otherwise=no_cells)


TWENTIETH = Tolerance(
    0.05, "error of GD over that of the noise regime, geometric means over the cells at least a "
    "factor 4 inside; less than a twentieth is no difference",
)  # fmt: skip


def gd_claim(id: str, says: str, errors: Plane, lines: PhaseDiagram, *, worse: bool) -> Spec:
    """The error of GD is above that of the noise regime, or the same."""
    fitted, ratio = np.isfinite(errors.log_value).any(axis=-1), None
    inside = {name: region & fitted for name, region in regions(lines).items()}
    if inside[GD].any() and inside[NOISE].any():
        ratio = error_ratio(errors, inside[GD], inside[NOISE])
    no_cells = "no cells well inside both regimes"
    if worse:
        bound, reason = 1 + TWENTIETH.size, TWENTIETH.reason
        return Above(id, says, ratio, bound, reason, otherwise=no_cells)
    return Constant(id, says, ratio, equals=1, within=TWENTIETH, otherwise=no_cells)


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
    return estimate(errors.log_value[cells], lambda logs: 2.0 ** (logs @ weights))


def cell_means(plane: Plane) -> FloatArray:
    """Geometric means over the seeds that were fitted; NaN where there is none."""
    logs: Any = np.ma.masked_invalid(plane.log_value)
    return np.asarray(2.0 ** logs.mean(axis=-1).filled(np.nan))


def draw_panel(runs: Runs, lines: PhaseDiagram, letter: str) -> Any:
    """An observable as colours under the lines; errors with a star at the lowest."""
    from sgdphase.diagram import draw_lines, draw_names, draw_plane

    observable, label = PANELS[letter]
    figure, axes = new_figure(size=(5.0, 4.2))
    plane = runs.plane(observable)
    field = "test_error" if letter in "cd" else "value"
    cells: Any = zip(lines.cells, cell_means(plane).ravel().tolist(), strict=True)
    draw_plane(axes, replace(lines, cells=tuple(replace(c, **{field: v}) for c, v in cells)), field)
    figure.axes[-1].set_ylabel(label)
    draw_lines(axes, lines)
    if letter in "ab":
        draw_names(axes, lines)
    else:
        _same_colours(axes, runs)
        if complete(plane).any():
            i, j = np.argwhere(lowest(plane, complete(plane)))[0]
            place = np.log2([plane.batch[j], plane.lr[i]])
            axes.plot(*place, "*", ms=13, mfc="white", mec="black", mew=0.9, zorder=6)
    axes.set_title(heading(runs), fontsize=10)
    return figure


def _same_colours(axes: Any, runs: Runs) -> None:
    """Those of the errors at the end and with early stopping, so that panels C and D compare."""
    from matplotlib.colors import Normalize

    values = np.array([cell_means(runs.plane(PANELS[letter][0])) for letter in "cd"])
    if np.isfinite(values).any():
        axes.collections[0].set_norm(Normalize(np.nanmin(values), np.nanmax(values)))


def four_panels(
    name: str, of: str, at: SettingAt, factor: float, errors: Mapping[str, Claims]
) -> tuple[Figure, ...]:
    """A figure for each panel; `errors` are the claims of panels C and D."""

    def figure(letter: str, decide: Claims) -> Figure:
        observable, _ = PANELS[letter]
        what = observable.replace("_early", " with early stopping").replace("_", " ")
        return plane_figure(
            name + letter,
            f"{of} at margin 1 in (B, eta): {what}; lines where the weight change is {factor:g} x "
            "that of eta -> 0",
            at,
            lambda runs, scale: draw_panel(runs, by_weight_change(runs, factor), letter),
            lambda runs, scale: decide(runs.plane(observable), by_weight_change(runs, factor)),
        )

    claims = {"a": line_claims, "b": alignment_claims, **errors}
    return tuple(figure(letter, claims[letter]) for letter in PANELS)


BEST = "the lowest test error is in the noise-dominated regime"
BEST_EARLY = f"{BEST} with early stopping too"
GD_WORSE = "at the end of training GD is worse than noise-dominated SGD"
GD_SAME = "with early stopping GD is as good as noise-dominated SGD"
FIGURES = (
    *four_panels(
        "figS5",
        "the fully connected net on parity MNIST",
        fc_large_margin,
        1.3,
        {
            "c": lambda errors, lines: [best_claim("2", BEST, errors, lines)],
            "d": lambda errors, lines: [best_claim("3", BEST_EARLY, errors, lines)],
        },
    ),
    *four_panels(
        "figS6",
        "the CNN on CIFAR10 (animals against the rest)",
        cnn_large_margin,
        1.5,
        {
            "c": lambda errors, lines: [
                best_claim("2a", BEST, errors, lines),
                gd_claim("2b", GD_WORSE, errors, lines, worse=True),
            ],
            "d": lambda errors, lines: [gd_claim("2c", GD_SAME, errors, lines, worse=False)],
        },
    ),
)
