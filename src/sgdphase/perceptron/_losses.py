"""Losses `kappa l(u)` of a point with `u = y f / kappa`, where `kappa` is the margin.

hinge `(1 - u)+`; quadratic hinge `(1 - u)+^2 / 2`; smooth hinge, the same above 0 and `1/2 - u`
below; square `(1 - u)^2 / 2`; logistic `log(1 + exp(-u))`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sgdphase._models import LOSSES
from sgdphase._typing import FloatArray

_VALUES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "quadratic-hinge": lambda u: 0.5 * np.maximum(1 - u, 0.0) ** 2,
    "smooth-hinge": lambda u: np.where(u > 0, 0.5 * np.maximum(1 - u, 0.0) ** 2, 0.5 - u),
    "square": lambda u: 0.5 * (1 - u) ** 2,
    "logistic": lambda u: np.logaddexp(0.0, -u),
}
# As compiled loops know them.
HINGE, QUADRATIC_HINGE, SMOOTH_HINGE, SQUARE, LOGISTIC = range(5)
NUMBERS = {name: number for number, name in enumerate(LOSSES)}


def value(loss: str, outputs: FloatArray, margin: float) -> FloatArray:
    """The loss of points with these `y f`.

    >>> value("square", np.array([0.0, 0.25]), margin=0.25)
    array([0.125, 0.   ])
    """
    if loss == "hinge":
        return np.maximum(margin - outputs, 0.0)
    return margin * _VALUES[loss](outputs / margin)
