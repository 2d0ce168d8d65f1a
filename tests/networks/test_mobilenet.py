"""The convolutional network against a slow version, and its shapes."""

import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from sgdphase.errors import InputError
from sgdphase.networks._mobilenet import MobileNet, same_padding

Array = NDArray[np.float64]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def slow_convolution(x: Array, weight: Array, stride: int = 1) -> Array:
    """Place by place, 1/(k sqrt(c_in)) included; depth-wise where a kernel has one channel."""
    outputs, fan, k, _ = weight.shape
    sizes = [math.ceil(n / stride) for n in x.shape[1:]]
    before = [
        max((m - 1) * stride + k - n, 0) // 2 for n, m in zip(x.shape[1:], sizes, strict=True)
    ]
    y = np.zeros((outputs, *sizes))
    for o, i, j, c, p, q in np.ndindex(outputs, *sizes, fan, k, k):
        row, column = i * stride + p - before[0], j * stride + q - before[1]
        if 0 <= row < x.shape[1] and 0 <= column < x.shape[2]:
            channel = c if fan == len(x) else o
            y[o, i, j] += weight[o, c, p, q] * x[channel, row, column]
    return y / (k * math.sqrt(fan))


def slow_relu(z: Array) -> Array:
    return np.maximum(z, 0.0) * math.sqrt(2.0)


def slow_network(weights: dict[str, Array], x: Array) -> float:
    x = slow_relu(slow_convolution(x, weights["first.weight"], 2))
    x = slow_relu(slow_convolution(x, weights["depthwise.weight"]))
    x = slow_relu(slow_convolution(x, weights["mix.weight"]))
    for block, stride in enumerate((2, 1, 2, 1)):
        at = f"blocks.{block}."
        y = slow_relu(slow_convolution(x, weights[at + "expand.weight"]))
        y = slow_relu(slow_convolution(y, weights[at + "depthwise.weight"], stride))
        y = slow_convolution(y, weights[at + "project.weight"])
        x = (x + y) / math.sqrt(2.0) if stride == 1 else y
    x = slow_relu(slow_convolution(x, weights["widen.weight"]))
    last = weights["weight"]
    return float((last @ x.mean(axis=(1, 2)) + weights["bias"]) / len(last))


# Even and odd sizes, not square, and maps smaller than the kernel.
@pytest.mark.parametrize("size", [(16, 16), (13, 10), (3, 6)])
def test_equals_the_slow_version(size: tuple[int, int]) -> None:
    network = MobileNet(2, width=2, generator=seeded()).double()
    with torch.no_grad():
        network.bias += 0.7
    x = torch.randn(2, 2, *size, generator=seeded(1), dtype=torch.float64)
    weights = {name: weight.detach().numpy() for name, weight in network.named_parameters()}
    expected = [slow_network(weights, image) for image in x.numpy()]
    assert np.allclose(network(x).detach().numpy(), expected, rtol=1e-11, atol=1e-13)


def test_activation_is_normalised() -> None:
    # With all unscaled weights 1 and one pixel, a layer is a sum over channels or nothing, so that
    # z -> sqrt(c) z but z -> z / k for k x k kernels, which see one pixel only. With tanh:
    h = 2
    network = MobileNet(1, width=h, activation="tanh").double()
    with torch.no_grad():
        for weight in network.parameters():
            weight.fill_(1.0)
    t = torch.linspace(-40, 40, 400_001, dtype=torch.float64)
    rms = math.sqrt(
        float(torch.trapezoid(t.tanh() ** 2 * torch.exp(-t * t / 2), t) / math.tau**0.5)
    )

    def a(z: float) -> float:
        return math.tanh(z) / rms

    x = a(0.3 / 5)
    x = a(a(x / 5) * math.sqrt(4 * h))
    for inputs, residual in ((2 * h, False), (h, True), (h, False), (3 * h, True)):
        y = a(a(x * math.sqrt(inputs)) / 5) * math.sqrt(3 * inputs)
        x = (x + y) / math.sqrt(2) if residual else y
    expected = a(x * math.sqrt(3 * h)) + 1 / (20 * h)
    image = torch.full((1, 1, 1, 1), 0.3, dtype=torch.float64)
    assert network(image).item() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("h", [8, 32])
def test_number_of_weights(h: int) -> None:
    def block(inputs: int, outputs: int) -> int:
        return 3 * inputs * (inputs + 25 + outputs)

    expected = 25 * 3 * 4 * h + 25 * 4 * h + 4 * h * 2 * h
    expected += block(2 * h, h) + block(h, h) + block(h, 3 * h) + block(3 * h, 3 * h)
    expected += 3 * h * 20 * h + 20 * h + 1
    network = MobileNet(3, width=h)
    assert sum(weight.numel() for weight in network.parameters()) == expected
    assert len(network.first.weight) == 4 * h


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("kernel", [1, 5])
def test_same_padding(kernel: int, stride: int) -> None:
    for size in range(1, 40):
        before, after = same_padding(size, kernel, stride)
        assert before <= after <= before + 1
        places = (size + before + after - kernel) // stride + 1
        assert places == math.ceil(size / stride)


def test_points_do_not_depend_on_each_other_nor_on_the_memory_format() -> None:
    network = MobileNet(3, width=2, generator=seeded()).double()
    x = torch.randn(4, 3, 32, 32, generator=seeded(1), dtype=torch.float64)
    together = network(x)
    assert together.shape == (4,)
    assert torch.allclose(
        together, torch.cat([network(x[i : i + 1]) for i in range(4)]), rtol=1e-10
    )
    other = x.contiguous(memory_format=torch.channels_last)
    assert torch.allclose(together, network(other), rtol=1e-10)


def test_gradient_is_that_of_the_unscaled_weights() -> None:
    # Along a random direction; relu has kinks, so a smooth activation.
    network = MobileNet(1, width=1, activation="gelu", generator=seeded()).double()
    x = torch.randn(2, 1, 8, 8, generator=seeded(1), dtype=torch.float64)
    weights = list(network.parameters())
    gradients = torch.autograd.grad(network(x).sum(), weights)
    moves = [
        torch.randn(weight.shape, generator=seeded(i), dtype=torch.float64)
        for i, weight in enumerate(weights)
    ]
    slope = sum(float((g * m).sum()) for g, m in zip(gradients, moves, strict=True))
    values = []
    for step in (1e-5, -2e-5):
        with torch.no_grad():
            for weight, move in zip(weights, moves, strict=True):
                weight += step * move
            values.append(float(network(x).sum()))
    assert (values[0] - values[1]) / 2e-5 == pytest.approx(slope, rel=1e-6)


def test_weights_are_a_function_of_the_generator() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = MobileNet(3, width=1, generator=seeded(7))
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    second = MobileNet(3, width=1, generator=seeded(7))
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(a, b)
    drawn = torch.cat([weight.detach().flatten() for weight in first.parameters()])
    assert abs(float(drawn.mean())) < 5 / math.sqrt(len(drawn))
    assert abs(float(drawn.square().mean()) - 1) < 5 * math.sqrt(2 / len(drawn))


def test_bad_input() -> None:
    with pytest.raises(InputError, match="width = 0: must be an integer of at least 1"):
        MobileNet(3, width=0)
