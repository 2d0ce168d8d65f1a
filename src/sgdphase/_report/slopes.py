"""The slopes of a training among those of the three regimes."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Circle

from sgdphase._diagnose.fitted.answer import FittedDiagnosis
from sgdphase._report._drawing import COLOURS, has_interval
from sgdphase.diagram import TARGETS
from sgdphase.diagram._regimes import REACH
from sgdphase.diagram._style import new_figure

__all__ = ["slopes_picture"]


def slopes_picture(diagnosis: FittedDiagnosis) -> Figure | None:
    """The slopes with their intervals among those of the three regimes; None without intervals."""
    x, y = diagnosis.slopes.get("lr"), diagnosis.slopes.get("batch")
    if x is None or y is None or not (has_interval(x) and has_interval(y)):
        return None
    figure, axes = new_figure(size=(5.4, 4.6))
    for name, (u, v) in TARGETS.items():
        axes.add_patch(Circle((u, v), REACH, color=COLOURS[name], alpha=0.16, lw=0))
        axes.plot(u, v, "+", color=COLOURS[name], ms=9, mew=1.6)
        axes.text(u, v - 0.32, name.replace("-step-", "-step-\n").replace("noise-", "noise-\n"),
                  color=COLOURS[name], ha="center", va="center", fontsize=9)  # fmt: skip
    axes.errorbar(
        x.value, y.value,
        xerr=[[max(x.value - x.low, 0)], [max(x.high - x.value, 0)]],
        yerr=[[max(y.value - y.low, 0)], [max(y.high - y.value, 0)]],
        fmt="*", ms=13, mfc="white", mec="black", ecolor="black", elinewidth=1.4, capsize=3,
        zorder=5,
    )  # fmt: skip
    axes.set_aspect("equal")
    axes.set(
        xlim=(min(-0.65, x.low - 0.1), max(1.65, x.high + 0.1)),
        ylim=(min(-1.65, y.low - 0.1), max(0.65, y.high + 0.1)),
        xlabel="d log alignment / d log lr",
        ylabel="d log alignment / d log batch",
    )
    return figure
