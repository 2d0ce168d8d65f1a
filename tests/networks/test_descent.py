"""Training against independent plain loops: the same weights, the same last step, every path."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, islice
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from sgdphase._records import Training
from sgdphase.networks import Points, fit
from sgdphase.networks import _descent as descent
from sgdphase.networks._batches import batches
from sgdphase.networks._descent import State, descend
from sgdphase.networks._fitting import Fitting


def weights(module: torch.nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def plain_loop(module: torch.nn.Module, points: Points, training: Training) -> int:
    """Every batch forward and backward, all points looked at after every step; the last change."""
    x, y, kappa = points.x, points.y, training.margin
    with torch.no_grad():
        f0 = module(x)
    changed = 0
    for step, batch in enumerate(islice(batches(training), training.step_limit), start=1):
        F = module(x[batch]) - f0[batch]
        loss = torch.clamp(kappa - y[batch] * F, min=0).mean()
        module.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in module.parameters():
                p -= training.lr * p.grad
            changed = step if loss > 0 else changed
            if bool((y * (module(x) - f0) >= kappa).all()):
                break
    return changed


def run(module: torch.nn.Module, points: Points, training: Training, silent: Any) -> Any:
    state = State()
    ending = descend(Fitting.of(module, points.x, points.y), training, state, silent)
    return ending, state


@pytest.fixture
def paths(monkeypatch):
    """How often each way to the next active batch was gone."""
    counts: Counter[str] = Counter()

    def counting(name: str) -> None:
        original = getattr(descent, name)

        def counted(*arguments: Any) -> Any:
            counts[name] += 1
            return original(*arguments)

        monkeypatch.setattr(descent, name, counted)

    for name in ("_skip", "_at_once", "_knowing_all", "_apply"):
        counting(name)
    return counts


# With the ways that each must go: (at once, window, knowing all). The last is done at every end.
SETTINGS = [
    ({"batch": 1, "lr": 0.25}, (True, True, True)),
    ({"batch": 1, "lr": 8.0}, (True, True, True)),
    ({"batch": 4, "lr": 0.03}, (True, True, True)),
    ({"batch": 16, "lr": 0.5}, (True, True, True)),
    ({"batch": 16, "lr": 4.0, "sampler": "epoch"}, (True, True, True)),
    ({"batch": 3, "lr": 1.0, "sampler": "epoch"}, (True, True, True)),
    ({"batch": 64, "lr": 0.5}, (True, False, True)),
    ({"batch": 63, "lr": 16.0}, (True, False, True)),
    ({"batch": 2, "lr": 1.0, "margin": 0.3}, (True, True, True)),
]


@pytest.mark.parametrize(("fields", "ways"), SETTINGS, ids=lambda value: str(value))
def test_equals_the_plain_loop(record, points, network, silent, paths, fields, ways) -> None:
    training = record(**fields)
    data = points(training)
    ours, plain = network(), network()
    ending, state = run(ours, data, training, silent)
    steps = plain_loop(plain, data, training)
    assert ending == "fitted"
    assert state.changed == steps
    assert torch.allclose(weights(ours), weights(plain), rtol=0, atol=1e-10)
    assert float((weights(ours) - weights(network())).norm()) > 1e-3
    at_once, knowing = paths["_at_once"], paths["_knowing_all"]
    window = paths["_skip"] - at_once - knowing
    assert (at_once > 0, window > 0, knowing > 0) == ways


def test_skips_most_of_a_late_training(record, points, network, silent, paths) -> None:
    training = record(batch=1, train_size=256, lr=0.5)
    ending, state = run(network(), points(training), training, silent)
    assert ending == "fitted"
    # Steps that change weights are a small part, and looking for them is not done step by step.
    assert paths["_apply"] < state.changed / 2
    assert paths["_skip"] < state.changed / 2


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("weight_decay", [0.0, 0.01])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_momentum_and_decay_are_those_of_torch(
    record, points, network, silent, momentum, weight_decay, loss
) -> None:
    # torch keeps v / -lr, which is the same while lr is constant. Short enough not to be fitted.
    training = record(
        momentum=momentum, weight_decay=weight_decay, loss=loss, lr=0.05, max_steps=40
    )
    data = points(training)
    ours, theirs = network(), network()
    ending, state = run(ours, data, training, silent)
    optimizer = torch.optim.SGD(
        theirs.parameters(), lr=0.05, momentum=momentum, weight_decay=weight_decay
    )
    with torch.no_grad():
        f0 = theirs(data.x)
    for batch in islice(batches(training), 40):
        u = data.y[batch] * (theirs(data.x[batch]) - f0[batch]) / training.margin
        each = torch.clamp(1 - u, min=0) if loss == "hinge" else torch.log1p(torch.exp(-u))
        optimizer.zero_grad()
        (training.margin * each.mean()).backward()
        optimizer.step()
    assert (ending, state.step) == ("budget", 40)
    assert torch.allclose(weights(ours), weights(theirs), rtol=0, atol=1e-12)


def test_momentum_ends_with_every_point_fitted(record, points, network, silent) -> None:
    training = record(momentum=0.9, lr=0.1)
    data, module = points(training), network()
    fitting = Fitting.of(module, data.x, data.y)
    state = State()
    assert descend(fitting, training, state, silent) == "fitted"
    assert bool((fitting.margins() >= training.margin).all())
    # The velocity moves the weights to the last.
    assert state.changed == state.step


def test_decay_goes_on_to_the_end_of_the_budget(record, points, network, silent) -> None:
    # SI 2: with weight decay the dynamics never stops.
    training = record(weight_decay=1e-4, max_steps=2000)
    _, state = run(network(), points(training), training, silent)
    assert state.step == state.changed == 2000


@pytest.mark.parametrize("loss", ["quadratic-hinge", "smooth-hinge", "square", "logistic"])
def test_other_losses_are_stopped_half_way(record, points, network, silent, loss) -> None:
    training = record(loss=loss, lr=0.5, batch=16)
    data, module = points(training), network()
    fitting = Fitting.of(module, data.x, data.y)
    assert descend(fitting, training, State(), silent) == "fitted"
    assert float(fitting.margins().min()) >= training.margin / 2


def test_budgets(record, points, network, silent) -> None:
    unlimited = record(batch=2)
    data = points(unlimited)
    _, full = run(network(), data, unlimited, silent)
    middle = full.changed // 2
    for budget in (
        {"max_steps": middle},
        {"max_steps": None, "max_samples": 2 * middle + 1},
        {"max_steps": None, "max_time": 1.0 * middle + 0.5},
    ):
        training = record(batch=2, **budget)
        ours, plain = network(), network()
        ending, state = run(ours, data, training, silent)
        assert (ending, state.step) == ("budget", middle)
        assert state.changed == plain_loop(plain, data, record(batch=2, max_steps=middle))
        assert torch.allclose(weights(ours), weights(plain), rtol=0, atol=1e-10)
    for steps, expected in ((full.changed, "fitted"), (full.changed - 1, "budget")):
        ending, state = run(network(), data, record(batch=2, max_steps=steps), silent)
        assert ending == expected
    # Seconds: at least a step is done, and nobody waits for the end.
    ending, state = run(network(), data, record(batch=2, max_seconds=1e-9), silent)
    assert ending == "budget" and 1 <= state.step < full.changed


def test_budget_of_every_length_in_a_late_training(record, points, network, silent) -> None:
    # Ends between active steps, where whole stretches of batches are passed at once.
    training = record(batch=1, lr=4.0)
    data = points(training)
    _, full = run(network(), data, training, silent)
    for limit in range(full.changed - 40, full.changed):
        shorter = record(batch=1, lr=4.0, max_steps=limit)
        ours, plain = network(), network()
        ending, state = run(ours, data, shorter, silent)
        assert (ending, state.step) == ("budget", limit)
        if limit % 13 == 0:
            assert state.changed == plain_loop(plain, data, shorter)
            assert torch.allclose(weights(ours), weights(plain), rtol=0, atol=1e-10)


class Passes(torch.nn.Module):
    """Linear, with a rounding that differs between passes with and without a gradient.

    So does that of batches of different sizes; here it is enlarged to 1 %.
    """

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(inputs, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight * (1.0 if torch.is_grad_enabled() else 0.99)


@pytest.mark.parametrize("dynamics", ["sgd", "unfitted"])
@pytest.mark.parametrize("batch", [1, 2, 8])
def test_ends_though_two_passes_disagree_on_a_point(record, silent, batch, dynamics) -> None:
    # One point learns slowly, by 0.004 of the margin whenever it is seen, and so comes to where one
    # pass calls it fitted and the other does not. It must not stay there.
    x = 4 * torch.eye(8, dtype=torch.float64)
    x[0, 0] = 1.0
    data = Points(x, torch.ones(8, dtype=torch.float64))
    visits = 1 if dynamics == "unfitted" else batch
    training = record(
        train_size=8, batch=batch, lr=0.004 * visits, margin=1.0, dynamics=dynamics, max_steps=4000
    )
    ending, _ = run(Passes(8), data, training, silent)
    assert ending == "fitted"


def test_a_network_that_cannot_move_changes_no_weight(record) -> None:
    # Dead units: no gradient at any point. `steps` is the last step that changed a weight.
    module = torch.nn.Sequential(
        torch.nn.Linear(2, 4),
        torch.nn.ReLU(),
        torch.nn.Linear(4, 1, bias=False),
        torch.nn.Flatten(0),
    )
    with torch.no_grad():
        module[0].bias.fill_(-100.0)
    data = Points(torch.randn(8, 2, generator=torch.Generator().manual_seed(0)), torch.ones(8))
    before = weights(module)
    outcome = fit(module, data, data, record(train_size=8, batch=2, max_steps=200))
    assert torch.equal(weights(module), before)
    assert outcome.status != "fitted"
    assert outcome.steps == 0


@pytest.mark.parametrize("fields", [{}, {"momentum": 0.5}, {"batch": 64}, {"dynamics": "gaussian"}])
@pytest.mark.parametrize("lr", [1e40, 1e80, 1e100])
def test_divergence_is_found_at_once(record, points, network, silent, lr, fields) -> None:
    training = record(lr=lr, **fields)
    ending, state = run(network(), points(training), training, silent)
    assert ending == "diverged"
    assert state.step <= 8


def test_a_weight_that_is_not_finite_has_diverged_whatever_the_outputs(record, silent) -> None:
    # tanh(inf) = 1: outputs stay finite, and all points are fitted.
    class Saturating(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(0.0, dtype=torch.float64))

        def forward(self, x: Tensor) -> Tensor:
            return torch.tanh(1e250 * x * self.weight)

    data = Points(torch.ones(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64))
    training = record(train_size=4, batch=2, lr=1e100, margin=0.5)
    module = Saturating()
    ending, _ = run(module, data, training, silent)
    assert module.weight.item() == math.inf
    assert ending == "diverged"


@pytest.fixture
def line():
    """A linear network on 6 points of which some are fitted, and the points' gradients."""
    rng = np.random.default_rng(3)
    x, y = torch.from_numpy(rng.normal(size=(6, 3))), torch.ones(6, dtype=torch.float64)

    def make() -> Fitting:
        module = torch.nn.Sequential(torch.nn.Linear(3, 1, bias=False), torch.nn.Flatten(0))
        module.double()
        with torch.no_grad():
            module[0].weight.zero_()
        # The predictor is 0 - at_start: 5 on the fitted points, 0 on the others.
        at_start = torch.tensor([0.0, -5.0, 0.0, 0.0, -5.0, 0.0], dtype=torch.float64)
        return Fitting(module, x, y, at_start, tuple(module.parameters()))

    gradients = -x.numpy() * np.array([1.0, 0, 1, 1, 0, 1])[:, None]
    return make, gradients


def one_step(make, training: Training, silent: Any) -> np.ndarray:
    fitting = make()
    descend(fitting, training, State(), silent)
    return fitting.parameters[0].detach().numpy()[0]


@pytest.mark.parametrize("batch", [2, 6])
def test_gaussian_noise_has_mean_and_covariance_of_the_mini_batch(
    record, line, silent, batch
) -> None:
    make, g = line
    draws = 1500
    moves = np.array(
        [
            one_step(
                make,
                record(
                    train_size=6, batch=batch, margin=1.0, lr=0.5, max_steps=1, seed=seed,
                    dynamics="gaussian",
                ),
                silent,
            )
            for seed in range(draws)
        ]
    )  # fmt: skip
    # The mini-batch's own, over all subsets.
    subsets = np.array([g[list(chosen)].mean(axis=0) for chosen in combinations(range(6), batch)])
    mean, covariance = -0.5 * g.mean(axis=0), 0.25 * np.cov(subsets.T, bias=True)
    if batch == 6:  # one subset only
        covariance = np.zeros((3, 3))
    variance = np.diag(covariance)
    rounding = 1e-13
    assert np.all(np.abs(moves.mean(axis=0) - mean) <= 4.5 * np.sqrt(variance / draws) + rounding)
    spread = np.sqrt((np.outer(variance, variance) + covariance**2) / draws)
    assert np.all(np.abs(np.cov(moves.T) - covariance) <= 4.5 * spread + rounding)


def test_unfitted_dynamics_draws_from_the_unfitted_points_alone(record, line, silent) -> None:
    make, g = line
    pairs = [-g[list(pair)].mean(axis=0) for pair in combinations([0, 2, 3, 5], 2)]
    counts = np.zeros(len(pairs))
    for seed in range(600):
        training = record(
            train_size=6, batch=2, margin=1.0, lr=1.0, max_steps=1, seed=seed, dynamics="unfitted"
        )
        distance = np.abs(np.array(pairs) - one_step(make, training, silent)).max(axis=1)
        assert distance.min() < 1e-12
        counts[distance.argmin()] += 1
    # Six pairs, 100 each, deviation 9.
    assert np.abs(counts - 100).max() < 4 * 9.2
    # Fewer unfitted points than the batch wants: all of them.
    training = record(train_size=6, batch=5, margin=1.0, max_steps=1, dynamics="unfitted")
    expected = -g[[0, 2, 3, 5]].mean(axis=0)
    assert np.allclose(one_step(make, training, silent), expected, atol=1e-12)


@pytest.mark.parametrize("dynamics", ["unfitted", "gaussian"])
def test_other_dynamics_fit_all_points(record, points, network, silent, dynamics) -> None:
    training = record(dynamics=dynamics, lr=0.25, batch=8)
    data, module = points(training), network()
    fitting = Fitting.of(module, data.x, data.y)
    state = State()
    assert descend(fitting, training, state, silent) == "fitted"
    assert bool((fitting.margins() >= training.margin).all())
    assert state.changed == state.step
