"""Whole trainings of networks: observables, what is seen along the way, and real data."""

from __future__ import annotations

import math
import os
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch

from sgdphase._records import Training
from sgdphase.errors import InputError
from sgdphase.networks import FullyConnected, MobileNet, Points, fit, train
from sgdphase.networks._amplification import amplification
from sgdphase.networks._batches import batches
from sgdphase.networks._descent import State, descend
from sgdphase.networks._fitting import Fitting
from sgdphase.networks._observables import early_stopped, error, unfitted, weight_change
from sgdphase.networks._train import build
from sgdphase.problems import CifarAnimals, MnistParity, TeacherTask

needs_files = pytest.mark.skipif(
    "SGDPHASE_DATA" not in os.environ, reason="SGDPHASE_DATA does not name the image files"
)


def weights(module: torch.nn.Module) -> np.ndarray:
    return torch.cat([p.detach().flatten() for p in module.parameters()]).double().numpy()


def plain_training(
    module: torch.nn.Module, data: Points, training: Training, look: Any = None
) -> int:
    """Every step forward and backward until no point is unfitted; the last step of a change.

    `look(step)` is called after every step. All points are looked at when as many in a row were
    fitted; the steps in between change nothing.
    """
    f0 = module(data.x).detach()
    changed = 0
    for step, batch in enumerate(islice(batches(training), training.step_limit), start=1):
        total = 0.0
        for part in np.array_split(batch, max(len(batch) // 16, 1)):
            slack = training.margin - data.y[part] * (module(data.x[part]) - f0[part])
            (slack[slack > 0].sum() / len(batch)).backward()
            total += float((slack.detach() > 0).sum())
        with torch.no_grad():
            for p in module.parameters():
                if p.grad is not None:
                    p.sub_(p.grad, alpha=training.lr)
                p.grad = None
            changed = step if total else changed
            if look is not None:
                look(step)
            quiet = (step - changed) * training.batch
            if quiet < training.train_size and training.batch < training.train_size:
                continue
            if float((data.y * (module(data.x) - f0)).min()) >= training.margin:
                break
    return changed


@needs_files
@pytest.mark.parametrize(
    ("problem", "model", "shape", "size", "batch"),
    [
        (MnistParity(), "fc", {"depth": 3, "width": 32}, 128, 2),
        (MnistParity(), "fc", {"depth": 3, "width": 32}, 128, 8),
        (CifarAnimals(), "mobilenet", {"width": 2}, 16, 8),
    ],
    ids=["fc, B=2", "fc, B=8", "mobilenet"],
)
def test_real_data_to_zero_loss_as_the_plain_loop(
    record, problem, model, shape, size, batch
) -> None:
    plain: dict[str, Any] = {"depth": None, "width": None} | shape
    training = record(
        problem=problem, model=model, train_size=size, test_size=32, batch=batch, lr=4.0,
        margin=2.0**-11, max_steps=6000, **plain,
    )  # fmt: skip
    data, test = (
        Points(torch.from_numpy(part.x).double(), torch.from_numpy(part.y).double())
        for part in (problem.train_set(size, 0), problem.test_set(32, 0))
    )
    ours, theirs, start = (build(training, tuple(data.x.shape[1:])).double() for _ in range(3))
    outcome = fit(ours, data, test, training)
    steps = plain_training(theirs, data, training)
    assert (outcome.status, outcome.steps, outcome.time) == ("fitted", steps, 4.0 * steps)
    assert np.allclose(weights(ours), weights(theirs), rtol=0, atol=1e-9)
    with torch.no_grad():
        z = (test.y * (theirs(test.x) - start(test.x))).numpy()
    moved = np.linalg.norm(weights(theirs) - weights(start)) / np.linalg.norm(weights(start))
    assert outcome["alignment"] == pytest.approx(z.mean(), abs=1e-10)
    assert outcome["test_error"] == (z <= 0).mean()
    assert outcome["weight_change"] == pytest.approx(moved, rel=1e-8)
    assert (outcome["unfitted"], outcome["train_error"]) == (0.0, 0.0)


@needs_files
@pytest.mark.parametrize(
    ("problem", "model", "shape"),
    [(MnistParity(), "fc", {"depth": 3, "width": 32}), (CifarAnimals(), "mobilenet", {"width": 2})],
    ids=["fc", "mobilenet"],
)
def test_real_data_from_the_record(record, problem, model, shape) -> None:
    plain: dict[str, Any] = {"depth": None, "width": None} | shape
    training = record(problem=problem, model=model, train_size=16, test_size=32, lr=4.0, **plain)
    outcome = train(training)
    assert (outcome.status, outcome["unfitted"], outcome["train_error"]) == ("fitted", 0.0, 0.0)
    assert "amplification" not in outcome.observables


@pytest.mark.parametrize("fields", [{"batch": 1, "lr": 4.0}, {"batch": 8, "lr": 0.25}], ids=str)
def test_rows_are_those_of_the_plain_loop(record, points, network, fields) -> None:
    training = record(**fields)
    data, test = points(training), points(training, "test")
    outcome = fit(network(), data, test, training, trajectory=True)
    plain, start = network(), network()
    rows = []

    def look(step: int) -> None:
        if step & (step - 1) and step != outcome.steps:
            return
        z, on_train = (part.y * (plain(part.x) - start(part.x)) for part in (test, data))
        moved = np.linalg.norm(weights(plain) - weights(start)) / np.linalg.norm(weights(start))
        rows.append(
            [step, training.lr * step, float(z.mean()), float((z <= 0).double().mean()), moved,
             float((on_train < training.margin).double().mean()),
             float((on_train <= 0).double().mean())]
        )  # fmt: skip

    assert plain_training(plain, data, training, look) == outcome.steps
    expected = np.array([row for row in rows if row[0] <= outcome.steps])
    names = ["step", "time", "alignment", "test_error", "weight_change", "unfitted", "train_error"]
    assert list(outcome.trajectory) == names
    found = np.column_stack(list(outcome.trajectory.values()))
    assert found.shape == expected.shape and len(found) > 5
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert outcome["first_step_alignment"] == found[0, 2]
    assert (outcome["alignment"], outcome["test_error"]) == (found[-1, 2], found[-1, 3])
    best = int(found[:, 3].argmin())
    assert (outcome["test_error_early"], outcome["early_step"]) == (found[best, 3], found[best, 0])


@pytest.mark.parametrize("fields", [{}, {"momentum": 0.5, "lr": 0.1}, {"batch": 64}], ids=str)
def test_a_trajectory_changes_nothing(record, fields) -> None:
    with_rows = train(record(**fields), trajectory=True)
    without = train(record(**fields))
    assert not without.trajectory
    assert (with_rows.status, with_rows.steps) == (without.status, without.steps)
    assert with_rows.observables == without.observables


def test_early_stopping() -> None:
    assert early_stopped([1, 2, 4, 8], [0.5, 0.1, 0.3, 0.1]) == (0.1, 2)
    assert all(math.isnan(value) for value in early_stopped([], []))


def test_errors_count_what_is_not_a_number_as_wrong() -> None:
    z = torch.tensor([1.0, 0.0, -1.0, math.nan])
    # A point on the boundary is not right, and neither is one without an answer.
    assert not error(z) <= 0.5
    assert not unfitted(z, 0.5) <= 0.5
    assert error(z[:3]) == pytest.approx(2 / 3)
    assert unfitted(z[:3], 0.5) == pytest.approx(2 / 3)
    assert unfitted(torch.tensor([0.5, 0.25]), 0.5) == 0.5


def test_weight_change() -> None:
    module = torch.nn.Linear(2, 2)
    start = [torch.zeros(2, 2), torch.tensor([3.0, 4.0])]
    with torch.no_grad():
        module.weight.copy_(torch.tensor([[1.0, 2.0], [2.0, 0.0]]))
        module.bias.copy_(torch.tensor([3.0, 8.0]))
    # |moved|^2 = 1 + 4 + 4 + 16, |start|^2 = 25.
    assert weight_change(module, start) == 1.0


@pytest.mark.parametrize("lr", [1e3, 1e6, 1e12, 1e20, 1e30])
@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_divergence_is_no_accuracy(record, lr: float, activation: str) -> None:
    outcome = train(record(lr=lr, activation=activation), trajectory=True)
    assert outcome.status == "diverged"
    assert outcome.steps <= 10
    final = ("alignment", "test_error", "weight_change", "unfitted", "train_error", "ntk_change")
    assert all(math.isnan(outcome.observables[name]) for name in (*final, "amplification"))
    # Nothing that was seen, and no best of it, is of outputs that were not finite.
    rows = outcome.trajectory
    finite = np.isfinite(rows["alignment"]) & np.isfinite(rows["weight_change"])
    for name in ("test_error", "unfitted", "train_error"):
        assert np.isnan(rows[name][~finite]).all()
    if not math.isnan(outcome["test_error_early"]):
        assert outcome["early_step"] in rows["step"][finite]


def test_data_that_are_not_finite_diverge(record, points, network) -> None:
    training = record()
    data = points(training)
    data.x[5, 2] = math.nan
    outcome = fit(network(), data, points(training, "test"), training)
    assert outcome.status == "diverged"
    assert math.isnan(outcome["test_error"])


def user_module() -> torch.nn.Module:
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(8, 24), torch.nn.ReLU(), torch.nn.Linear(24, 1), torch.nn.Flatten(0)
    ).double()


def test_any_module_with_one_output(record, points) -> None:
    training = record(lr=0.05, margin=0.1)
    data, test = points(training), points(training, "test")
    module, plain, start = user_module(), user_module(), user_module()
    outcome = fit(module, data, test, training)
    assert (outcome.status, outcome.steps) == ("fitted", plain_training(plain, data, training))
    # Trained in place; the predictor is relative to the weights it came with.
    assert np.allclose(weights(module), weights(plain), rtol=0, atol=1e-10)
    with torch.no_grad():
        z = data.y * (module(data.x) - start(data.x))
    assert float(z.min()) >= training.margin
    assert all(p.grad is None for p in module.parameters())


def test_several_classes(record, silent) -> None:
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(60, 5, generator=generator, dtype=torch.float64)
    y = x[:, :3].argmax(dim=1)
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(5, 32), torch.nn.Tanh(), torch.nn.Linear(32, 3))
    start = module.double()(x).detach()
    training = record(train_size=60, lr=0.2, margin=0.2)
    assert descend(Fitting.of(module, x, y), training, State(), silent) == "fitted"
    F = (module(x) - start).detach()
    for row, label in zip(F.tolist(), y.tolist(), strict=True):
        true = row.pop(label)
        assert true - max(row) >= 0.2


def test_weights_that_are_kept_and_weights_without_use(record, points) -> None:
    training = record(lr=0.05, margin=0.1)
    data, test = points(training), points(training, "test")
    module = user_module()
    module[0].requires_grad_(False)
    before = module[0].weight.clone()
    outcome = fit(module, data, test, training)
    assert outcome.status == "fitted" and math.isfinite(outcome["weight_change"])
    assert torch.equal(module[0].weight, before)
    module = user_module()
    module.register_parameter("spare", torch.nn.Parameter(torch.ones(3, dtype=torch.float64)))
    assert fit(module, data, test, training).status == "fitted"
    assert torch.equal(module.spare, torch.ones(3, dtype=torch.float64))


def test_a_start_at_zero(record, points) -> None:
    training = record(lr=0.05, margin=0.1)
    module = torch.nn.Sequential(torch.nn.Linear(8, 1, bias=False), torch.nn.Flatten(0)).double()
    torch.nn.init.zeros_(module[0].weight)
    outcome = fit(module, points(training), points(training, "test"), training)
    assert outcome.status == "fitted"
    assert not math.isfinite(outcome["weight_change"])


def test_nobody_elses_random_numbers_are_used(record) -> None:
    torch.manual_seed(3)
    np.random.seed(3)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()
    for fields in ({}, {"dynamics": "gaussian"}, {"sampler": "epoch"}):
        train(record(**fields))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])


def test_a_seed_is_a_start_and_an_order_of_its_own(record) -> None:
    one, other = (build(record(seed=seed), (8,)) for seed in (0, 1))
    assert np.array_equal(weights(one), weights(build(record(lr=9.0, batch=1), (8,))))
    assert not np.array_equal(weights(one), weights(other))
    assert train(record(seed=1)).observables == train(record(seed=1)).observables
    assert train(record(seed=1))["alignment"] != train(record(seed=0))["alignment"]


def test_the_record_shapes_the_network(record) -> None:
    module = build(record(depth=3, width=7), (2, 4))
    assert isinstance(module, FullyConnected)
    assert [tuple(p.shape) for p in module.parameters()] == [(8, 7), (7, 7), (7, 7), (7, 1)]
    training = record(problem=CifarAnimals(), model="mobilenet", depth=None, width=2)
    assert isinstance(build(training, (3, 8, 8)), MobileNet)
    with pytest.raises(InputError, match="mobilenet wants images"):
        build(training, (8,))


def test_amplification_of_the_teacher_task(record) -> None:
    training = record(lr=16.0)
    outcome = train(training)
    data = training.problem.train_set(64, 0)
    test = training.problem.test_set(128, 0)
    module = build(training, (8,))
    before = amplification(module)
    device = torch.device("cpu")
    again = fit(module, Points.of(data, device), Points.of(test, device), training)
    assert outcome["amplification"] == again["amplification"] == amplification(module) != before
    turned = record(problem=TeacherTask(dim=8, direction="random"))
    # It is a ratio of weights along the first axis to the others.
    assert "amplification" not in train(turned).observables


def test_float32_ends_with_every_point_fitted(record) -> None:
    # Small steps to a small margin: F is 2^-15 within rounding of 2^-24 for the points at the
    # margin, and passes over batches of different sizes round in different ways.
    for seed in (3, 4):
        outcome = train(
            record(
                problem=TeacherTask(dim=16), train_size=256, batch=256, lr=2e-3, margin=2.0**-15,
                depth=3, width=32, test_size=16, seed=seed, max_steps=2500,
            )
        )  # fmt: skip
        assert (outcome.status, outcome["unfitted"]) == ("fitted", 0.0)


def test_an_unknown_device_says_so(record, monkeypatch) -> None:
    monkeypatch.setenv("SGDPHASE_DEVICE", "abacus")
    with pytest.raises(InputError, match="device = 'abacus'"):
        train(record())
