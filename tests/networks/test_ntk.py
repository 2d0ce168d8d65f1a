"""The kernel against independent Jacobians and closed forms, and what it leaves alone."""

import math

import pytest
import torch

from sgdphase.errors import InputError
from sgdphase.networks._fc import FullyConnected
from sgdphase.networks._mobilenet import MobileNet
from sgdphase.networks._ntk import ntk, ntk_change


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=seeded(1), dtype=torch.float64)


CASES = {
    "fc": (FullyConnected(6, depth=2, width=5, generator=seeded()).double(), normal(7, 6)),
    "mobilenet": (MobileNet(2, width=1, generator=seeded()).double(), normal(7, 2, 9, 9)),
}


@pytest.mark.parametrize(("module", "x"), CASES.values(), ids=CASES)
def test_equals_the_product_of_jacobians(module: torch.nn.Module, x: torch.Tensor) -> None:
    # Through torch's own Jacobian of all outputs at once.
    names = [name for name, _ in module.named_parameters()]
    weights = tuple(weight.detach() for weight in module.parameters())

    def outputs(*some: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(module, dict(zip(names, some, strict=True)), (x,))

    jacobians = torch.autograd.functional.jacobian(outputs, weights)
    J = torch.cat([part.reshape(len(x), -1) for part in jacobians], dim=1)
    K = ntk(module, x)
    assert torch.allclose(K, J @ J.T, rtol=1e-12, atol=0)
    assert torch.allclose(K, K.T, rtol=1e-14, atol=0)
    assert float(torch.linalg.eigvalsh(K).min()) > -1e-12 * float(K.trace())


@pytest.mark.parametrize(("module", "x"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("points", [0, 2, 4, 6.5, 100])
def test_chunks_change_nothing(module: torch.nn.Module, x: torch.Tensor, points: float) -> None:
    size = 8 * sum(weight.numel() for weight in module.parameters())
    assert torch.allclose(
        ntk(module, x, memory=int(points * size)), ntk(module, x), rtol=1e-12, atol=0
    )


def test_wide_limit_of_one_hidden_layer() -> None:
    # For relu and |x|^2 = d, with theta the angle between x and x' (the arc-cosine kernels):
    # h K = (sin theta + (pi - theta) cos theta) / pi + cos theta (pi - theta) / pi.
    # The sampling error at this width is about 0.3 %.
    width = 2**18
    angles = torch.tensor([0.0, 0.5, 1.5, math.pi])
    x = math.sqrt(2) * torch.stack([angles.cos(), angles.sin()], dim=1)
    network = FullyConnected(2, depth=1, width=width, activation="relu", generator=seeded())
    theta = (angles[:, None] - angles[None, :]).abs()
    expected = (theta.sin() + 2 * (math.pi - theta) * theta.cos()) / math.pi
    assert torch.allclose(width * ntk(network, x), expected, atol=0.02)


def test_change() -> None:
    # f is homogeneous of degree 3 in the weights, so K of degree 4.
    network = FullyConnected(6, depth=2, width=5, activation="relu", generator=seeded()).double()
    before = ntk(network, normal(4, 6))
    assert ntk_change(before, before) == 0.0
    with torch.no_grad():
        for weight in network.parameters():
            weight *= 1.1
    assert ntk_change(ntk(network, normal(4, 6)), before) == pytest.approx(1.1**4 - 1, rel=1e-10)


def test_leaves_the_module_and_the_generator_alone() -> None:
    network = FullyConnected(6, depth=2, width=5, generator=seeded())
    x = torch.randn(4, 6, generator=seeded(1))
    network(x).sum().backward()
    weights = [weight.detach().clone() for weight in network.parameters()]
    gradients = [weight.grad.clone() for weight in network.parameters()]
    state = torch.get_rng_state()
    with torch.no_grad():
        K = ntk(network, x)
    assert not K.requires_grad
    assert not x.requires_grad
    assert torch.equal(torch.get_rng_state(), state)
    for weight, value, gradient in zip(network.parameters(), weights, gradients, strict=True):
        assert torch.equal(weight, value)
        assert torch.equal(weight.grad, gradient)


def test_only_trained_weights_count() -> None:
    line = torch.nn.Linear(2, 1)
    line.bias.requires_grad_(False)
    x = torch.tensor([[1.0, 2.0], [3.0, 1.0]])
    assert torch.equal(ntk(line, x), x @ x.T)
    line.weight.requires_grad_(False)
    with pytest.raises(InputError, match="without weights to train"):
        ntk(line, x)
