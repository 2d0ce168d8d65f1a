"""Fig. S3: how much the neural tangent kernel changes, against T: (A) the FC net, (B) the CNN.

Both read the planes of trainings of Fig. 1B and C.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sgdphase._typing import Mask
from sgdphase.diagram import Plane
from sgdphase.paper._claim import TENTH, Above, Below
from sgdphase.paper._draw import Curves
from sgdphase.paper._figure import Figure
from sgdphase.paper._measure import geometric_mean
from sgdphase.paper._planes import GD, NOISE, plane_figure, regions, some_fitted
from sgdphase.paper._runs import Runs
from sgdphase.paper._settings import SettingAt, fc, heading, mobilenet
from sgdphase.stats import Estimate, logarithms, loglinear


def _critical(axes: Any, runs: Runs) -> None:
    temperature = runs.diagram.critical_temperature
    if temperature is not None:
        axes.axvline(temperature.value, color="0.4", ls="--", lw=1, label="$T_c$ (for $B<B^*$)")


def _growth(plane: Plane, cells: Mask) -> Estimate | None:
    """The exponent of `T`."""
    i, j = np.nonzero(cells)
    temperature = plane.lr[i] / plane.batch[j]
    if len(i) < 3 or np.ptp(temperature) == 0:
        return None
    return loglinear(np.log(temperature), logarithms(plane.value[i, j])).exponent(1)


def kernel_claims(runs: Runs) -> list[Above]:
    """In the regimes, as cut out by the boundaries of the alignment."""
    plane, inside = runs.plane("ntk_change"), regions(runs.diagram)
    fitted = some_fitted(plane)
    growth = _growth(plane, inside[NOISE].cells & fitted)
    cold = inside[GD].cells & fitted
    return [
        Above("1", "the change of the kernel grows with T in the noise-dominated regime",
              growth, TENTH.size,
              "exponent of T over the cells at least a factor 4 inside; up to a tenth counts as "
              "none", otherwise=inside[NOISE].too_few(3, fitted)),
        Below("2", "at small T (GD) the kernel hardly changes: training is lazy",
              geometric_mean(plane.value[cold]) if cold.any() else None, 0.1,
              "relative change, geometric mean; up to a tenth counts as much smaller than the "
              "kernel", otherwise=inside[GD].too_few(1, fitted)),
    ]  # fmt: skip


def _figure(name: str, of: str, at: SettingAt) -> Figure:
    draw = Curves(
        "temperature", "ntk_change", by="batch", symbols={"batch": "B"}, xlabel=r"$T=\eta/B$",
        ylabel=r"$\|\Delta K\|\,/\,\|K_0\|$", title=heading, extra=_critical, legend=None,
        size=(6.0, 4.0),
    )  # fmt: skip
    shows = f"relative change of the neural tangent kernel of {of} against T = eta/B"
    return plane_figure(name, shows, at, draw, kernel_claims)


FIGURES = (
    _figure("figS3a", "the fully connected net on parity MNIST", fc),
    _figure("figS3b", "the CNN on CIFAR10 (animals against the rest)", mobilenet),
)
