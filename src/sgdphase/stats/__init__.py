"""Numbers with intervals: bootstrap over seeds, log-linear fits, power laws, data collapse.

Knows nothing of SGD.
"""

from __future__ import annotations

from sgdphase.stats._bootstrap import (
    LEVEL,
    REPLICATES,
    Estimate,
    interval,
    linear_fit,
    seed_means,
    seed_replicates,
)
from sgdphase.stats._collapse import Collapse, Curve, collapse, effective_collapses
from sgdphase.stats._curve_end import curve_end
from sgdphase.stats._few_seeds import crossing, pooled, quantile
from sgdphase.stats._loglinear import LogLinear, logarithms, loglinear
from sgdphase.stats._numbers import digits, shown
from sgdphase.stats._power_law import PowerLaw, effective_power_laws, power_law
from sgdphase.stats._powers import power_of_two, power_of_two_tex, powers, whole_powers

__all__ = [
    "LEVEL",
    "REPLICATES",
    "Collapse",
    "Curve",
    "Estimate",
    "LogLinear",
    "PowerLaw",
    "collapse",
    "crossing",
    "curve_end",
    "digits",
    "effective_collapses",
    "effective_power_laws",
    "interval",
    "linear_fit",
    "logarithms",
    "loglinear",
    "pooled",
    "power_law",
    "power_of_two",
    "power_of_two_tex",
    "powers",
    "quantile",
    "seed_means",
    "seed_replicates",
    "shown",
    "whole_powers",
]
