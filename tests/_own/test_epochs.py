"""The loop of a user's training: shuffled epochs, as a plain one would run them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from sgdphase._own import epochs, forget, user_training  # noqa: E402
from sgdphase._own.module import fresh  # noqa: E402
from sgdphase._own.trainer import train  # noqa: E402
from sgdphase._records import Training  # noqa: E402
from sgdphase._streams import NETWORK_BATCHES, training_stream  # noqa: E402

RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=100)
X = (RNG.standard_normal((100, 6)) + 1.5 * np.eye(6)[Y]).astype(np.float32)
TEST_Y = RNG.integers(3, size=50)
TEST_X = (RNG.standard_normal((50, 6)) + 1.5 * np.eye(6)[TEST_Y]).astype(np.float32)


def mlp() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))


@pytest.fixture
def record() -> Iterator[Callable[..., Training]]:
    """A training of some functions, by default for three epochs of batches of 16."""
    made = []

    def make(model: Any = mlp, y: Any = Y, test_y: Any = TEST_Y, augment: Any = None,
             **options: Any) -> Training:  # fmt: skip
        place = {"lr": 0.1, "batch": 16, "epochs": 3, "seed": 1}
        place |= {name: options.pop(name) for name in tuple(options) if name in place}
        user = user_training(model, lambda: (X, y), test_data=lambda: (TEST_X, test_y),
                             augment=augment, **options)  # fmt: skip
        made.append(user.problem)
        return user.training(**place)

    yield make
    for problem in made:
        forget(problem)


def plainly(training: Training) -> dict[str, float]:
    """The same training by a loop with no care for speed, in which every term is written out."""
    module = fresh(training.problem, training.seed)
    start = [p.detach().clone() for p in module.parameters()]
    if training.optimizer == "adamw":
        optimizer: Any = torch.optim.AdamW(
            module.parameters(), lr=1.0, weight_decay=training.weight_decay,
            betas=(training.beta1, training.beta2),
        )  # fmt: skip
    else:
        optimizer = torch.optim.SGD(module.parameters(), lr=1.0, momentum=training.momentum,
                                    weight_decay=training.weight_decay)  # fmt: skip
    data = training.problem.train_set(100, training.seed)
    x, y = torch.tensor(data.x), torch.tensor(data.y)
    per_epoch = math.ceil(100 / training.batch)
    total = per_epoch * (training.epochs or 0)
    warm = round(training.warmup * total)
    for step in range(total):
        epoch, place = divmod(step, per_epoch)
        order = training_stream(training.seed, NETWORK_BATCHES, epoch).permutation(100)
        chosen = torch.tensor(order[place * training.batch : (place + 1) * training.batch])
        done = (step - warm) / (total - warm)
        shape = {"constant": 1.0, "linear": 1 - done, "cosine": (1 + math.cos(math.pi * done)) / 2}
        rate = (step + 1) / warm if step < warm else shape[training.schedule]
        optimizer.param_groups[0]["lr"] = training.lr * rate
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(module(x[chosen]), y[chosen]).backward()
        optimizer.step()
    with torch.no_grad():
        found, test = module(x), module(torch.tensor(TEST_X))
        labels = torch.tensor(TEST_Y)
        others = (test.sum(1) - test[range(50), labels]) / 2
        pairs = zip(module.parameters(), start, strict=True)
        moved = math.sqrt(sum(float((p - s).square().sum()) for p, s in pairs))
        return {
            "test_error": float((test.argmax(1) != labels).double().mean()),
            "train_loss": float(torch.nn.functional.cross_entropy(found, y)),
            "alignment": float((test[range(50), labels] - others).mean()),
            "weight_change": moved / math.sqrt(sum(float(s.square().sum()) for s in start)),
        }


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"momentum": 0.9, "weight_decay": 0.01, "schedule": "cosine"},
        {"batch": 7, "schedule": "linear", "warmup": 0.3},
        {"batch": 100, "epochs": 5},
        {"optimizer": "adamw", "lr": 0.01, "weight_decay": 0.1, "beta2": 0.95, "warmup": 0.1},
    ],
)
def test_it_is_the_plain_loop(record: Callable[..., Training], options: dict[str, Any]) -> None:
    training = record(**options)
    outcome = train(training)
    assert outcome.status == "finished"
    assert outcome.steps == math.ceil(100 / training.batch) * (training.epochs or 0)
    assert set(outcome.observables) == {*epochs.metric_names("cross-entropy"), "initial_loss"}
    for name, value in plainly(training).items():
        assert outcome.observables[name] == pytest.approx(value, rel=1e-4), name


def test_seeds_differ_and_repeat(record: Callable[..., Training]) -> None:
    training = record()
    again, other = train(training), train(replace(training, seed=2))
    assert train(training).observables == again.observables
    assert again.observables["train_loss"] != other.observables["train_loss"]


def test_points_in_batches() -> None:
    """Every point once an epoch; a batch of one point is left out only where points are coupled."""
    assert epochs.steps_per_epoch(100, 16) == 7
    assert epochs.steps_per_epoch(97, 16) == 7
    assert epochs.steps_per_epoch(97, 16, coupled=True) == 6
    assert epochs.steps_per_epoch(98, 16, coupled=True) == 7
    assert epochs.steps_per_epoch(1, 16, coupled=True) == 1


def test_batchnorm_and_dropout_act_in_training_only(record: Callable[..., Training]) -> None:
    seen: list[tuple[bool, int]] = []

    class Watch(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            seen.append((self.training, len(x)))
            return x

    def model() -> Any:
        return torch.nn.Sequential(
            Watch(), torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(),
            torch.nn.Dropout(0.5), torch.nn.Linear(8, 3),
        )  # fmt: skip

    training = record(model, batch=33, epochs=2)
    seen.clear()
    outcome = train(training)
    # 100 = 3 x 33 + 1: the single point has no statistics.
    assert [count for is_training, count in seen if is_training] == [33] * 6
    assert outcome.steps == 6
    assert {count for is_training, count in seen if not is_training} >= {100, 50}
    # Evaluation draws nothing.
    assert train(training).observables == outcome.observables


def test_augmentation_acts_on_batches_and_not_on_metrics(record: Callable[..., Training]) -> None:
    sizes: list[int] = []

    def augment(x: Any) -> Any:
        sizes.append(len(x))
        return x * 0

    training = record(augment=augment, epochs=1)
    sizes.clear()
    outcome = train(training)
    assert sizes == [16] * 6 + [4]
    # Trained on nothing but zeros, the first layer's weights stay; only biases and the rest move.
    plain = train(record(epochs=1))
    assert outcome.observables["train_loss"] > plain.observables["train_loss"]
    assert outcome.observables["initial_loss"] == plain.observables["initial_loss"]


def test_a_loss_that_is_not_finite_has_diverged(record: Callable[..., Training]) -> None:
    y = X @ np.ones(6)
    outcome = train(record(lambda: torch.nn.Linear(6, 1), y, TEST_X[:, 0], lr=10.0, epochs=60))
    assert outcome.status == "diverged"
    assert all(math.isnan(value) for value in outcome.observables.values())


@pytest.mark.parametrize("shape", [(100,), (100, 1), (100, 2)])
def test_a_regression(record: Callable[..., Training], shape: tuple[int, ...]) -> None:
    """A linear model on linear targets comes to their least squares."""
    weights = np.arange(6 * math.prod(shape[1:])).reshape(6, -1) / 10
    y, test_y = ((points @ weights).reshape(len(points), *shape[1:]) for points in (X, TEST_X))
    outputs = math.prod(shape[1:])
    training = record(
        lambda: torch.nn.Linear(6, outputs), y, test_y, lr=0.1, epochs=60, batch=20, loss="mse"
    )
    outcome = train(training)
    assert outcome.observables["test_mse"] < 1e-4 < outcome.observables["initial_loss"]
    assert set(outcome.observables) == {*epochs.metric_names("mse"), "initial_loss"}


def test_losses() -> None:
    one, two = torch.tensor([2.0, -1.0]), torch.tensor([[2.0, 0.0], [0.0, -1.0]])
    signs, classes = torch.tensor([1.0, 1.0]), torch.tensor([0, 1])
    cross, hinge = epochs.LOSSES["cross-entropy"], epochs.LOSSES["hinge"]
    expected = (math.log(1 + math.exp(-2)) + math.log(1 + math.exp(1))) / 2
    assert float(cross(one, signs)) == pytest.approx(expected)
    assert float(cross(two, classes)) == pytest.approx(expected)
    assert float(hinge(one, signs)) == float(hinge(two, classes)) == pytest.approx(1.0)


def test_a_killed_training_goes_on_as_if_nothing_had_been(
    record: Callable[..., Training], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def model() -> Any:
        return torch.nn.Sequential(
            torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5),
            torch.nn.Linear(8, 3),
        )  # fmt: skip

    training = record(model, epochs=6, optimizer="adamw", lr=0.01, schedule="cosine")
    whole = train(training)
    monkeypatch.setattr(epochs, "EVERY_SECONDS", 0.0)
    path = tmp_path / "state"
    stream_of = epochs.training_stream

    def killed(seed: int, stream: int, epoch: int) -> np.random.Generator:
        if epoch == 4:
            raise KeyboardInterrupt
        return stream_of(seed, stream, epoch)

    monkeypatch.setattr(epochs, "training_stream", killed)
    with pytest.raises(KeyboardInterrupt):
        train(training, checkpoint=path)
    visited: list[int] = []

    def counted(seed: int, stream: int, epoch: int) -> np.random.Generator:
        visited.extend([epoch] * (stream == epochs.NETWORK_BATCHES))
        return stream_of(seed, stream, epoch)

    monkeypatch.setattr(epochs, "training_stream", counted)
    again = train(training, checkpoint=path)
    assert visited == [4, 5]
    assert again.observables == whole.observables and again.steps == whole.steps
    # A file that is not whole is as good as none.
    path.write_bytes(path.read_bytes()[:100])
    visited.clear()
    assert train(training, checkpoint=path).observables == whole.observables
    assert visited == list(range(6))
