"""Numbers and their intervals, as they are printed."""

from __future__ import annotations

import math

from sgdphase.stats._bootstrap import Estimate

__all__ = ["digits", "shown"]


def shown(estimate: Estimate | None, count: int = 3) -> str:
    """A number with its interval, as text.

    Parameters
    ----------
    estimate : Estimate or None; None gives 'unknown'
    count : int, default 3; significant digits

    Examples
    --------
    >>> shown(Estimate(52.83, 39.6, 1066.9)), shown(Estimate(3.0, float("nan"), float("nan")))
    ('52.8 [39.6, 1070]', '3 [no interval]')
    """
    if estimate is None:
        return "unknown"
    if not (math.isfinite(estimate.low) or math.isfinite(estimate.high)):
        return f"{digits(estimate.value, count)} [no interval]"
    low, high = (digits(edge, count) or "?" for edge in (estimate.low, estimate.high))
    return f"{digits(estimate.value, count)} [{low}, {high}]"


def digits(value: float, count: int = 3) -> str:
    """A number as text, without a power of ten as long as it is readable.

    Parameters
    ----------
    value : float; NaN gives an empty text
    count : int, default 3; significant digits

    Examples
    --------
    >>> digits(2421.7), digits(0.012345), digits(float("nan"))
    ('2420', '0.0123', '')
    """
    return "" if math.isnan(value) else f"{float(f'{value:.{count}g}'):.15g}"
