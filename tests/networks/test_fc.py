"""The fully connected network against a slow version, its gradient, and its variance."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, special

from sgdphase import _parameters as parameters
from sgdphase.errors import InputError
from sgdphase.networks._activations import ACTIVATIONS, activation
from sgdphase.networks._fc import FullyConnected

SLOW = {
    "relu": lambda z: np.maximum(z, 0.0),
    "gelu": lambda z: z * special.ndtr(z),
    "tanh": np.tanh,
}


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def slow_rms(name: str) -> float:
    def square(z: float) -> float:
        return float(SLOW[name](z)) ** 2 * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    return math.sqrt(integrate.quad(square, -40, 0)[0] + integrate.quad(square, 0, 40)[0])


@pytest.mark.parametrize("name", SLOW)
def test_root_mean_square_of_the_activations(name: str) -> None:
    function, rms = activation(name)
    assert rms == pytest.approx(slow_rms(name), rel=1e-10)
    z = torch.linspace(-6, 6, 101, dtype=torch.float64)
    assert np.allclose(function(z).numpy(), SLOW[name](z.numpy()), rtol=1e-12, atol=1e-15)


def test_every_activation_is_checked() -> None:
    assert set(SLOW) == set(ACTIVATIONS)


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_equals_the_slow_version(name: str, depth: int) -> None:
    network = FullyConnected(12, depth=depth, width=7, activation=name, generator=seeded()).double()
    x = torch.randn(5, 3, 4, generator=seeded(1), dtype=torch.float64)
    outputs = []
    for point in x.numpy().reshape(5, 12):
        a = point
        *hidden, last = [weight.detach().numpy() for weight in network.parameters()]
        for weight in hidden:
            a = SLOW[name](weight.T / math.sqrt(len(a)) @ a) / slow_rms(name)
        outputs.append(last[:, 0] @ a / 7)
    assert [tuple(weight.shape) for weight in network.parameters()] == [
        (12, 7),
        *[(7, 7)] * (depth - 1),
        (7, 1),
    ]
    assert np.allclose(network(x).detach().numpy(), outputs, rtol=1e-12, atol=1e-14)


def test_gradient_is_that_of_the_unscaled_weights() -> None:
    network = FullyConnected(6, depth=2, width=4, generator=seeded()).double()
    x = torch.randn(3, 6, generator=seeded(1), dtype=torch.float64)
    gradients = torch.autograd.grad(network(x).sum(), list(network.parameters()))
    step = 1e-5
    with torch.no_grad():
        for weight, gradient in zip(network.parameters(), gradients, strict=True):
            flat = weight.view(-1)
            for i in range(len(flat)):
                flat[i] += step
                above = network(x).sum()
                flat[i] -= 2 * step
                below = network(x).sum()
                flat[i] += step
                slope = float(above - below) / (2 * step)
                assert float(gradient.view(-1)[i]) == pytest.approx(slope, rel=1e-6, abs=1e-9)


def test_relu_outputs_are_homogeneous_in_the_weights() -> None:
    # Euler: w . grad f = (number of layers) f.
    network = FullyConnected(6, depth=3, width=8, activation="relu", generator=seeded()).double()
    x = torch.randn(1, 6, generator=seeded(1), dtype=torch.float64)
    weights = list(network.parameters())
    gradients = torch.autograd.grad(network(x), weights)
    total = sum(
        float((weight.detach() * gradient).sum())
        for weight, gradient in zip(weights, gradients, strict=True)
    )
    assert total == pytest.approx(4 * network(x).item(), rel=1e-12)


# E f^2 = |x|^2 / (d h): for relu at any depth, since it is homogeneous; for the others with one
# hidden layer and |x|^2 = d, since its pre-activations are then standard Gaussian.
@pytest.mark.parametrize(("name", "depth"), [("relu", 3), ("gelu", 1), ("tanh", 1)])
def test_variance_at_initialisation(name: str, depth: int) -> None:
    d, width, draws = 5, 20, 4000
    x = torch.randn(1, d, generator=seeded(2))
    x *= math.sqrt(d) / x.norm()
    generator = seeded(3)
    squares = np.empty(draws)
    with torch.no_grad():
        for i in range(draws):
            network = FullyConnected(
                d, depth=depth, width=width, activation=name, generator=generator
            )
            squares[i] = width * float(network(x)) ** 2
    assert abs(squares.mean() - 1) < 4 * squares.std() / math.sqrt(draws)
    assert squares.std() / math.sqrt(draws) < 0.05


def test_weights_are_a_function_of_the_generator() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = FullyConnected(3, width=4, generator=seeded(7))
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    second = FullyConnected(3, width=4, generator=seeded(7))
    other = FullyConnected(3, width=4, generator=seeded(8))
    for a, b, c in zip(first.parameters(), second.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
        assert not torch.equal(a, c)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="depth = 0: must be an integer of at least 1"):
        FullyConnected(3, depth=0)
    with pytest.raises(InputError, match="'swish': must be one of relu, gelu, tanh"):
        FullyConnected(3, activation="swish")


def test_the_records_name_the_activations_there_are() -> None:
    """Records are read without PyTorch, and so hold the names by themselves."""
    assert set(parameters.ACTIVATIONS) == set(ACTIVATIONS)
