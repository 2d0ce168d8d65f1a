"""The picture: the observable and the test error side by side in the plane of batch and lr."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sgdphase._typing import FloatArray, Mask
from sgdphase.diagram._phase import PhaseDiagram
from sgdphase.diagram._regimes import TARGETS
from sgdphase.diagram._style import new_figure, save
from sgdphase.errors import PICTURES, InputError, check_output, require_type
from sgdphase.stats import power_of_two_tex

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A name of a regime, half of its size in units of the panel, and that of its letters: where the
# first has no room, the second.
_NAMES = {
    "noise-dominated": (("noise-\ndominated", (0.19, 0.08), 9), ("noise", (0.08, 0.035), 8)),
    "first-step-dominated": (
        ("first-step-\ndominated", (0.19, 0.08), 9),
        ("first step", (0.12, 0.035), 8),
    ),
    "GD": (("GD", (0.14, 0.08), 9), ("GD", (0.06, 0.04), 8)),
}
PANEL = (3.7, 3.4)  # inches, with its colour bar: two panels and their letters fit a page
_GREY = "0.88"
_DASHED: Any = {"color": "black", "ls": (0, (5, 2.4)), "lw": 1.6, "zorder": 5}
_DOTTED: Any = {"color": "black", "ls": (0, (1, 2)), "lw": 1.0, "zorder": 3}
_STAR: Any = {"marker": "*", "ms": 13, "mfc": "white", "mec": "black", "mew": 0.9, "ls": "none",
              "zorder": 6}  # fmt: skip
_DIVERGED: Any = {"marker": "o", "color": "black", "ms": 3.2, "ls": "none"}
_PARTLY: Any = {"marker": "o", "mfc": "none", "mec": "black", "ms": 4.2, "mew": 0.8, "ls": "none"}
_LABELS = {
    "alignment": r"alignment $\langle y f\rangle$",
    "w1": r"$w_1$",
    "weight_change": r"weight change $\|\Delta w\|/\|w_0\|$",
    "test_error": r"test error $\epsilon$",
}


def draw(diagram: PhaseDiagram, path: str | Path) -> Path:
    """Write the picture of a diagram, and return its path.

    Parameters
    ----------
    diagram : PhaseDiagram
    path : str or Path
        It ends in .png, .pdf or .svg.

    Examples
    --------
    >>> from sgdphase.diagram import phase_diagram
    >>> runs = dict(lr=[1.0, 2.0], batch=[1, 1], seed=[0, 0], status=["fitted"] * 2,
    ...             alignment=[1.0, 2.0])
    >>> draw(phase_diagram(runs), "map.txt")
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: map.txt: must end in .png, .pdf or .svg
    """
    require_type("diagram", diagram, PhaseDiagram, "what `phase_diagram` returns")
    out = check_output(Path(path), PICTURES)
    try:
        save(draw_figure(diagram), out)
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror})") from None
    return out


def draw_figure(diagram: PhaseDiagram) -> Figure:
    """The picture as a matplotlib Figure: the observable, and the test error if there is one.

    Parameters
    ----------
    diagram : PhaseDiagram

    Examples
    --------
    >>> from sgdphase.diagram import phase_diagram
    >>> runs = dict(lr=[1.0, 2.0], batch=[1, 1], seed=[0, 0], status=["fitted"] * 2,
    ...             alignment=[1.0, 2.0])
    >>> len(draw_figure(phase_diagram(runs)).axes)  # one panel and its colour bar
    2
    """
    errors = diagram.grid("test_error")
    fields = ["value"] + (["test_error"] if np.isfinite(errors).any() else [])
    figure, panels = new_figure(len(fields), size=PANEL)
    for letter, axes, field in zip("ab", np.ravel(panels), fields, strict=False):
        draw_plane(axes, diagram, field)
        draw_lines(axes, diagram)
        if field == "value":
            draw_names(axes, diagram)
        else:
            draw_star(axes, diagram)
        if len(fields) > 1:
            axes.set_title(f"({letter})", loc="left", fontsize=10)
    draw_legend(figure, diagram)
    return figure


def draw_plane(axes: Any, diagram: PhaseDiagram, field: str) -> None:
    """Draw a field of the cells as colours.

    Of `field`, such as "value" or "test_error". Black dots are where runs diverged, open circles
    where a part of the seeds was fitted. Cells without a number are grey; for test errors also
    those with fewer seeds than others, as a mean over other seeds does not compare with them. Axes
    are logarithms base 2, which the lines and names below rely on.
    """
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    values = _errors(diagram) if field == "test_error" else diagram.grid(field).astype(np.float64)
    shown = np.ma.masked_invalid(values)
    positive = values[values > 0]
    wide = positive.size and not np.any(values == 0) and positive.max() > 2 * positive.min()
    norm = LogNorm(positive.min(), positive.max()) if wide else Normalize()
    axes.set_facecolor(_GREY)
    mesh = axes.pcolormesh(
        plane_edges(diagram.batch),
        plane_edges(diagram.lr),
        shown,
        norm=norm,
        cmap="viridis" if field == "value" else "cividis",
        rasterized=True,
    )
    name = diagram.observable if field == "value" else field
    label = _LABELS.get(name, name.replace("_", " "))
    axes.figure.colorbar(mesh, ax=axes, pad=0.02).set_label(label)
    x, y = np.log2(diagram.batch), np.log2(diagram.lr)
    for cells, look in ((diagram.grid("regime") == "diverged", _DIVERGED),
                        (_partly(diagram), _PARTLY)):  # fmt: skip
        i, j = np.nonzero(cells)
        if i.size:
            axes.plot(x[j], y[i], **look)
    axes.set_xlabel(r"batch size $B$")
    axes.set_ylabel(r"learning rate $\eta$")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"${power_of_two_tex(2.0**x)}$"))


def _errors(diagram: PhaseDiagram) -> FloatArray:
    """Test errors of the cells with as many seeds as any, of which the lowest is `diagram.best`."""
    fitted = diagram.grid("fitted")
    errors = diagram.grid("test_error").astype(np.float64)
    return np.asarray(np.where(fitted < fitted.max(), np.nan, errors))


def _partly(diagram: PhaseDiagram) -> Mask:
    """Cells where fewer seeds were fitted than in others, but some."""
    fitted = diagram.grid("fitted")
    return np.asarray(
        (fitted > 0) & (fitted < fitted.max()) & (diagram.grid("regime") != "diverged")
    )


def draw_star(axes: Any, diagram: PhaseDiagram) -> None:
    """Mark the lowest test error that is drawn."""
    errors = _errors(diagram)
    if np.isfinite(errors).any():
        i, j = np.unravel_index(np.nanargmin(errors), errors.shape)
        axes.plot(np.log2(diagram.batch[j]), np.log2(diagram.lr[i]), **_STAR)


def draw_legend(figure: Figure, diagram: PhaseDiagram) -> None:
    """Explain below the panels the lines and marks that they have."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if not figure.axes:
        return
    regime = diagram.grid("regime")
    entries: list[Any] = []
    if diagram.gd_line:
        name = diagram.observable.replace("_", " ")
        entries.append(Line2D([], [], **_DASHED, label=f"{name} {diagram.factor:g} x that of GD"))
    if diagram.critical_batch is not None and diagram.first_step_lr is not None:
        entries.append(Line2D([], [], **_DOTTED, label="first-step line"))
    drawn = {str(line.get_marker()) for axes in figure.axes for line in axes.lines}
    if "*" in drawn:
        entries.append(Line2D([], [], **_STAR, label="lowest error"))
    if (regime == "diverged").any():
        entries.append(Line2D([], [], **_DIVERGED, label="diverged"))
    if _partly(diagram).any():
        entries.append(Line2D([], [], **_PARTLY, label="not every seed fitted"))
    if np.isnan(diagram.grid("value").astype(np.float64)).any():
        entries.append(Patch(color=_GREY, label="not run, or not fitted"))
    if entries:
        look: Any = {"ncols": 6, "handlelength": 1.8, "columnspacing": 1.2}
        if figure.get_size_inches()[0] < 6:
            look = {"ncols": 3, "handlelength": 1.5, "columnspacing": 0.8, "handletextpad": 0.4}
        figure.legend(
            handles=entries, loc="outside lower center", fontsize=8, frameon=False, **look
        )


def draw_lines(axes: Any, diagram: PhaseDiagram) -> None:
    """Draw the GD line, `B*` and the first-step line, as far as there are any.

    Bars are their intervals, which leave the cells to be seen.
    """
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    bars: Any = {"fmt": "none", "ecolor": "black", "elinewidth": 0.8, "capsize": 1.8, "zorder": 4}
    first_step_from = left
    if diagram.critical_batch is not None:
        first_step_from = float(np.log2(diagram.critical_batch.value))
    if diagram.first_step_lr is not None:
        height = float(np.log2(diagram.first_step_lr.value))
        axes.plot([first_step_from, right], [height] * 2, **_DOTTED)
    if diagram.gd_line:
        x = np.log2([p.batch for p in diagram.gd_line])
        y, low, high = np.log2([(p.lr.value, p.lr.low, p.lr.high) for p in diagram.gd_line]).T
        axes.errorbar(x, y, np.nan_to_num([y - low, high - y]).clip(min=0), **bars)
        axes.plot(x, y, **_DASHED, path_effects=_halo())
        at = x.size // 4
        place = x[at] + 0.03 * (right - left), y[at] - 0.045 * (top - bottom)
        _write(axes, *place, r"$\eta_c(B)$", ha="left", va="top")
    if diagram.critical_batch is not None:
        b, x_star = diagram.critical_batch, first_step_from
        foot = float(np.interp(x_star, x, y)) if diagram.gd_line else bottom  # on the GD line
        axes.plot([x_star, x_star], [foot, top], **_DASHED, path_effects=_halo())
        if np.isfinite(b.low):
            sides = [[x_star - np.log2(b.low)], [np.log2(b.high) - x_star]]
            axes.errorbar([x_star], [top - 0.14 * (top - bottom)], xerr=sides, **bars)
        place = x_star + 0.02 * (right - left), top - 0.02 * (top - bottom)
        _write(axes, *place, "$B^*$", va="top")
    axes.set(xlim=(left, right), ylim=(bottom, top))


def draw_names(axes: Any, diagram: PhaseDiagram) -> None:
    """Write each regime's name into its region, where it is furthest from lines and other cells."""
    regime = diagram.grid("regime")
    x, y = np.meshgrid(np.log2(diagram.batch), np.log2(diagram.lr))
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    u, v = (x - left) / (right - left), (y - bottom) / (top - bottom)  # units of the panel
    drawn = _drawn_points(axes)
    for name in TARGETS:
        mine = regime == name
        if not mine.any():
            continue
        avoid = np.concatenate([drawn, np.stack([u[~mine], v[~mine]], axis=1)])
        own = np.stack([u[mine], v[mine]], axis=1)
        middles = (own[:, None] + own[None]).reshape(-1, 2) / 2  # between the cells too
        for written in _NAMES[name]:
            half = written[1]
            places = np.clip(np.concatenate([own, middles]), half, 1 - np.array(half)).round(4)
            places = np.unique(places, axis=0)
            clear = np.abs((places[:, None] - avoid) / half).max(axis=2).min(axis=1, initial=9.0)
            if clear.max() > 0.9:  # else the next is shorter
                break
        else:
            if clear.max() < 0.6:  # it would hide what is drawn
                continue
        good = places[clear >= clear.max() - 0.02]
        # Of equally good places, the one nearest to their middle.
        at = good[np.linalg.norm(good - good.mean(axis=0), axis=1).argmin()]
        place = left + at[0] * (right - left), bottom + at[1] * (top - bottom)
        text, _, size = written
        _write(axes, *place, text, ha="center", weight="bold", fontsize=size)


def _drawn_points(axes: Any) -> FloatArray:
    """Points of the lines and labels of a panel, close to each other, in units of the panel."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    points = [np.empty((0, 2))]
    marks = [line for line in axes.lines if line.get_linestyle() == "None"]
    points += [np.asarray(line.get_xydata(), dtype=np.float64) for line in marks]
    paths = [line.get_xydata() for line in axes.lines if line not in marks]
    for part in (part for each in axes.containers for part in each.lines[2]):
        paths += part.get_segments()
    for path in paths:
        x, y = np.asarray(path, dtype=np.float64).T
        at, fine = np.arange(len(x)), np.linspace(0, len(x) - 1, 40 * len(x))
        points.append(np.stack([np.interp(fine, at, x), np.interp(fine, at, y)], axis=1))
    for text in axes.texts:  # about a tenth of the panel wide, and aligned at the top left
        shifts = np.array([[0.0, -0.03], [0.06, -0.03], [0.12, -0.03]])
        points.append(np.array(text.get_position()) + shifts * [right - left, top - bottom])
    every = np.concatenate(points)
    return np.asarray((every - [left, bottom]) / [right - left, top - bottom])


def _write(axes: Any, x: float, y: float, text: str, **how: Any) -> None:
    axes.text(x, y, text, path_effects=_halo(), zorder=5, **{"va": "center", **how})


def _halo() -> list[Any]:
    from matplotlib import patheffects

    return [patheffects.withStroke(linewidth=2.6, foreground="white", alpha=0.9)]


def plane_edges(grid: FloatArray) -> FloatArray:
    """Borders between cells, half-way in logarithm."""
    x = np.log2(grid)
    if x.size == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    middle = (x[1:] + x[:-1]) / 2
    return np.concatenate([[2 * x[0] - middle[0]], middle, [2 * x[-1] - middle[-1]]])
