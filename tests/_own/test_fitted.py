"""A module of the user's: trained as a plain loop would, and left as it was."""

from __future__ import annotations

import copy
import itertools
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sgdphase._own import fitted, trainer
from sgdphase._own.code import user_code
from sgdphase._own.module import Traits, fresh
from sgdphase._own.problem import user_file, user_functions
from sgdphase._records import Training
from sgdphase.errors import InputError, UserError
from sgdphase.networks import _checkpoint as checkpoint
from sgdphase.networks._batches import batches
from sgdphase.networks._descent import State, descend
from sgdphase.networks._fitting import Fitting
from sgdphase.networks._state import Watch
from sgdphase.problems import TeacherTask

Loss = Callable[[Tensor, Tensor], Tensor]

POINTS, DIM = 96, 5
X = np.random.default_rng(3).standard_normal((POINTS, DIM))
TWO = (X[:, 0] > 0).astype(int)
THREE = (X[:, :3]).argmax(axis=1)


def linear(outputs: int = 3, **options: Any) -> Callable[[], nn.Module]:
    return lambda: nn.Linear(DIM, outputs, **({"dtype": torch.float64} | options))


def deep(outputs: int) -> Callable[[], nn.Module]:
    return lambda: nn.Sequential(nn.Linear(DIM, 32), nn.ReLU(), nn.Linear(32, outputs))


def record(model: Any, x: Any = X, y: Any = THREE, **fields: Any) -> Training:
    problem = user_functions(user_code(model=model, data=lambda: (x, y)))
    plain: dict[str, Any] = {
        "problem": problem, "train_size": 64, "lr": 0.5, "batch": 4, "margin": 2.0**-8,
        "model": "own", "test_size": 16, "max_steps": 20_000,
    }  # fmt: skip
    return Training(**(plain | fields))


def state_of(module: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in module.state_dict().items()}


def same_state(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


# Against loops that share nothing with the trainer but its batches.


def plain_loop(training: Training, loss: Loss) -> tuple[nn.Module, Tensor]:
    """`training.max_steps` steps of SGD on `loss(f - f0, y)`; the module, and F of all points."""
    data = training.problem.train_set(training.train_size, training.seed)
    x, y = torch.from_numpy(data.x), torch.from_numpy(data.y)
    module = fresh(training.problem, training.seed)
    start = copy.deepcopy(module)
    optimiser = torch.optim.SGD(
        module.parameters(), training.lr, training.momentum, weight_decay=training.weight_decay
    )
    for points in itertools.islice(batches(training), training.max_steps):
        optimiser.zero_grad()
        loss(module(x[points]) - start(x[points]).detach(), y[points]).backward()
        optimiser.step()
    return module, (module(x) - start(x)).detach()


def trained(training: Training) -> Fitting:
    fitting, _ = fitted._fittings(training)
    descend(fitting, training, State(), Watch())
    return fitting


def crammer_singer(margin: float) -> Loss:
    """The mean of `(kappa - F_y + max of the others)+`, class by class."""

    def loss(F: Tensor, y: Tensor) -> Tensor:
        total = torch.zeros((), dtype=F.dtype)
        for scores, label in zip(F, y.tolist(), strict=True):
            others = torch.cat([scores[:label], scores[label + 1 :]])
            total = total + functional.relu(margin - scores[label] + others.amax())
        return total / len(y)

    return loss


VARIANTS: list[dict[str, Any]] = [
    {},
    {"batch": 1},
    {"batch": 64},
    {"batch": 16, "sampler": "epoch"},
    {"momentum": 0.8, "lr": 0.1},
    {"weight_decay": 0.01},
    {"momentum": 0.9, "weight_decay": 0.01, "lr": 0.05},
]


@pytest.mark.parametrize("fields", VARIANTS, ids=str)
def test_hinge_training_of_three_classes_is_the_plain_loop(fields: dict[str, Any]) -> None:
    training = record(linear(), max_steps=150, margin=0.05, **fields)
    module, _ = plain_loop(training, crammer_singer(training.margin))
    found = trained(training)
    for ours, theirs in zip(found.parameters, module.parameters(), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("fields", VARIANTS, ids=str)
def test_cross_entropy_is_that_of_torch(fields: dict[str, Any]) -> None:
    training = record(linear(4), max_steps=100, margin=1.0, loss="logistic", **fields)
    module, _ = plain_loop(training, lambda F, y: functional.cross_entropy(F, y))
    found = trained(training)
    for ours, theirs in zip(found.parameters, module.parameters(), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_one_output_is_hinge_of_signed_labels() -> None:
    training = record(linear(1), y=TWO * 7 - 3, max_steps=150, margin=0.05)
    module, F = plain_loop(
        training,
        lambda F, y: functional.relu(0.05 - (2 * y - 1) * F[:, 0]).mean(),
    )
    found = trained(training)
    for ours, theirs in zip(found.parameters, module.parameters(), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    y = training.problem.train_set(64, 0).y
    assert torch.allclose(found.margins(), torch.from_numpy(2 * y - 1) * F[:, 0])


def test_cross_entropy_of_one_output_is_logistic() -> None:
    training = record(linear(1), y=TWO, max_steps=50, margin=1.0, loss="logistic")
    module, _ = plain_loop(
        training,
        lambda F, y: functional.binary_cross_entropy_with_logits(F[:, 0], y.double()),
    )
    for ours, theirs in zip(trained(training).parameters, module.parameters(), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-10, atol=1e-12)


# It ends with all fitted, and what is reported is what a look at the margins says.


@pytest.mark.parametrize(
    "fields",
    [{}, {"momentum": 0.5, "lr": 0.1}, {"weight_decay": 1e-4}, {"loss": "logistic", "margin": 1.0}],
    ids=str,
)
@pytest.mark.parametrize("outputs", [3, 5])
def test_it_ends_when_all_are_fitted(outputs: int, fields: dict[str, Any]) -> None:
    training = record(deep(outputs), **fields)
    outcome = fitted.train(training)
    assert outcome.status == "fitted" and 0 < outcome.steps < 20_000
    assert outcome["unfitted"] == outcome["train_error"] == 0.0
    goal = 0.5 if training.loss == "logistic" else training.margin
    assert float(trained(training).margins().min()) >= goal
    assert outcome["alignment"] > 0 and 0 <= outcome["test_error"] < 0.5


def test_alignment_and_errors_are_those_of_the_test_set() -> None:
    training = record(linear(), max_steps=30)
    outcome = fitted.train(training)
    module, _ = plain_loop(training, crammer_singer(training.margin))
    test = training.problem.test_set(16, 0)
    x, start = torch.from_numpy(test.x), fresh(training.problem, 0)
    F = (module(x) - start(x)).detach().numpy()
    others = [(f[k], np.delete(f, k)) for f, k in zip(F, test.y, strict=True)]
    scores = [true - rest.mean() for true, rest in others]
    assert outcome["alignment"] == pytest.approx(np.mean(scores), rel=1e-9)
    assert outcome["test_error"] == np.mean([true <= rest.max() for true, rest in others])
    assert "ntk_change" not in outcome.observables


# The module that was given.


def test_a_module_that_was_given_is_left_as_it_was() -> None:
    module = nn.Sequential(nn.Linear(DIM, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 3))
    module.train()
    before = state_of(module)
    for model in (module, lambda: module):
        training = record(model, max_steps=20)
        fitted.train(training), fitted.noise_scales(training), fitted.look_at(training)
    assert same_state(before, state_of(module))
    assert all(part.training for part in module.modules())
    assert all(weight.grad is None for weight in module.parameters())


def test_seeds_give_weights_of_their_own() -> None:
    problem = record(deep(3)).problem
    one, again, other = (state_of(fresh(problem, seed)) for seed in (0, 0, 1))
    assert same_state(one, again)
    assert not any(torch.equal(one[name], other[name]) for name in one)


def test_lazy_layers_have_weights_of_their_seed_too() -> None:
    def lazy() -> nn.Module:
        return nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(3))

    found = []
    for seed in (0, 0, 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # lazy modules are in development
            found.append(fitted.train(record(lazy, seed=seed, max_steps=1)).observables)
            weights = fresh(record(lazy).problem, 0).parameters()
            assert all(nn.parameter.is_lazy(weight) for weight in weights)
    assert found[0] == found[1]
    # Alone, the data of a seed do not tell: the weights are to differ on the same points too.
    one, other = (_lazy_weights(lazy, seed) for seed in (0, 1))
    assert not torch.equal(one, other)


def _lazy_weights(model: Callable[[], nn.Module], seed: int) -> Tensor:
    training = record(model, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with training.problem.code.guest("model", seed):
            return fitted._fittings(training)[0].parameters[0].detach()


def test_global_random_state_is_left_alone() -> None:
    torch.manual_seed(11)
    before = torch.get_rng_state()
    training = record(deep(3), max_steps=10)
    outcome = fitted.train(training)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(12)
    assert fitted.train(training).observables == outcome.observables


def test_frozen_weights_stay() -> None:
    def model() -> nn.Module:
        module = deep(3)()
        module[0].requires_grad_(False)
        return module

    training = record(model, max_steps=50)
    before = state_of(fresh(training.problem, 0))
    after = state_of(trained(training).module.module)
    assert torch.equal(before["0.weight"], after["0.weight"])
    assert not torch.equal(before["2.weight"], after["2.weight"])
    with pytest.raises(InputError, match="has no weights to train"):
        fresh(record(lambda: deep(3)().requires_grad_(False)).problem, 0)


# Shapes, labels and inputs.


class _Squeezed(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).squeeze()


class _Column(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x)[:, 0]


@pytest.mark.parametrize("kind", [nn.Linear, _Squeezed, _Column])
def test_one_output_in_any_shape_is_the_same(kind: type[nn.Linear]) -> None:
    training = record(lambda: kind(DIM, 1), y=TWO, batch=1)
    reference = record(lambda: nn.Linear(DIM, 1), y=TWO, batch=1)
    outcome = fitted.train(training)
    assert outcome.status == "fitted"
    assert outcome.observables == fitted.train(reference).observables


def test_two_outputs_for_two_classes() -> None:
    outcome = fitted.train(record(deep(2), y=TWO == 1))
    assert outcome.status == "fitted" and outcome["test_error"] < 0.5


@pytest.mark.parametrize("outputs", [3, 12])
def test_labels_are_numbers_of_outputs_where_they_can_be(outputs: int) -> None:
    names = np.array([3, 7, 11])
    fitting, test = fitted._fittings(record(linear(outputs), y=names[THREE]))
    data = record(linear(outputs), y=names[THREE]).problem.train_set(64, 0)
    expected = names[data.y] if outputs == 12 else data.y
    assert fitting.y.tolist() == expected.tolist()
    assert set(test.y.tolist()) <= set(expected.tolist())
    assert fitted.train(record(deep(outputs), y=names[THREE])).status == "fitted"


def test_tokens_stay_whole_numbers() -> None:
    tokens = np.random.default_rng(0).integers(0, 50, size=(POINTS, 6))

    def model() -> nn.Module:
        return nn.Sequential(nn.Embedding(50, 16), nn.Flatten(), nn.Linear(96, 2))

    for kind in (np.int64, np.int32, np.uint8, np.uint16):
        training = record(model, x=tokens.astype(kind), y=tokens[:, 0] % 2)
        expected = torch.int32 if kind == np.int32 else torch.int64
        assert fitted._fittings(training)[0].x.dtype == expected
        assert fitted.train(training).status == "fitted"


def test_pixels_become_those_of_the_weights() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, size=(POINTS, 1, 6, 6), dtype=np.uint8)
    pixels[::2, :, :3] //= 4

    def model() -> nn.Module:
        return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 2))

    training = record(model, x=pixels, y=np.arange(POINTS) % 2, lr=1e-3)
    fitting, _ = fitted._fittings(training)
    assert fitting.x.dtype == torch.float32 and fitting.x.max() > 200
    assert fitted.train(training).status == "fitted"


def test_whole_numbers_stay_as_they_are_where_the_module_takes_them() -> None:
    # As small as they came: a set of images would be eight times as large.
    pixels = np.random.default_rng(0).integers(0, 256, size=(POINTS, DIM), dtype=np.uint8)

    class Scaled(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x.float() / 255)

    training = record(lambda: Scaled(DIM, 2), x=pixels, y=pixels[:, 0] > 127)
    assert fitted._fittings(training)[0].x.dtype == torch.uint8
    assert fitted.train(training).status == "fitted"
    # Others than those that torch knows well become those of the weights.
    for kind in (np.uint16, np.bool_):
        training = record(lambda: nn.Linear(DIM, 2), x=pixels.astype(kind), y=pixels[:, 0] > 0)
        assert fitted._fittings(training)[0].x.dtype == torch.float32


@pytest.mark.parametrize("data", ["f2", "f4", "f8", ">f8"])
@pytest.mark.parametrize("weights", [torch.float32, torch.float64])
def test_inputs_take_the_type_of_the_weights(data: str, weights: torch.dtype) -> None:
    training = record(linear(3, dtype=weights), x=X.astype(data), max_steps=5)
    assert fitted._fittings(training)[0].x.dtype == weights
    assert fitted.train(training).status in ("budget", "fitted")


class _Odd(nn.Module):
    """Gives what it is told to."""

    def __init__(self, what: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.linear, self.what = nn.Linear(DIM, 3), what

    def forward(self, x: Tensor) -> Any:
        return self.what(self.linear(x))


class _Output:
    """As a model of another library gives it: a dict or not, whose parts are attributes too."""

    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)


class _DictOutput(_Output):
    def keys(self) -> Any:
        return vars(self).keys()

    def __getitem__(self, name: str) -> Any:
        return vars(self)[name]


class _Named(NamedTuple):
    loss: Tensor
    logits: Tensor


GIVEN: dict[str, Callable[[Tensor], Any]] = {
    "tuple": lambda f: (f, f.mean()),
    "list": lambda f: [f, None],
    "tuple of tuple": lambda f: ((f, -f), -f),
    "logits": lambda f: {"loss": f.mean(), "logits": f},
    "output before predictions": lambda f: {"predictions": -f, "output": f},
    "the only tensor": lambda f: {"whatever": f, "note": "mine", "hidden": None},
    "no outputs": lambda f: {"logits": None, "prediction": f},
    "like a dict": lambda f: _DictOutput(loss=None, hidden=-f, logits=f),
    "attribute": lambda f: _Output(hidden=-f, logits=f),
    "named tuple": lambda f: _Named(f.mean(), f),
    "dict in a tuple": lambda f: ({"logits": f}, -f),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_the_outputs_are_found_in_what_the_model_gives(kind: str) -> None:
    # With the hinge loss until fitted, and for epochs.
    for fields in ({"max_steps": 30}, {"epochs": 2, "loss": "cross-entropy", "sampler": "epoch"}):
        expected = trainer.train(record(lambda: _Odd(lambda f: f), **fields))
        assert trainer.train(record(lambda: _Odd(GIVEN[kind]), **fields)) == expected


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no module": (lambda: 3, "int: must give a torch.nn.Module"),
    "a class": (lambda: nn.Linear, "must give a torch.nn.Module"),
    "too few": (linear(2), "2 outputs and the data have 3 classes"),
    "one": (linear(1), "one output and the data have 3 classes"),
    "nothing": (lambda: _Odd(lambda f: None), "gives NoneType: must give a tensor"),
    "empty": (lambda: _Odd(lambda f: ()), "gives tuple: must give a tensor"),
    "dict": (
        lambda: _Odd(lambda f: {"loss": f.sum(), "hidden": f}),
        "gives a dict with loss, hidden: must have one named logits or output",
    ),
    "image": (lambda: _Odd(lambda f: f[:, :, None]), r"shape \(4, 3, 1\) for 4 points: must be"),
    "mean": (lambda: _Odd(lambda f: f.mean(0)), "must be"),
    "squeezed": (lambda: _Odd(lambda f: f.squeeze()), r"shape \(3,\) for one point"),
    "random": (lambda: _Odd(lambda f: f + torch.randn_like(f)), "different outputs for the same"),
    "not finite": (lambda: _Odd(lambda f: f / 0), "not finite"),
    "whole": (lambda: _Odd(lambda f: f.argmax(1, keepdim=True) + torch.arange(3)), "int64"),
    "detached": (lambda: _Odd(lambda f: f.detach()), "grad"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_cannot_be_trained_is_refused_in_one_line(kind: str) -> None:
    model, why = WRONG[kind]
    with pytest.raises(InputError, match=rf"\A[^\n]*({why})[^\n]*\Z"):
        fitted.look_at(record(model))


def test_dropout_is_off_and_named() -> None:
    def model() -> nn.Module:
        return nn.Sequential(nn.Dropout(0.9), linear()(), nn.Dropout1d(0.5))

    training = record(model)
    assert fitted.look_at(training) == Traits(False, ("Dropout", "Dropout1d"))
    assert fitted.train(training).observables == fitted.train(record(linear())).observables


def test_what_couples_points() -> None:
    norms: dict[Callable[[], nn.Module], bool] = {
        lambda: nn.BatchNorm1d(8): True,
        lambda: nn.GroupNorm(2, 8): False,
        lambda: nn.LayerNorm(8): False,
        lambda: _Centred(): True,
    }
    for norm, coupled in norms.items():
        model = lambda norm=norm: nn.Sequential(nn.Linear(DIM, 8), norm(), nn.Linear(8, 3))  # noqa: E731
        assert fitted.look_at(record(model)).coupled is coupled
        assert fitted._fittings(record(model))[0].coupled is coupled


class _Centred(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x - x.mean(dim=0)


# Errors in it are the user's.

FILE = """
import numpy as np, torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(5, 2)
    def forward(self, x):
        {forward}
def model():
    {model}
def data():
    x = np.random.rand(40, 5)
    return x, np.arange(40) % 2
"""


@pytest.mark.parametrize(
    ("part", "text", "said"),
    [
        ("forward", "return self.layer(x[:, :4])", "line 8 in forward .*RuntimeError: mat1"),
        ("forward", "return self.lager(x)", "line 8 in forward .*AttributeError"),
        ("forward", "import sys; sys.exit('enough')", "line 8 in forward .*SystemExit: enough"),
        ("model", "return Net(3)", "line 10 in model .*TypeError"),
        ("model", "torch.zeros(2).view(3)", "line 10 in model .*RuntimeError: shape"),
        ("model", "return torch.nn.Linear(4, 2)", "line 9 in model: RuntimeError: mat1"),
    ],
)
def test_errors_are_named_with_their_line(tmp_path: Path, part: str, text: str, said: str) -> None:
    fills = {"forward": "return self.layer(x)", "model": "return Net()"} | {part: text}
    path = tmp_path / "mine.py"
    path.write_text(textwrap.dedent(FILE).format(**fills))
    problem = user_file(str(path))
    training = Training(
        problem, train_size=16, lr=1.0, batch=4, model="own", test_size=8, max_steps=3
    )
    for run in (fitted.look_at, fitted.train):
        with pytest.raises(UserError, match=rf"\Amine.py, {said}[^\n]*\Z"):
            run(training)


def test_problems_of_others_are_refused() -> None:
    training = Training(TeacherTask(dim=4), train_size=8, lr=1.0, batch=1, model="own")
    with pytest.raises(InputError, match="problem = teacher: model own needs the user's data"):
        fitted.train(training)


# A training that was killed goes on.


class KilledError(Exception):
    pass


@pytest.mark.parametrize("norm", [nn.Identity, lambda: nn.BatchNorm1d(16)], ids=["plain", "norm"])
def test_it_goes_on_to_the_same_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, norm: Callable[[], nn.Module]
) -> None:
    def model() -> nn.Module:
        return nn.Sequential(nn.Linear(DIM, 16), norm(), nn.ReLU(), nn.Linear(16, 3))

    training, path = record(model, momentum=0.5, lr=0.1, batch=8, max_steps=60), tmp_path / "state"
    expected = fitted.train(training)
    whole, count = checkpoint.save, iter(range(7))

    def save(*arguments: Any) -> None:
        whole(*arguments)
        if next(count, None) is None:
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "EVERY_SECONDS", 0.0)
        patch.setattr(checkpoint, "save", save)
        with pytest.raises(UserError, match="KilledError"):
            fitted.train(training, checkpoint=path)
    begun = checkpoint.load(path)
    assert begun is not None and 1 < begun[0]["state"]["step"] < expected.steps
    again = fitted.train(training, checkpoint=path)
    assert again.observables == expected.observables and again.steps == expected.steps


def test_noise_scales_are_of_the_start_and_after_an_epoch() -> None:
    found = fitted.noise_scales(record(deep(3), lr=0.01))
    assert set(found) == {"start", "epoch"} and all(value > 0 for value in found.values())
    still = fitted.noise_scales(record(deep(3), lr=1e-12))
    assert still["epoch"] == pytest.approx(still["start"], rel=1e-3)
