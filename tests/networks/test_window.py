"""Compiled steps of the fully connected network, against torch and an independent plain loop."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from sgdphase.networks import FullyConnected, _window, train
from sgdphase.networks import _walk as compiled
from sgdphase.networks._batches import batches
from sgdphase.networks._compiled_layers import KINDS, activate, add_product, times_slope
from sgdphase.networks._compiled_layers import product as compiled_product
from sgdphase.networks._descent import State, descend
from sgdphase.networks._fitting import Fitting

FUNCTIONS = {"relu": torch.relu, "gelu": functional.gelu, "tanh": torch.tanh}


@pytest.fixture
def windows(monkeypatch) -> list[int]:
    """The batches that compiled steps passed, window by window."""
    seen: list[int] = []
    original = _window.walk

    def counted(*arguments: Any) -> Any:
        seen.append(len(arguments[3]))
        return original(*arguments)

    monkeypatch.setattr(_window, "walk", counted)
    return seen


def network(inputs: int, depth: int, width: int, activation: str) -> FullyConnected:
    generator = torch.Generator().manual_seed(3)
    return FullyConnected(
        inputs, depth=depth, width=width, activation=activation, generator=generator
    )


def data(inputs: int, size: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(4)
    x = torch.randn(size, inputs, generator=generator)
    return x, torch.randn(size, generator=generator).sign()


def plain(module: FullyConnected, x: Tensor, y: Tensor, training, start: Tensor) -> tuple[int, int]:
    """Autograd on every batch; the last step that changed a weight, and how many did."""
    changed = count = 0
    for step, batch in enumerate(islice(batches(training), training.step_limit), start=1):
        chosen = torch.from_numpy(batch)
        loss = torch.relu(training.margin - y[chosen] * (module(x[chosen]) - start[chosen])).mean()
        gradient = torch.autograd.grad(loss, list(module.parameters()))
        with torch.no_grad():
            for weight, part in zip(module.parameters(), gradient, strict=True):
                weight -= training.lr * part
            if bool(loss > 0):
                changed, count = step, count + 1
            if bool((y * (module(x) - start) >= training.margin).all()):
                break
    return changed, count


def flat(module: FullyConnected) -> Tensor:
    return torch.cat([p.detach().double().flatten() for p in module.parameters()])


@pytest.mark.parametrize("name", KINDS)
def test_activations_are_those_of_torch(name: str) -> None:
    z = torch.cat([torch.linspace(-9, 9, 20001), torch.tensor([-1e4, -100.0, 100.0, 1e4])])
    exact = z.double().requires_grad_()
    value = FUNCTIONS[name](exact)
    (slope,) = torch.autograd.grad(value.sum(), exact)
    out, back = np.empty_like(z.numpy())[None], np.full_like(z.numpy(), 3.0)
    activate(KINDS[name], z.numpy()[None], np.float32(2.0), out)
    times_slope(KINDS[name], z.numpy(), np.float32(2.0), back)
    # A few last digits of a number of the size of z; the slope is of order 1.
    size = np.maximum(np.abs(z.numpy()), 1)
    assert np.all(np.abs(out[0] - 2 * value.detach().numpy()) <= 8e-7 * size)
    assert np.abs(back - 6 * slope.numpy()).max() < 6 * 5e-7


@pytest.mark.parametrize("name", KINDS)
def test_what_is_not_finite_stays_so(name: str) -> None:
    out = np.empty((1, 2), np.float32)
    activate(KINDS[name], np.array([[np.nan, np.inf]], np.float32), np.float32(1), out)
    assert np.isnan(out[0, 0])
    assert out[0, 1] == (1.0 if name == "tanh" else np.inf)


@pytest.mark.parametrize("shape", [(1, 3, 2), (5, 40, 30), (9, 784, 128), (33, 700, 400)])
def test_products_in_parts_are_those_of_numpy(shape) -> None:
    rng = np.random.default_rng(1)
    n, inner, width = shape
    a, b, d = (
        rng.normal(size=(n, inner)),
        rng.normal(size=(inner, width)),
        rng.normal(size=(n, width)),
    )
    out, back = np.empty((n, width)), np.empty((n, inner))
    compiled_product(a, b, out)
    compiled_product(d, b.T, back)
    assert np.allclose(out, a @ b, atol=1e-11) and np.allclose(back, d @ b.T, atol=1e-11)
    weight, rest = np.zeros((inner, width)), np.zeros((inner, width))
    assert add_product(weight, a, d, rest)
    assert np.allclose(weight, a.T @ d, atol=1e-11)
    assert not add_product(weight, a, 0 * d, rest)


def test_small_parts_add_up() -> None:
    """Each part is below the last digit of the weight."""
    weight, rest = np.ones((3, 2), np.float32), np.zeros((3, 2), np.float32)
    a, b = np.ones((1, 3), np.float32), np.full((1, 2), 2.0**-26, np.float32)
    for _ in range(64):
        add_product(weight, a, b, rest)
    assert np.all(weight == 1 + 2.0**-20)


SHAPES = [(48, 1, 16), (48, 2, 130), (784, 5, 128), (30, 4, 7)]


@pytest.mark.parametrize("activation", KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_step_is_that_of_autograd(record, silent, windows, shape, activation) -> None:
    x, y = data(shape[0], 64)
    moved = 0
    for batch, margin, seed in product((1, 5, 16, 64), (2.0**-15, 1.0), (0, 1)):
        training = record(
            train_size=64, batch=batch, margin=margin, lr=4.0, max_steps=1, seed=seed
        )  # fmt: skip
        ours, theirs = (network(*shape, activation) for _ in range(2))
        fitting = Fitting.of(ours, x, y)
        noise = torch.Generator().manual_seed(seed)
        with torch.no_grad():  # away from the start, where some points are fitted
            for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
                p += 0.3 * torch.randn(p.shape, generator=noise)
                q.copy_(p)
        before = flat(ours)
        state = State()
        descend(fitting, training, state, silent)
        _, count = plain(theirs.double(), x.double(), y, training, fitting.at_start.double())
        step, expected = flat(ours) - before, flat(theirs) - before
        # Weights of order 1 are rounded to 1e-7.
        tolerance = 1e-5 * float(expected.norm()) + 1e-7 * len(before) ** 0.5
        assert float((step - expected).norm()) < tolerance
        assert state.changed == count
        moved += count
    assert 3 <= moved <= 16
    assert len(windows) == 16


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize(
    "fields",
    [
        {"batch": 1, "lr": 0.25},
        {"batch": 1, "lr": 8.0},
        {"batch": 4, "lr": 0.06},
        {"batch": 3, "lr": 1.0, "sampler": "epoch"},
        {"batch": 16, "lr": 2.0, "depth": 1},
        {"batch": 2, "lr": 1.0, "margin": 0.3, "depth": 3},
        {"batch": 64, "lr": 0.5},
    ],
    ids=str,
)
def test_a_training_is_the_plain_loop(
    record, points, silent, monkeypatch, windows, fields, activation
) -> None:
    """In double precision, where these activations are exact: the same weights at the end."""
    monkeypatch.setattr(compiled, "_KIND", torch.float64)
    training = record(**fields, activation=activation)
    points = points(training)
    ours, theirs = (network(8, training.depth, 16, activation).double() for _ in range(2))
    start = theirs(points.x).detach()
    state = State()
    ending = descend(Fitting.of(ours, points.x, points.y), training, state, silent)
    changed, _ = plain(theirs, points.x, points.y, training, start)
    assert (ending, state.changed) == ("fitted", changed)
    assert float((flat(ours) - flat(theirs)).abs().max()) < 1e-9
    # Several steps per window, or the correction of the first layer is not tested.
    assert sum(windows) > changed / 2 and (training.batch == 64 or max(windows) > 4)


def test_same_outcomes_as_without_it(record, monkeypatch, windows) -> None:
    """In single precision: the same in distribution, seed by seed until rounding has grown."""
    seeds, results = range(24), []
    for kind in (torch.float32, torch.float64):  # the second leaves float32 to torch
        monkeypatch.setattr(compiled, "_KIND", kind)
        before = len(windows)
        outcomes = [train(record(seed=seed, batch=2, lr=0.5)) for seed in seeds]
        assert all(outcome.status == "fitted" for outcome in outcomes)
        results.append([(o.steps, o["alignment"], o["weight_change"]) for o in outcomes])
        assert (len(windows) > before) == (kind == torch.float32)
    ours, theirs = (np.log(np.array(each)) for each in results)
    spread = (ours.std(axis=0) + theirs.std(axis=0)) / 2 / len(seeds) ** 0.5
    assert np.all(np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < spread)
    assert np.median(np.abs(ours - theirs)) < 1e-3


def test_parameters_stay_those_of_the_module(record, silent, windows) -> None:
    x, y = data(8, 64)
    module = network(8, 2, 16, "gelu")
    parameters, before = list(module.parameters()), flat(module)
    state = State()
    descend(Fitting.of(module, x, y), record(max_steps=100), state, silent)
    assert windows and all(p is q for p, q in zip(parameters, module.parameters(), strict=True))
    assert not torch.equal(flat(module), before)
    # What is saved is what the compiled steps use.
    assert any(bool(rest.any()) for rest in state.carry)
    assert [rest.shape for rest in state.carry] == [p.shape for p in parameters]


def test_divergence_is_found(record, silent, windows) -> None:
    x, y = data(8, 64)
    module, state = network(8, 2, 16, "gelu"), State()
    assert descend(Fitting.of(module, x, y), record(lr=1e30), state, silent) == "diverged"
    assert windows and state.changed <= 8


@pytest.mark.parametrize("activation", ["gelu", "relu"])
@pytest.mark.parametrize("dead", [1, 2, 3])
def test_a_layer_without_slope_ends_a_training(record, silent, windows, dead, activation) -> None:
    """As in torch, where the slope of a neuron far below 0 is 0."""
    x, y = data(8, 64)
    module = network(8, 3, 16, activation)
    with torch.no_grad():
        for number, weight in enumerate(module.parameters(), start=1):
            weight.copy_(-100 * weight.abs() - 50 if number == dead else weight.abs())
    before, state = flat(module), State()
    ending = descend(Fitting.of(module, x.abs(), y), record(max_steps=2000), state, silent)
    assert windows and ending == "budget"
    assert torch.equal(flat(module), before)
    assert state.changed == 0 and state.step < 2000


def test_who_holds_the_weights_sees_them_trained(record, silent, windows) -> None:
    x, y = data(8, 64)
    module = network(8, 2, 16, "gelu")
    held, before = module.state_dict(), flat(module)
    descend(Fitting.of(module, x, y), record(max_steps=100), State(), silent)
    assert windows and not torch.equal(flat(module), before)
    for name, weight in module.named_parameters():
        assert torch.equal(held[name], weight)
