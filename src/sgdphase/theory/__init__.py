"""What the paper predicts about its perceptron, without any run.

Averages over the data distribution (SI 6.A), asymptotic constants (SI 4.A), the online dynamics
with and without noise (Eq. 3), its fluctuations (SI 4.B), and the scales of the phase diagram.
"""

from __future__ import annotations

from sgdphase.theory._averages import Averages, averages
from sgdphase.theory._constants import (
    CHI_MAX,
    Asymptotic,
    Constants,
    asymptotic,
    constants,
    mean_abs_x1,
)
from sgdphase.theory._fluctuations import (
    AsymptoticFluctuations,
    Fluctuations,
    asymptotic_fluctuations,
    fluctuations,
)
from sgdphase.theory._online import Online, online
from sgdphase.theory._scales import FirstStep, Scales, first_step, scales
from sgdphase.theory._sde import OnlineEnsemble, online_ensemble

__all__ = [
    "CHI_MAX",
    "Asymptotic",
    "AsymptoticFluctuations",
    "Averages",
    "Constants",
    "FirstStep",
    "Fluctuations",
    "Online",
    "OnlineEnsemble",
    "Scales",
    "asymptotic",
    "asymptotic_fluctuations",
    "averages",
    "constants",
    "first_step",
    "fluctuations",
    "mean_abs_x1",
    "online",
    "online_ensemble",
    "scales",
]
