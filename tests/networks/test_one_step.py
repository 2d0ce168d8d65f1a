"""A step of the trainer against plain autograd: by-hand and compiled gradients, every path."""

from __future__ import annotations

import copy
from itertools import product

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from sgdphase.networks import FullyConnected, MobileNet
from sgdphase.networks._activations import ACTIVATIONS
from sgdphase.networks._batches import ahead
from sgdphase.networks._descent import State, descend
from sgdphase.networks._fc import without_onednn
from sgdphase.networks._fitting import CHUNK, Fitting, outputs
from sgdphase.networks._ntk import _gradients, ntk
from sgdphase.networks._update import _add

SIZE = 64


def network(model: str, activation: str) -> torch.nn.Module:
    generator = torch.Generator().manual_seed(1)
    if model == "fc":
        return FullyConnected(48, depth=3, width=16, activation=activation, generator=generator)
    return MobileNet(3, width=2, activation=activation, generator=generator)


def images(model: str, count: int = SIZE) -> Tensor:
    # Of square images the passes are compiled.
    shape = {"fc": (48,), "mobilenet": (3, 9, 8), "mobilenet, compiled": (3, 9, 9)}[model]
    return torch.randn(count, *shape, generator=torch.Generator().manual_seed(2))


def plain_outputs(model: str, module: torch.nn.Module, x: Tensor) -> Tensor:
    """The outputs, through nothing but torch: layers of the model written out once more."""
    if model == "fc":
        first, *rest = module.parameters()
        z = x.flatten(1) @ first * module._scale_in
        for weight, scale in zip(rest, module._scales, strict=True):
            z = (module._activate(z) * scale) @ weight
        return z[:, 0]
    return module(x)


def flat(parts) -> Tensor:
    return torch.cat([part.detach().flatten() for part in parts])


@pytest.mark.parametrize("model", ["fc", "mobilenet", "mobilenet, compiled"])
@pytest.mark.parametrize("margin", [2.0**-15, 1.0])
@pytest.mark.parametrize("batch", [1, 3, 16, SIZE])
@pytest.mark.parametrize("share", [1.0, 0.1], ids=["at once", "window"])
def test_one_step_is_that_of_autograd(record, silent, model, margin, batch, share) -> None:
    x, moved = images(model), 0
    y = torch.where(torch.arange(SIZE) % 2 == 0, 1.0, -1.0)
    activation = "gelu" if model == "fc" else "relu"
    for seed in range(8):
        training = record(
            train_size=SIZE, batch=batch, margin=margin, lr=4.0, max_steps=1,
            seed=seed,
        )  # fmt: skip
        module = network(model, activation)
        fitting = Fitting.of(module, x, y)
        # Away from the start, so that some points are fitted.
        with torch.no_grad():
            for p in module.parameters():
                p += 0.3 * torch.randn(p.shape, generator=torch.Generator().manual_seed(seed))
        plain = copy.deepcopy(module)
        before = flat(module.parameters())
        descend(fitting, training, State(share=share), silent)
        chosen = torch.from_numpy(ahead(training, 0)[0])
        F = plain_outputs(model, plain, x[chosen]) - fitting.at_start[chosen]
        loss = torch.relu(margin - y[chosen] * F).mean()
        gradient = flat(torch.autograd.grad(loss, list(plain.parameters())))
        step = flat(module.parameters()) - before
        # The weights, of order 1, are rounded to 1e-7.
        tolerance = 1e-5 * float(gradient.norm()) * training.lr + 2e-7 * len(before) ** 0.5
        assert float((step + training.lr * gradient).norm()) < tolerance
        moved += bool(gradient.any())
    assert moved >= 1


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_fc_by_hand(activation) -> None:
    module, x = network("fc", activation).double(), images("fc").double()
    slopes = torch.linspace(-1, 2, SIZE, dtype=torch.float64)
    expected = torch.autograd.grad(module(x) @ slopes, list(module.parameters()))
    found = module.pull_back(x, module.layers(x), slopes)
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-10, atol=1e-14)
    rows = _gradients(module, tuple(module.parameters()), x)
    assert torch.allclose(ntk(module, x), rows @ rows.T, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_compiled_sum_is_that_of_torch(monkeypatch, kind) -> None:
    generator = torch.Generator().manual_seed(5)
    start = torch.randn(7, 30, dtype=kind, generator=generator)
    parts = [1e-6 * torch.randn(7, 30, dtype=kind, generator=generator) for _ in range(50)]
    sums = []
    for compiled in (True, False):
        if not compiled:
            monkeypatch.setattr("sgdphase.networks._update._COMPILED", {})
        weight, rest = start.clone(), torch.zeros_like(start)
        for part in parts:
            _add(weight, part, rest, -0.3)
        sums.append(weight.double() + rest.double())
    exact = start.double() - 0.3 * sum(part.double() for part in parts)
    for each in sums:
        assert float((each - exact).abs().max()) < (1e-11 if kind == torch.float32 else 1e-16 * 50)


def test_a_whole_training_of_the_cnn_is_the_plain_loop(record, silent) -> None:
    training = record(train_size=16, batch=4, lr=8.0, margin=2.0**-10, max_steps=3000)
    x, y = images("mobilenet", 16).double(), torch.tensor([1.0, -1.0] * 8, dtype=torch.float64)
    ours, plain = (network("mobilenet", "relu").double() for _ in range(2))
    state = State()
    ending = descend(Fitting.of(ours, x, y), training, state, silent)
    at_start, changed = outputs(plain, x), 0
    for step in range(1, training.step_limit + 1):
        chosen = torch.from_numpy(ahead(training, step - 1)[0])
        loss = torch.relu(training.margin - y[chosen] * (plain(x[chosen]) - at_start[chosen]))
        if not bool(loss.any()):
            if bool((y * (outputs(plain, x) - at_start) >= training.margin).all()):
                break
            continue
        changed = step
        gradient = torch.autograd.grad(loss.mean(), list(plain.parameters()))
        with torch.no_grad():
            for p, g in zip(plain.parameters(), gradient, strict=True):
                p -= training.lr * g
    assert (ending, state.changed) == ("fitted", changed)
    assert float((flat(ours.parameters()) - flat(plain.parameters())).abs().max()) < 1e-9


def test_margins_do_not_depend_on_the_parts_they_are_computed_in() -> None:
    for model, wanted in product(("fc", "mobilenet"), (5, CHUNK + 3)):
        x = images(model, wanted).double()
        module = network(model, "relu").double()
        fitting = Fitting.of(module, x, torch.ones(wanted, dtype=torch.float64))
        with torch.no_grad():
            module.get_parameter(next(iter(module.state_dict()))).mul_(1.1)
        every = torch.arange(wanted)
        expected = (module(x) - fitting.at_start).detach()
        for found in (fitting.margins(), fitting.margins(every), fitting.look(every).z):
            assert torch.allclose(found, expected, rtol=0, atol=1e-13)


def test_weights_that_are_not_trained_stay(record, silent) -> None:
    module, x = network("fc", "gelu"), images("fc")
    module.first_weight.requires_grad_(False)
    before = [p.detach().clone() for p in module.parameters()]
    y = torch.where(torch.arange(SIZE) % 2 == 0, 1.0, -1.0)
    training = record(train_size=SIZE, batch=8, lr=2.0, max_steps=5)
    descend(Fitting.of(module, x, y), training, State(), silent)
    same = [torch.equal(now, then) for now, then in zip(module.parameters(), before, strict=True)]
    assert same == [True, False, False, False]
    weights = tuple(p for p in module.parameters() if p.requires_grad)
    rows = _gradients(module, weights, x)
    assert torch.allclose(ntk(module, x), rows @ rows.T, rtol=1e-4)


def test_onednn_is_as_it_was_before() -> None:
    before = torch.backends.mkldnn.enabled
    with pytest.raises(ZeroDivisionError), without_onednn():
        assert not torch.backends.mkldnn.enabled
        raise ZeroDivisionError
    assert torch.backends.mkldnn.enabled == before
    assert functional.gelu(torch.zeros(1)) == 0
