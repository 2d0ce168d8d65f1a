"""How much the first layer prefers one direction of input space (SI, Eq. for Lambda).

    Lambda^2 = (d - 1) sum_n w_{n,1}^2 / sum_n w_{n,perp}^2,

where the sums are over the neurons of the first layer, `w_{n,1}` is the component of neuron `n`'s
weights along the informative direction and `w_{n,perp}` the part across it. Independent weights
N(0, 1) have Lambda = 1 up to fluctuations of relative size about sqrt(1 / (2 h)) at width `h`.
"""

from __future__ import annotations

import math

from sgdphase.errors import InputError
from sgdphase.networks._fc import FullyConnected


def amplification(network: FullyConnected) -> float:
    """Lambda along the first coordinate."""
    weights = network.first_weight.detach().cpu().double()
    inputs = len(weights)
    if inputs < 2:
        raise InputError(f"inputs = {inputs}: amplification needs at least 2 input coordinates")
    along, across = weights[0].square().sum(), weights[1:].square().sum()
    return math.sqrt((inputs - 1) * float(along / across))
