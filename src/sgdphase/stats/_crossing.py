"""Where a noisy rising curve is zero, by a local line, with an interval that counts its slope."""

from __future__ import annotations

import math

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.stats._estimate import Estimate

# Width of the local line in the logarithm `u`: a factor of the square root of two.
_BANDWIDTH = math.log(2) / 2
# Noise may make a slope look steep, but hardly by more than this factor.
_TOO_STEEP = 1.5


def crossing(
    u: FloatArray, y: FloatArray, n: FloatArray, first: int, noise: float = 0.0
) -> Estimate | None:
    """The zero of a local line through points `y(u)`, between the points `first` and the next.

    Points have weights: their number `n` of seeds times a Gaussian of the distance to the zero.
    `noise` is the half-width of the interval of one seed. That of the zero is the noise over the
    slope, less its own noise: a curve is said to cross zero where it looks steep (Fieller's
    interval, within bounds). None if the line does not rise. `u` increases, and is a natural
    logarithm.

    >>> u, y, n = np.array([0.0, 1.0, 2.0]), np.array([-1.0, 1.0, 3.0]), np.ones(3)
    >>> exact, noisy = crossing(u, y, n, 0), crossing(u, y, n, 0, noise=0.5)
    >>> round(exact.value, 6), round(exact.high, 6), noisy.low < 0.25 < 0.75 < noisy.high
    (0.5, 0.5, True)
    """
    low, high = u[first], u[first + 1]
    slope = float((y[first + 1] - y[first]) / (high - low))
    if slope <= 0:
        return None
    at = float(low - y[first] / slope)
    error = 0.0
    for _ in range(4):
        kernel = np.exp(-(((u - at) / _BANDWIDTH) ** 2))
        weight = n * kernel / (n @ kernel)
        centre, level = float(weight @ u), float(weight @ y)
        spread = max(float(weight @ (u - centre) ** 2), 1e-12)
        local = float(weight @ ((u - centre) * (y - level))) / spread
        if local <= 0:
            break
        slope = local
        error = noise * math.sqrt(float((weight**2 / n) @ (u - centre) ** 2)) / spread
        at = float(np.clip(centre - level / slope, low, high))
    steep = math.sqrt(max(slope**2 - error**2, (slope / _TOO_STEEP) ** 2))
    # Points share the noise of what they are compared with: two are no better than one.
    half = noise / math.sqrt(float(n[first : first + 2].mean())) / steep
    return Estimate(at, at - half, at + half)
