"""Compiled passes of the convolutional network against torch's."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor

from sgdphase import Outcome
from sgdphase.networks import MobileNet, Points, fit
from sgdphase.networks._passes import Passes
from sgdphase.problems import CifarAnimals


def network(channels: int = 3, width: int = 2, activation: str = "relu") -> MobileNet:
    generator = torch.Generator().manual_seed(1)
    module = MobileNet(channels, width=width, activation=activation, generator=generator)
    with torch.no_grad():
        module.bias.fill_(0.7)  # at the start it is 0
    return module


def images(count: int, channels: int, size: int) -> Tensor:
    return torch.randn(count, channels, size, size, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("activation", ["relu", "gelu", "tanh"])
@pytest.mark.parametrize(
    ("channels", "size", "width"), [(3, 32, 8), (1, 28, 2), (3, 9, 1), (2, 4, 3), (1, 1, 2)]
)
def test_outputs_and_gradient_are_those_of_autograd(channels, size, width, activation) -> None:
    """In single precision, compared with double: to a few of its last digits."""
    module, x = network(channels, width, activation), images(9, channels, size)
    passes = Passes.of(module, x)
    assert passes is not None
    points = torch.tensor([8, 0, 3, 3, 5, 1])  # not a multiple of those at a time, one twice
    slopes = torch.tensor([1.0, -2.0, 0.5, 0.0, 3.0, -1.0])
    exact = copy.deepcopy(module).double()
    outputs = exact(x.double())
    for found, expected in ((passes.outputs(), outputs), (passes.outputs(points), outputs[points])):
        error = (found - expected).detach().norm() / expected.detach().norm()
        assert float(error) < 2e-6
    gradient = passes.gradient(points, slopes)
    wanted = torch.autograd.grad((outputs[points] * slopes).sum(), list(exact.parameters()))
    for found, expected in zip(gradient, wanted, strict=True):
        assert found.shape == expected.shape and found.dtype == torch.float32
        assert float((found - expected).norm()) < 5e-6 * float(expected.norm())


def test_new_weights_are_seen() -> None:
    module, x = network(), images(3, 3, 9)
    passes = Passes.of(module, x)
    assert passes is not None
    before = passes.outputs()
    with torch.no_grad():
        for p in module.parameters():
            p.mul_(1.5)
    assert not torch.allclose(passes.outputs(), before)
    assert torch.allclose(passes.outputs(), module(x), rtol=1e-5)
    for p in module.parameters():
        p.data = torch.ones_like(p)
    assert torch.allclose(passes.outputs(), module(x), rtol=1e-5)


class Other(MobileNet):
    """Might compute something else."""


def test_what_is_not_the_papers_network_is_left_to_torch() -> None:
    square, frozen = images(2, 3, 9), network()
    frozen.first.weight.requires_grad_(False)
    cases = [
        (network().double(), square.double()), (network(), square[:, :, :, :8]),
        (network(), square.double()), (frozen, square), (Other(3, width=2), square),
    ]  # fmt: skip
    assert [Passes.of(*case) for case in cases] == [None] * len(cases)


def trained(record: Any, seed: int, lr: float = 8.0) -> Outcome:
    """A training of 16 to 200 steps for the seeds below, on two clouds of images."""
    generator = torch.Generator().manual_seed(seed)
    module = MobileNet(3, width=2, generator=generator)
    y = torch.tensor([1.0, -1.0] * 4)
    centres = 0.5 * y[:, None, None, None]
    sets = [Points(centres + torch.randn(8, 3, 8, 8, generator=generator), y) for _ in range(2)]
    training = record(
        problem=CifarAnimals(), model="mobilenet", depth=None, width=2, train_size=8, test_size=8,
        batch=2, lr=lr, margin=2.0**-10, seed=seed,
    )  # fmt: skip
    return fit(module, *sets, training)


def test_trainings_are_those_of_torch(record, monkeypatch) -> None:
    """Seed by seed: rounding has hardly grown after a hundred steps."""
    ours = [trained(record, seed) for seed in (1, 5, 9)]
    monkeypatch.setattr(Passes, "of", classmethod(lambda cls, module, x: None))
    theirs = [trained(record, seed) for seed in (1, 5, 9)]
    for one, other in zip(ours, theirs, strict=True):
        assert (one.status, one.steps) == (other.status, other.steps) == ("fitted", other.steps)
        names = ("alignment", "weight_change", "ntk_change")
        assert [one[n] for n in names] == pytest.approx([other[n] for n in names], rel=1e-4)
        assert one["weight_change"] != other["weight_change"]
    assert max(one.steps for one in ours) > 150


def test_a_training_that_diverges(record) -> None:
    assert trained(record, 0, lr=1e8).status == "diverged"
