"""The four panels of networks at margin 1 (Figs. S5, S6): one plane, four observables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.colors import Normalize

from sgdphase.diagram import PhaseDiagram, Plane, phase_diagram, plane_from_table
from sgdphase.diagram._draw import draw_lines, draw_names, draw_plane
from sgdphase.diagram._style import new_figure
from sgdphase.paper._error_regimes import complete, lowest
from sgdphase.paper._phase import growth_claim
from sgdphase.paper._plane import regions
from sgdphase.paper._weight_lines import by_weight_change, line_claims
from sgdphase.paper.captions import omissions, title, write_left_out
from sgdphase.paper.claim import Claim
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs
from sgdphase.paper.settings import Setting

# Letter of the panel: the observable, and its name.
PANELS = {
    "a": ("weight_change", r"weight change $\|\Delta w\|/\|w_0\|$"),
    "b": ("alignment", r"alignment $\langle y f\rangle$"),
    "c": ("test_error", r"test error $\epsilon$"),
    "d": ("test_error_early", r"test error $\epsilon$ with early stopping"),
}

# From the name of the figure, the plane of the panel's observable, and the lines.
Claims = Callable[[str, Plane, PhaseDiagram], list[Claim]]


def regimes(id: str, plane: Plane, lines: PhaseDiagram) -> list[Claim]:
    """Panel A."""
    return line_claims(id, lines)


def alignment(id: str, plane: Plane, lines: PhaseDiagram) -> list[Claim]:
    """Panel B; in the main text: the output has to grow further to overcome the noise of SGD."""
    claim = "the alignment grows with T in the noise-dominated regime"
    return [growth_claim(f"{id}.1", claim, plane, regions(lines)["noise"])]


def figures(
    name: str, of: str, at: Callable[[Scale], Setting], factor: float, claims: Mapping[str, Claims]
) -> tuple[Figure, ...]:
    """A figure for each panel; all draw the lines of the weight change."""
    return tuple(_figure(name, of, at, factor, letter, claims[letter]) for letter in PANELS)


def _figure(
    name: str,
    of: str,
    at: Callable[[Scale], Setting],
    factor: float,
    letter: str,
    decide: Claims,
) -> Figure:
    id, (observable, label) = name + letter, PANELS[letter]
    what = observable.replace("_early", " with early stopping").replace("_", " ")

    def draw(runs: Runs, scale: Scale) -> Any:
        picture = draw_panel(runs, by_weight_change(runs, factor), observable, label)
        picture.axes[0].set_title(title(at(scale)), fontsize=10)
        write_left_out(picture, at(scale).plane(), at("paper").plane())
        return picture

    def claims(runs: Runs, scale: Scale) -> list[Claim]:
        plane = plane_from_table(runs.table(), observable=observable)
        return decide(id, plane, by_weight_change(runs, factor))

    return Figure(
        id,
        f"{of} at margin 1 in (B, eta): {what}; lines where the weight change is {factor:g} x "
        "that of eta -> 0",
        lambda scale: at(scale).plane(),
        draw,
        claims,
        remark=omissions(at("laptop")),
    )


def draw_panel(runs: Runs, lines: PhaseDiagram, observable: str, label: str) -> Any:
    """An observable as colours under the lines; errors with a star at the lowest."""
    figure, axes = new_figure(size=(5.0, 4.2))
    plane = plane_from_table(runs.table(), observable=observable)
    is_error = observable.startswith("test_error")
    field = "test_error" if is_error else "value"
    values = phase_diagram(plane).grid("value").ravel().tolist()
    cells = zip(lines.cells, values, strict=True)
    draw_plane(axes, replace(lines, cells=tuple(replace(c, **{field: v}) for c, v in cells)), field)
    figure.axes[-1].set_ylabel(label)
    draw_lines(axes, lines)
    if not is_error:
        draw_names(axes, lines)
    else:
        _same_colours(axes, runs)
        if complete(plane).any():
            i, j = np.argwhere(lowest(plane, complete(plane)))[0]
            place = np.log2([plane.batch[j], plane.lr[i]])
            axes.plot(*place, "*", ms=13, mfc="white", mec="black", mew=0.9, zorder=6)
    return figure


def _same_colours(axes: Any, runs: Runs) -> None:
    """Those of the errors at the end and with early stopping, so that panels C and D compare."""
    table = runs.table()
    planes = [plane_from_table(table, observable=PANELS[letter][0]) for letter in "cd"]
    values = np.concatenate([phase_diagram(plane).grid("value").ravel() for plane in planes])
    values = values[np.isfinite(values)]
    if values.size:
        axes.collections[0].set_norm(Normalize(values.min(), values.max()))
