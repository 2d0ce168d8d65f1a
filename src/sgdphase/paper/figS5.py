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

from sgdphase._typing import FloatArray, Names
from sgdphase.diagram import PhaseDiagram, Plane, phase_diagram
from sgdphase.diagram._boundaries import Line, gd_line, line_branch
from sgdphase.diagram._style import new_figure
from sgdphase.paper._claim import Above, Below, Constant, Spec, verdict_of
from sgdphase.paper._errors import (
    COMPARABLE,
    LOWER,
    SLIGHTLY,
    TWENTIETH,
    Regimes,
    best_claim,
    less_dependence,
    same_dependence,
    slight_gain,
)
from sgdphase.paper._figure import Figure
from sgdphase.paper._ledger import Claim
from sgdphase.paper._planes import (
    FIRST_STEP,
    GD,
    NOISE,
    complete,
    line_claim,
    no_line,
    plane_figure,
    regions,
)
from sgdphase.paper._runs import Runs
from sgdphase.paper._settings import SettingAt, fc_large_margin, heading, mobilenet_large_margin
from sgdphase.stats import LEVEL, REPLICATES, Estimate, interval

# Letter of the panel: the observable, and its name.
PANELS = {
    "a": ("weight_change", r"weight change $\|\Delta w\|/\|w_0\|$"),
    "b": ("alignment", r"alignment $\langle y f\rangle$"),
    "c": ("test_error", r"test error $\epsilon$"),
    "d": ("test_error_early", r"test error $\epsilon$ with early stopping"),
}
# The lowest learning rates stand for `lr -> 0` if the weight change grows there with at most this
# power: if it is its limit plus a multiple of `lr`, it is then at most a quarter above the limit.
FLAT = 0.2
# From the runs and the lines, the claims of a panel.
Claims = Callable[[Runs, PhaseDiagram], Sequence[Claim | Spec]]


def by_weight_change(runs: Runs, factor: float) -> PhaseDiagram:
    """The diagram with these lines, and each cell in the regime that they put it in.

    It has none if the plane does not reach gradient descent, and a note that says so.
    """
    plane = runs.plane("weight_change")
    rng = np.random.default_rng(0)
    growth = lowest_growth(plane)
    line = gd_line(plane, lowest_rates(plane), factor, rng, REPLICATES) if growth <= FLAT else None
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
        notes=() if growth <= FLAT else (
            f"at the lowest eta of each batch the weight change still grows as eta^{growth:.2g}, "
            f"where at most {FLAT:g} is gradient descent",
        ),
    )  # fmt: skip
    return replace(diagram, cells=_named_cells(diagram))


def lowest_growth(plane: Plane) -> float:
    """The power with which a number grows between the two lowest learning rates of each batch.

    The mean over batches and seeds; infinite if no batch has two.
    """
    slopes = []
    for column in np.moveaxis(plane.log_value, 1, 0):  # [lr, seed]
        rows = np.flatnonzero(np.isfinite(column).any(axis=-1))[:2]
        if rows.size == 2:
            slopes.append(np.diff(column[rows], axis=0)[0] / np.diff(np.log2(plane.lr[rows])))
    each = np.array(slopes)
    return float(np.nanmean(each)) if np.isfinite(each).any() else np.inf


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
        names[region.cells] = name
    return tuple(
        cell if cell.regime in ("diverged", "missing") else replace(cell, regime=name)
        for cell, name in zip(diagram.cells, names.ravel().tolist(), strict=True)
    )


def line_claims(runs: Runs, lines: PhaseDiagram) -> list[Claim | Spec]:
    """Panel A: the line is diagonal, then horizontal, and the two meet inside the plane."""
    where = f"where the weight change is {lines.factor:g} x that of eta -> 0"
    return [
        line_claim("1a", f"{where}: slope 1 in B below B*", lines, "below", 1),
        line_claim("1b", f"{where}: slope 0 in B above B*", lines, "above", 0),
        _inside("1c", "the two lines meet at a B* inside the plane", lines),
    ]


def _inside(id: str, says: str, lines: PhaseDiagram) -> Claim:
    """A line that does not bend has its `B*` at one of its ends."""
    few = "the line is there for fewer than 4 batches"
    if lines.critical_batch is None:
        few = few if lines.gd_line else f"the plane does not have {no_line(lines)}"
        return Claim(id, says, None, None, few, "undecided")
    first, last = 2 * lines.gd_line[0].batch, lines.gd_line[-1].batch / 2
    rule = f"the interval of B* lies within {first:g} .. {last:g}, an octave from the line's ends"
    verdict, more_seeds = verdict_of(lines.critical_batch, first, last)
    return Claim(id, says, None, lines.critical_batch, rule, verdict, more_seeds=more_seeds)


def cell_means(plane: Plane) -> FloatArray:
    """Geometric means over the seeds that were fitted; NaN where there is none."""
    logs: Any = np.ma.masked_invalid(plane.log_value)
    return np.asarray(2.0 ** logs.mean(axis=-1).filled(np.nan))


def draw_panel(runs: Runs, lines: PhaseDiagram, letter: str) -> Any:
    """An observable as colours under the lines; errors with a star at the lowest."""
    from sgdphase.diagram import draw_legend, draw_lines, draw_names, draw_plane, draw_star

    observable, label = PANELS[letter]
    figure, axes = new_figure(size=(4.4, 3.9))
    means = cell_means(runs.plane(observable))
    field = "test_error" if letter in "cd" else "value"
    cells: Any = zip(lines.cells, means.ravel().tolist(), strict=True)
    drawn = replace(lines, cells=tuple(replace(c, **{field: v}) for c, v in cells))
    draw_plane(axes, drawn, field)
    figure.axes[-1].set_ylabel(label)
    draw_lines(axes, lines)
    if letter in "ab":
        draw_names(axes, lines)
    else:
        _same_colours(axes, runs)
        draw_star(axes, drawn)
    draw_legend(figure, lines)
    axes.set_title(f"({letter}) {heading(runs)}", fontsize=10, loc="left")
    return figure


def _same_colours(axes: Any, runs: Runs) -> None:
    """Those of the errors at the end and with early stopping, so that panels C and D compare."""
    from matplotlib.colors import Normalize

    planes = [runs.plane(PANELS[letter][0]) for letter in "cd"]
    values = np.concatenate([cell_means(plane)[complete(plane)] for plane in planes])
    if values.size:
        axes.collections[0].set_norm(Normalize(values.min(), values.max()))


def four_panels(
    name: str, of: str, at: SettingAt, factor: float, errors: Mapping[str, Claims]
) -> tuple[Figure, ...]:
    """A figure for each panel; `errors` are the claims of panels C and D. B has none."""
    claims: dict[str, Claims] = {"a": line_claims, **errors}

    def figure(letter: str) -> Figure:
        observable, _ = PANELS[letter]
        what = observable.replace("_early", " with early stopping").replace("_", " ")
        return plane_figure(
            name + letter,
            f"{of} at margin 1 in (B, eta): {what}; lines where the weight change is {factor:g} x "
            "that of eta -> 0",
            at,
            lambda runs: draw_panel(runs, by_weight_change(runs, factor), letter),
            (lambda runs: claims[letter](runs, by_weight_change(runs, factor)))
            if letter in claims
            else None,
        )

    return tuple(map(figure, PANELS))


BEST = "the lowest test error is in the noise-dominated regime"


def fc_at_the_end(runs: Runs, lines: PhaseDiagram) -> list[Claim | Spec]:
    """S5C."""
    end = Regimes.of(runs.plane("test_error"), lines)
    better = "first-step-dominated SGD is better than GD"
    less = "but less so than noise-dominated SGD"
    return [
        best_claim("2", BEST, end.errors, lines),
        Below("3", better, bound=1.0, reason=LOWER, **end.ratio(FIRST_STEP, GD)),
        Above("4", f"{better}, {less}", bound=1.0, reason=LOWER, **end.ratio(FIRST_STEP, NOISE)),
    ]


def fc_early(runs: Runs, lines: PhaseDiagram) -> list[Claim | Spec]:
    """S5D; that early stopping does not raise the error is by its definition."""
    end, early = (Regimes.of(runs.plane(PANELS[letter][0]), lines) for letter in "cd")
    same = "early stopping leaves the dependence of the test error on eta and B as it is"
    return [
        best_claim("2", f"with early stopping {BEST}", early.errors, lines),
        same_dependence("3", same, end.errors, early.errors),
        slight_gain("4", "early stopping helps GD slightly", end, early),
    ]


def cnn_at_the_end(runs: Runs, lines: PhaseDiagram) -> list[Claim | Spec]:
    """S6C."""
    end = Regimes.of(runs.plane("test_error"), lines)
    worse, bound = "at the end of training GD is worse than noise-dominated SGD", 1 + TWENTIETH.size
    largest = "first-step-dominated SGD is worse at the largest batch"
    about = "first-step-dominated SGD is about as good as GD (but for its largest batch)"
    return [
        best_claim("2a", BEST, end.errors, lines),
        Above("2b", worse, bound=bound, reason=TWENTIETH.reason, **end.ratio(GD, NOISE)),
        Constant("3a", about, equals=1, within=COMPARABLE,
                 **end.ratio(FIRST_STEP, GD, but_largest=True)),
        Above("3b", largest, bound=1.0, reason=LOWER, **end.at_largest_batch(FIRST_STEP)),
    ]  # fmt: skip


def cnn_early(runs: Runs, lines: PhaseDiagram) -> list[Claim | Spec]:
    """S6D."""
    end, early = (Regimes.of(runs.plane(PANELS[letter][0]), lines) for letter in "cd")
    gone = "with early stopping most of the dependence of the test error on eta and B is gone"
    same = "with early stopping GD is as good as noise-dominated SGD"
    worse = "with early stopping first-step-dominated SGD is slightly worse than GD"
    return [
        less_dependence("1", gone, end.errors, early.errors),
        Constant("2c", same, equals=1, within=TWENTIETH, **early.ratio(GD, NOISE)),
        Constant("3", worse, equals=1.1, within=SLIGHTLY, **early.ratio(FIRST_STEP, GD)),
    ]


NET = "the fully connected net on parity MNIST"
CNN = "the CNN on CIFAR10 (animals against the rest)"
FIGURES = (
    *four_panels("figS5", NET, fc_large_margin, 1.3, {"c": fc_at_the_end, "d": fc_early}),
    *four_panels("figS6", CNN, mobilenet_large_margin, 1.5, {"c": cnn_at_the_end, "d": cnn_early}),
)
