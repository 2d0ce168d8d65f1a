"""The amplification factor: hand values, invariance, and its value at initialisation."""

import math

import pytest
import torch

from sgdphase.errors import InputError
from sgdphase.networks._amplification import amplification
from sgdphase.networks._fc import FullyConnected


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def with_first_layer(neurons: torch.Tensor) -> FullyConnected:
    """A network whose first layer has these neurons, one a row."""
    network = FullyConnected(neurons.shape[1], width=len(neurons)).double()
    with torch.no_grad():
        network.first_weight.copy_(neurons.T)
    return network


def test_by_hand() -> None:
    # Along: 3^2 + 4^2 = 25. Across: 0 + 1 + 4 + 4 = 9. d - 1 = 2.
    network = with_first_layer(torch.tensor([[3.0, 0.0, 1.0], [4.0, 2.0, -2.0]]))
    assert amplification(network) == pytest.approx(math.sqrt(2 * 25 / 9), rel=1e-14)


def test_grows_with_the_informative_weights() -> None:
    network = FullyConnected(8, width=16, generator=seeded())
    before = amplification(network)
    with torch.no_grad():
        network.first_weight[0] *= 3.0
    assert amplification(network) == pytest.approx(3 * before, rel=1e-6)


def test_is_one_at_initialisation() -> None:
    # Its relative standard deviation is sqrt((1 + 1/(d-1)) / (2 h)), here 1.1 %.
    network = FullyConnected(50, depth=1, width=4096, generator=seeded())
    assert amplification(network) == pytest.approx(1.0, abs=4 * 0.0112)


def test_one_coordinate_has_no_other_direction() -> None:
    with pytest.raises(InputError, match="at least 2 input coordinates"):
        amplification(FullyConnected(1, width=2))
