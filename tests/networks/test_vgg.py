"""VGG11 and the plain CNN against slow versions, and trained to zero loss as a plain loop does."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from sgdphase import Training
from sgdphase.errors import InputError
from sgdphase.networks import VGG11, PlainCNN, Points, fit
from sgdphase.networks._batches import batches
from sgdphase.problems import CifarAnimals

Array = NDArray[np.float64]
KAPPA = 1e-3


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def slow_convolution(x: Array, weight: Array, bias: Array) -> Array:
    """Place by place, zero outside of the image, over sqrt(k k c + 1)."""
    outputs, channels, k, _ = weight.shape
    y = np.zeros((outputs, *x.shape[1:]))
    for o, i, j, c, p, q in np.ndindex(*y.shape, channels, k, k):
        row, column = i + p - k // 2, j + q - k // 2
        if 0 <= row < x.shape[1] and 0 <= column < x.shape[2]:
            y[o, i, j] += weight[o, c, p, q] * x[c, row, column]
    return (y + bias[:, None, None]) / math.sqrt(k * k * channels + 1)


def slow_pool(x: Array) -> Array:
    rows, columns = (range(0, n, 2) for n in x.shape[1:])
    return np.array([[[m[i : i + 2, j : j + 2].max() for j in columns] for i in rows] for m in x])


def slow_linear(x: Array, weight: Array, bias: Array) -> Array:
    return (weight @ x + bias) / math.sqrt(len(x) + 1)


def slow_relu(z: Array) -> Array:
    return np.maximum(z, 0.0) * math.sqrt(2.0)


def slow_network(weights: dict[str, Array], x: Array, pools: list[int]) -> float:
    """Convolutions, those in `pools` followed by a pool; then vectors."""

    def of(name: str) -> tuple[Array, Array]:
        return weights[f"{name}.weight"], weights[f"{name}.bias"]

    layers = sum(name.startswith("convolutions") for name in weights) // 2
    for layer in range(layers):
        x = slow_relu(slow_convolution(x, *of(f"convolutions.{layer}")))
        x = slow_pool(x) if layer in pools else x
    if "hidden.weight" in weights:
        v = slow_linear(x.ravel(), *of("hidden"))
    else:
        v = slow_relu(slow_linear(x.mean(axis=(1, 2)), *of("hidden.0")))
        v = slow_relu(slow_linear(v, *of("hidden.1")))
    return float(weights["weight"] @ v) / len(v)


# Even and odd sizes, not square; of the last VGG11 leaves two places.
@pytest.mark.parametrize("size", [(8, 8), (5, 7), (3, 33)])
def test_equals_the_slow_version(size: tuple[int, int]) -> None:
    x = torch.randn(2, 2, *size, generator=seeded(1), dtype=torch.float64)
    networks: list[tuple[Any, list[int]]] = [
        (PlainCNN(2, size=size, width=2, generator=seeded()), [0, 1]),
        (VGG11(2, width=1, generator=seeded()), [0, 1, 3, 5, 7]),
    ]
    for network, pools in networks:
        outputs = network.double()(x).detach().numpy()
        weights = {name: weight.detach().numpy() for name, weight in network.named_parameters()}
        expected = [slow_network(weights, image, pools) for image in x.numpy()]
        assert np.allclose(outputs, expected, rtol=1e-11, atol=1e-13)


def test_layers_are_those_of_the_papers_code() -> None:
    of_vgg = [tuple(p.shape) for n, p in VGG11(3, width=4).named_parameters() if "bias" not in n]
    assert of_vgg == [
        (64 * 4,), (4, 3, 3, 3), (8, 4, 3, 3), (16, 8, 3, 3), (16, 16, 3, 3), (32, 16, 3, 3),
        (32, 32, 3, 3), (32, 32, 3, 3), (32, 32, 3, 3), (256, 32), (256, 256),
    ]  # fmt: skip
    plain = PlainCNN(1, size=(28, 28), width=4).named_parameters()
    assert [tuple(p.shape) for n, p in plain if "bias" not in n] == [
        (32 * 4,), (4, 1, 5, 5), (8, 4, 5, 5), (128, 8 * 7 * 7),
    ]  # fmt: skip


def test_the_size_of_the_output_is_that_of_the_parametrisation() -> None:
    """Pre-activations are of order 1, so that an output of n terms over n is of order 1/sqrt(n)."""
    x = torch.randn(64, 3, 32, 32, generator=seeded(1))
    for make in (VGG11, lambda c, **k: PlainCNN(c, size=(32, 32), **k)):
        with torch.no_grad():
            outputs = [make(3, width=4, generator=seeded(s))(x).square().mean() for s in range(8)]
        n = 256 if make is VGG11 else 128
        assert 0.2 < n * float(torch.stack(outputs).mean()) < 8


@pytest.mark.parametrize(
    ("model", "lr", "batch"), [("vgg11", 2.0, 8), ("cnn", 2.0, 8), ("cnn", 4.0, 24)]
)
def test_training_is_that_of_a_plain_loop(model: str, lr: float, batch: int) -> None:
    training = Training(CifarAnimals(), 24, lr, batch, margin=KAPPA, model=model, width=2,
                        test_size=8, max_steps=4000)  # fmt: skip
    y = torch.where(torch.arange(24) % 2 == 0, 1.0, -1.0).double()
    x = torch.randn(24, 3, 8, 8, generator=seeded(2), dtype=torch.float64) + y[:, None, None, None]

    def made() -> Any:
        if model == "vgg11":
            return VGG11(3, width=2, generator=seeded()).double()
        return PlainCNN(3, size=(8, 8), width=2, generator=seeded()).double()

    ours, plain = made(), made()
    outcome = fit(ours, Points(x, y), Points(x[:8], y[:8]), training)
    with torch.no_grad():
        f0 = plain(x)
    changed = 0
    for step, chosen in enumerate(islice(batches(training), 4000), start=1):
        loss = torch.clamp(KAPPA - y[chosen] * (plain(x[chosen]) - f0[chosen]), min=0).mean()
        plain.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in plain.parameters():
                p -= lr * p.grad
            changed = step if loss > 0 else changed
            if bool((y * (plain(x) - f0) >= KAPPA).all()):
                break
    assert (outcome.status, outcome.steps) == ("fitted", changed)
    for a, b in zip(ours.parameters(), plain.parameters(), strict=True):
        assert torch.allclose(a, b, rtol=0, atol=1e-9)


def test_channels_and_width_are_checked() -> None:
    with pytest.raises(InputError, match="channels = 0: must be an integer of at least 1"):
        VGG11(0)
    with pytest.raises(InputError, match="width = 0: must be an integer of at least 1"):
        PlainCNN(1, size=(8, 8), width=0)
