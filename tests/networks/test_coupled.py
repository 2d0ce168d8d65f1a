"""Points that see each other: BatchNorm against loops and statistics by hand."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sgdphase._own import fitted
from sgdphase._own.code import user_code
from sgdphase._own.module import fresh
from sgdphase._own.problem import user_functions
from sgdphase._records import Training
from sgdphase.networks._batches import batches
from sgdphase.networks._coupled import CoupledFitting, batch_norms
from sgdphase.networks._descent import State, _is_dead, descend
from sgdphase.networks._log import Log, copies
from sgdphase.networks._losses import margins
from sgdphase.networks._observables import alignment, scores
from sgdphase.networks._state import Watch

DIM = 4


def net(momentum: float | None = 0.1, tracks: bool = True) -> nn.Sequential:
    torch.manual_seed(7)
    norm = nn.BatchNorm1d(6, momentum=momentum, track_running_stats=tracks)
    second = nn.BatchNorm1d(6, momentum=momentum, track_running_stats=tracks)
    layers = (nn.Linear(DIM, 6), norm, nn.Tanh(), nn.Linear(6, 6), second, nn.Linear(6, 3))
    return nn.Sequential(*layers).double().eval()


def points(count: int) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(count)
    x = rng.standard_normal((count, DIM)) * [1, 2, 3, 4] + 1
    return torch.from_numpy(x), torch.from_numpy((x[:, :3] / [1, 2, 3]).argmax(axis=1))


def push(module: nn.Module, size: float = 0.3) -> None:
    """Move the weights, somewhere."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in module.parameters():
            weight += size * torch.randn(weight.shape, generator=generator, dtype=weight.dtype)


def record(count: int, **fields: Any) -> Training:
    x, y = points(count + 20)
    problem = user_functions(user_code(model=net, data=lambda: (x, y)))
    plain: dict[str, Any] = {
        "problem": problem, "train_size": count, "lr": 0.1, "batch": 8, "margin": 2.0**-6,
        "model": "own", "test_size": 20, "max_steps": 5000,
    }  # fmt: skip
    return Training(**(plain | fields))


@pytest.mark.parametrize("tracks", [True, False])
def test_the_predictor_is_zero_at_the_start(tracks: bool) -> None:
    module = net(tracks=tracks)
    x, y = points(700)
    fitting = CoupledFitting.of(module, x, y)
    for some in (torch.arange(2), torch.arange(5, 50), torch.arange(700)):
        assert float(fitting.margins_with_gradient(some).detach().abs().max()) == 0.0
    test = fitting.looking_at(module, x[:30] + 1, y[:30], fitting.statistics)
    for look in (fitting, test):
        assert float(look.margins().abs().max()) == 0.0
    push(module)
    assert all(float(look.margins().abs().min()) > 0 for look in (fitting, test))


@pytest.mark.parametrize(
    "fields", [{}, {"momentum": 0.9, "weight_decay": 0.01, "lr": 0.01}, {"batch": 2}], ids=str
)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_training_is_a_plain_loop_in_train_mode(fields: dict[str, Any], loss: str) -> None:
    training = record(48, max_steps=40, loss=loss, margin=1.0, **fields)
    data = training.problem.train_set(48, 0)
    x, y = torch.from_numpy(data.x), torch.from_numpy(data.y)
    module = fresh(training.problem, 0).train()
    frozen = copy.deepcopy(module)
    optimiser = torch.optim.SGD(
        module.parameters(), training.lr, training.momentum, weight_decay=training.weight_decay
    )
    for some in itertools.islice(batches(training), 40):
        with torch.no_grad():
            at_start = frozen(x[some])
        F = module(x[some]) - at_start
        if loss == "logistic":
            value = functional.cross_entropy(F, y[some])
        else:
            others = F.scatter(1, y[some][:, None], -torch.inf).amax(dim=1)
            value = functional.relu(1.0 - F[range(len(some)), y[some]] + others).mean()
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
    fitting, _ = fitted._fittings(training)
    assert fitting.coupled
    descend(fitting, training, State(), Watch())
    for ours, theirs in zip(fitting.parameters, module.parameters(), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def normalised(x: Tensor, layer: nn.Module) -> tuple[Tensor, Tensor, Tensor]:
    """By hand: the points by their own mean and variance, and these."""
    mean, variance = x.mean(dim=0), x.var(dim=0, correction=0)
    y = (x - mean) / torch.sqrt(variance + layer.eps) * layer.weight + layer.bias
    return y, mean, x.var(dim=0)


@pytest.mark.parametrize("momentum", [0.1, None, 0.0])
@pytest.mark.parametrize("count", [3, 512])
def test_statistics_are_those_of_the_training_points(count: int, momentum: float | None) -> None:
    module = net(momentum)
    x, y = points(count)
    fitting = CoupledFitting.of(module, x, y)
    push(module)
    fitting.margins()
    with torch.no_grad():
        first, *one = normalised(module[0](x), module[1])
        _, *two = normalised(module[3](torch.tanh(first)), module[4])
    for layer, (mean, variance) in ((module[1], one), (module[4], two)):
        assert torch.allclose(layer.running_mean, mean, rtol=1e-12, atol=1e-12)
        assert torch.allclose(layer.running_var, variance, rtol=1e-12, atol=1e-12)
        assert layer.momentum == momentum and not layer.training and layer.track_running_stats


@pytest.mark.parametrize("count", [513, 514, 700, 1536])
def test_in_parts_all_points_count_alike(count: int) -> None:
    module = net()
    x, y = points(count)
    CoupledFitting.of(module, x, y)
    with torch.no_grad():
        found = module[0](x if count != 513 else x[:512])
    # The first layer sees no coupling: the mean is that of all points.
    assert torch.allclose(module[1].running_mean, found.mean(dim=0), rtol=1e-12, atol=1e-12)
    parts = torch.split(found, 512)
    weighted = sum(len(part) * part.var(dim=0) for part in parts) / len(found)
    assert torch.allclose(module[1].running_var, weighted, rtol=1e-12, atol=1e-12)


def test_what_is_seen_depends_on_the_weights_alone() -> None:
    module = net()
    x, y = points(60)
    fitting = CoupledFitting.of(module, x, y)
    test = fitting.looking_at(module, x[:9] - 1, y[:9], fitting.statistics)
    push(module)
    expected, of_test, some = fitting.margins(), test.margins(), fitting.margins(torch.arange(7))
    for batch in (torch.arange(2), torch.arange(30, 60)):
        fitting.margins_with_gradient(batch).sum().backward()
    assert torch.equal(test.margins(), of_test)
    assert torch.equal(fitting.margins(), expected)
    assert torch.equal(fitting.margins(torch.arange(7)), some)
    assert torch.allclose(some, expected[:7])
    # And equals the module at the statistics of the training set, minus the same at the start.
    start = net()
    for each in (start, module):
        for layer in batch_norms(each):
            layer.reset_running_stats()
            layer.momentum = None
        each.train()(x)
        each.eval()
    with torch.no_grad():
        F = module(x[:9] - 1) - start(x[:9] - 1)
    assert torch.allclose(of_test, margins(F, y[:9]), rtol=1e-10, atol=1e-12)
    # So does the alignment, after batches with statistics of their own.
    log = Log(fitting, test, copies(fitting.parameters), 1.0, trajectory=False)
    module.train()(x[:2])
    module.eval()
    log.look(1)
    assert log.column("alignment")[0] == pytest.approx(alignment(scores(F, y[:9])), rel=1e-10)


@pytest.mark.parametrize(
    "fields", [{}, {"loss": "logistic", "margin": 1.0, "batch": 16, "lr": 0.3}], ids=str
)
def test_it_ends_fitted(fields: dict[str, Any]) -> None:
    outcome = fitted.train(record(48, **fields))
    assert outcome.status == "fitted" and outcome["unfitted"] == outcome["train_error"] == 0.0
    assert outcome["alignment"] > 0 and outcome["test_error"] < 0.6


def test_one_last_unfitted_point_is_no_error() -> None:
    # Batches of fitted points for an epoch, and one point that is not: is the training dead?
    module = net()
    x, _ = points(30)
    start = CoupledFitting.of(module, x, torch.zeros(30, dtype=torch.int64))
    push(module)
    start.margins()
    with torch.no_grad():
        best = (module(x) - start.at_start).argmax(dim=1)
    fitting = CoupledFitting(
        module, x, best, start.at_start, start.parameters, 0.0, start.start, start.statistics
    )
    z = fitting.margins().sort().values
    training = record(30, margin=float(z[:2].mean()))
    assert not _is_dead(fitting, training)


def test_the_noise_scale_of_few_points_is_a_number() -> None:
    # Groups of two points: one alone has no statistics.
    assert fitted.noise_scales(record(40, lr=0.01))["start"] > 0
