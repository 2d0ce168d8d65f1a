"""The picture: the observable and the test error side by side in the plane of batch and lr."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.diagram._phase import PhaseDiagram
from sgdphase.diagram._regimes import TARGETS
from sgdphase.diagram._style import new_figure, save
from sgdphase.errors import InputError, require_type
from sgdphase.stats import power_of_two_tex

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {
    "noise-dominated": "noise-\ndominated",
    "first-step-dominated": "first-step-\ndominated",
    "GD": "GD",
}
_HALF_A_NAME = 0.14  # in units of the panel, about
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
    out = check_picture(Path(path))
    try:
        save(draw_figure(diagram), out)
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror})") from None
    return out


def check_picture(path: Path) -> Path:
    """The path of a picture; `InputError` for a format that is not written."""
    if path.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InputError(f"{path}: must end in .png, .pdf or .svg")
    return path


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
    figure, panels = new_figure(len(fields), size=(4.9, 4.3))
    for axes, field in zip(np.ravel(panels), fields, strict=True):
        draw_plane(axes, diagram, field)
        draw_lines(axes, diagram)
        if field == "value":
            draw_names(axes, diagram)
        elif diagram.best is not None:
            place = np.log2([diagram.best.batch, diagram.best.lr])
            axes.plot(*place, "*", ms=13, mfc="white", mec="black", mew=0.9, zorder=6)
    return figure


def draw_plane(axes: Any, diagram: PhaseDiagram, field: str) -> None:
    """Draw a field of the cells as colours; black dots where runs diverged, grey without runs.

    Of `field`, such as "value" or "test_error". Axes are logarithms base 2, which the lines and
    names below rely on.
    """
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    values = diagram.grid(field).astype(np.float64)
    shown = np.ma.masked_invalid(values)
    positive = values[values > 0]
    wide = positive.size and not np.any(values == 0) and positive.max() > 2 * positive.min()
    norm = LogNorm(positive.min(), positive.max()) if wide else Normalize()
    axes.set_facecolor("0.88")
    mesh = axes.pcolormesh(
        _edges(diagram.batch),
        _edges(diagram.lr),
        shown,
        norm=norm,
        cmap="viridis" if field == "value" else "cividis",
        rasterized=True,
    )
    name = diagram.observable if field == "value" else field
    label = _LABELS.get(name, name.replace("_", " "))
    axes.figure.colorbar(mesh, ax=axes, pad=0.02).set_label(label)
    i, j = np.nonzero(diagram.grid("regime") == "diverged")
    axes.plot(np.log2(diagram.batch)[j], np.log2(diagram.lr)[i], "ko", ms=3.2)
    axes.set_xlabel(r"batch size $B$")
    axes.set_ylabel(r"learning rate $\eta$")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=7, integer=True))
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"${power_of_two_tex(2.0**x)}$"))


def draw_lines(axes: Any, diagram: PhaseDiagram) -> None:
    """Draw the GD line with its interval, `B*` and the first-step line, as far as there are any."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    dashed: Any = {
        "color": "black",
        "ls": (0, (5, 2.4)),
        "lw": 1.6,
        "path_effects": _halo(),
        "zorder": 4,
    }
    if diagram.gd_line:
        x = np.log2([p.batch for p in diagram.gd_line])
        y, low, high = np.log2([(p.lr.value, p.lr.low, p.lr.high) for p in diagram.gd_line]).T
        axes.fill_between(x, low, high, color="white", alpha=0.45, lw=0, zorder=3)
        axes.plot(x, y, **dashed)
        at = x.size // 4
        _write(axes, x[at], y[at] - 0.035 * (top - bottom), r"$\eta_c(B)$", ha="left", va="top")
    first_step_from = left
    if diagram.critical_batch is not None:
        b = diagram.critical_batch
        first_step_from = x_star = float(np.log2(b.value))
        foot = float(np.interp(x_star, x, y)) if diagram.gd_line else bottom  # on the GD line
        if np.isfinite(b.low):
            axes.fill_betweenx(
                [foot, top], *np.log2([b.low, b.high]), color="white", alpha=0.45, lw=0, zorder=3
            )
        axes.plot([x_star, x_star], [foot, top], **dashed)
        _write(
            axes, x_star + 0.015 * (right - left), top - 0.02 * (top - bottom), "$B^*$", va="top"
        )
    if diagram.first_step_lr is not None:
        height = float(np.log2(diagram.first_step_lr.value))
        dotted = {**dashed, "ls": (0, (1, 1.6)), "lw": 1.3}
        axes.plot([first_step_from, right], [height] * 2, **dotted)
    axes.set(xlim=(left, right), ylim=(bottom, top))


def draw_names(axes: Any, diagram: PhaseDiagram) -> None:
    """Write each regime's name in the middle of its region."""
    regime = diagram.grid("regime")
    x, y = np.meshgrid(np.log2(diagram.batch), np.log2(diagram.lr))
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    # In units of the panel; a name is wider than high, so room to the sides counts for more.
    u, v = (x - left) / (right - left), (y - bottom) / (top - bottom)
    for name in TARGETS:
        mine = regime == name
        if not mine.any():
            continue
        room = np.minimum(np.minimum(u, 1 - u), 1.6 * np.minimum(v, 1 - v))[mine]
        other = ~mine & (regime != "missing")
        if other.any():
            gap = np.hypot(u[mine][:, None] - u[other], 1.6 * (v[mine][:, None] - v[other]))
            room = np.minimum(room, gap.min(axis=1))
        # Of equally good places, their middle.
        good = room >= room.max() - 1e-9
        middle = np.clip(u[mine][good].mean(), _HALF_A_NAME, 1 - _HALF_A_NAME)
        place = left + middle * (right - left), y[mine][good].mean()
        _write(axes, *place, _NAMES[name], ha="center", weight="bold")


def _write(axes: Any, x: float, y: float, text: str, **how: Any) -> None:
    axes.text(x, y, text, path_effects=_halo(), zorder=5, **{"va": "center", **how})


def _halo() -> list[Any]:
    from matplotlib import patheffects

    return [patheffects.withStroke(linewidth=2.6, foreground="white", alpha=0.9)]


def _edges(grid: FloatArray) -> FloatArray:
    """Borders between cells, half-way in logarithm."""
    x = np.log2(grid)
    if x.size == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    middle = (x[1:] + x[:-1]) / 2
    return np.concatenate([[2 * x[0] - middle[0]], middle, [2 * x[-1] - middle[-1]]])
