"""Fig. S3: how much the neural tangent kernel changes, against T: (A) the FC net, (B) the CNN.

Both read the planes of trainings of Fig. 1B and C.
"""

from __future__ import annotations

from typing import Any

from sgdphase.diagram import Plane
from sgdphase.paper._claim import Above, Below
from sgdphase.paper._draw import Curves
from sgdphase.paper._figure import Figure
from sgdphase.paper._measure import geometric_mean
from sgdphase.paper._planes import (
    GD,
    NOISE,
    Region,
    growth_claim,
    plane_figure,
    regions,
    some_fitted,
)
from sgdphase.paper._runs import Runs
from sgdphase.paper._settings import SettingAt, cnn, fc, heading


def _critical(axes: Any, runs: Runs) -> None:
    temperature = runs.diagram.critical_temperature
    if temperature is not None:
        axes.axvline(temperature.value, color="0.4", ls="--", lw=1, label="$T_c$")


def kernel_claims(runs: Runs) -> list[Above]:
    """In the regimes, as cut out by the boundaries of the alignment."""
    plane, inside = runs.plane("ntk_change"), regions(runs.diagram)
    says = "the change of the kernel grows with T in the noise-dominated regime"
    return [growth_claim("1", says, plane, inside[NOISE]), lazy_claim("2", plane, inside[GD])]


def lazy_claim(id: str, plane: Plane, cold: Region) -> Below:
    """At small T the change is much smaller than the kernel: training is lazy."""
    fitted = some_fitted(plane)
    kept = cold.cells & fitted
    change = geometric_mean(plane.value[kept]) if kept.any() else None
    says = "at small T (GD) the kernel hardly changes: training is lazy"
    reason = "relative change, geometric mean; up to a tenth counts as much smaller than the kernel"
    return Below(id, says, change, 0.1, reason, otherwise=cold.too_few(1, fitted))


def _figure(name: str, of: str, at: SettingAt) -> Figure:
    draw = Curves(
        "temperature", "ntk_change", by="batch", symbols={"batch": "B"}, xlabel=r"$T=\eta/B$",
        ylabel=r"$\|\Delta K\|\,/\,\|K_0\|$", title=heading, extra=_critical, legend=None,
        size=(5.4, 4.0),
    )  # fmt: skip
    shows = f"relative change of the neural tangent kernel of {of} against T = eta/B"
    return plane_figure(name, shows, at, draw, kernel_claims)


FIGURES = (
    _figure("figS3a", "the fully connected net on parity MNIST", fc),
    _figure("figS3b", "the CNN on CIFAR10 (animals against the rest)", cnn),
)
