"""A training's identity, what it refuses, and how an outcome is read."""

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from sgdphase import (
    CifarAnimals,
    InputError,
    MnistParity,
    Outcome,
    Sphere,
    Stripe,
    TeacherTask,
    Training,
)
from sgdphase._parameters import FIELDS
from sgdphase.perceptron._simulate import Points, simulate_sde, simulate_sgd

TASK = TeacherTask(dim=4)
# What stores have held from the first: these are in the identity at any value.
FIRST = {
    "problem", "train_size", "lr", "batch", "margin", "model", "loss", "momentum", "weight_decay",
    "sampler", "seed", "test_size", "max_steps", "max_time",
}  # fmt: skip
EPOCHS = {"model": "own", "epochs": 3, "sampler": "epoch"}
ADAMW = {"optimizer": "adamw", "schedule": "cosine", "warmup": 0.1, "beta1": 0.8, "beta2": 0.99}
LIMITS = {"max_steps": 7, "max_time": 2.5, "max_samples": 64}
# Identities in stores that exist. They must never change.
KNOWN: list[tuple[Any, dict[str, Any], str]] = [
    (TASK, {}, "3525459241b23bde23ad72e4b1f646eb"),
    (TASK, {"margin": 0.5, "momentum": 0.5, "weight_decay": 0.125, "seed": 3, "test_size": 16,
            **LIMITS}, "d222e1fe2e681210ebf35bde3a4ffb6f"),
    (TASK, {"model": "fc"}, "5fff733824f018074f99674ac58a3cd8"),
    (TASK, {"model": "fc", "dynamics": "gaussian"}, "70e7442614c4a3d6da688836c8c1eaf2"),
    (TASK, {"model": "fc", "max_seconds": 1.5}, "e6923b23da86055547be076409b85aff"),
    (TeacherTask(dim=4, direction="random"), {"model": "fc"}, "9adadcf5ea4f19cdb507687342049ebd"),
    (MnistParity(), {"model": "fc", "depth": 2, "width": 16, "activation": "relu",
                     "loss": "square", "sampler": "epoch"}, "8f8b134b6463fbce41170b3411e0d7c1"),
    (CifarAnimals(), {"model": "mobilenet"}, "2c361a12142a2d40a6805eb2f2a71a67"),
    (TASK, {"model": "own"}, "33cad4f837da47e4a01b451a53c542ea"),
    (TASK, {**EPOCHS, "loss": "cross-entropy"}, "7358137119c7b3741e571bcfb08be8d6"),
    (TASK, {**EPOCHS, "loss": "mse", **ADAMW}, "f95cc2cd9f7c9f73bec5d50384ff61d3"),
    (TASK, {"model": "function", "epochs": 3}, "108497a0584271da855f60d346d3c906"),
    (TASK, {"model": "module:name"}, "ee5c9f551abec443df12c3e7570b04df"),
    (Stripe(dim=4), {"model": "fc"}, "1b59e45d7aa762cab311ef38bbe71004"),
    (Sphere(dim=4), {"model": "fc", "l1": 0.5, "max_steps": 9}, "56ac2d5e976360e25145d0bdb1ae0653"),
    (TASK, {"model": "diagonal"}, "f1c87001d003c910c903b1df999b7c3f"),
    (TASK, {"loss": "logistic"}, "02c3db5da8dc4c9b63c51fd8bfdaa93d"),
]  # fmt: skip


def record(problem: Any = TASK, **options: Any) -> Training:
    return Training(problem, **{"train_size": 8, "lr": 1.0, "batch": 2, **options})


def test_whole_numbers_of_any_type_are_one_training() -> None:
    plain, other = record(), record(train_size=np.int64(8), lr=1, batch=2.0, seed=np.float32(0))
    assert plain == other
    assert plain.key == other.key
    assert type(other.batch) is type(other.train_size) is type(other.seed) is int


def test_every_field_is_part_of_the_identity(other_value: Any) -> None:
    # A model that takes every parameter, and a limit, without which weight decay never ends.
    base = record(model="function", max_steps=100)
    keys = {each.name: replace(base, **{each.name: other_value(each)}).key for each in FIELDS}
    assert len({base.key, *keys.values()}) == len(fields(Training)) + 1


def test_a_field_of_later_is_left_out_of_the_identity_at_its_default(other_value: Any) -> None:
    assert set(record().as_dict()) == FIRST
    for each in FIELDS:
        if each.name not in FIRST:
            assert each.name in record(model="function", **{each.name: other_value(each)}).as_dict()


@pytest.mark.parametrize(("problem", "options", "key"), KNOWN)
def test_identities_in_stores_stand(problem: Any, options: dict[str, Any], key: str) -> None:
    training = record(problem, **options)
    assert training.key == key
    assert Training.from_dict(training.as_dict()) == training


@dataclass(frozen=True)
class Disk:
    """A problem from outside, with fields that are named as others of the package."""

    kind: ClassVar[str] = "disk:Disk"
    path: str = "a"
    direction: str = "random"
    epochs: int | None = 3
    place: str = field(default="here", compare=False)


def test_fields_of_a_problem_from_outside_are_part_of_the_identity() -> None:
    """Whatever their names; but for those that do not make two problems different."""
    problems = [Disk(), Disk(path="b"), Disk(direction="axis"), Disk(epochs=None)]
    trainings = [
        Training(problem, 8, 1.0, 2, model="disk:train")  # type: ignore[arg-type]
        for problem in problems
    ]
    assert len({training.key for training in trainings}) == 4
    for training, problem in zip(trainings, problems, strict=True):
        plain = training.as_dict()["problem"]
        assert Disk(**{name: plain[name] for name in plain if name != "kind"}) == problem
    elsewhere = replace(trainings[0], problem=Disk(place="there"))
    assert elsewhere.key == trainings[0].key


@pytest.mark.parametrize("name", ["loss", "sampler", "dynamics"])
def test_a_text_that_is_not_given_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} = 'None': must be "):
        Training(TASK, 8, 1.0, 2, model="fc", **{name: None})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [field.name for field in FIELDS if field.valid is not None])
@pytest.mark.parametrize("bad", [-1, -0.5, math.nan, math.inf])
def test_a_number_out_of_its_range_is_refused(name: str, bad: float) -> None:
    with pytest.raises(InputError, match=f"^{name.replace('_', ' ')} = {bad}: must be ") as error:
        record(**{name: bad})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"batch": 9}, "batch = 9: must be an integer from 1 to the train size 8"),
        ({"batch": 0}, "batch = 0: must be an integer from 1 to the train size 8"),
        ({"batch": 2.5}, "batch = 2.5: must be an integer from 1 to the train size 8"),
        ({"train_size": 0}, "train size = 0: must be an integer of at least 1"),
        ({"model": "vgg"}, "model = 'vgg': must be perceptron, fc, "),
        ({"model": ":train"}, "model = ':train': must be perceptron, fc"),
        ({"model": None}, "model = 'None': must be perceptron, fc"),
        ({"momentum": 1.0}, "momentum = 1.0: must be a number from 0 to below 1"),
        ({"lr": None}, "lr = None: must be a finite number above 0"),
        ({"weight_decay": 0.1}, "weight decay = 0.1: such a training never ends"),
        ({"loss": "square"}, "loss = 'square': a perceptron may never fit all points; give max"),
        ({"loss": "cubic"}, "square or logistic for perceptron"),
        ({"model": "diagonal", "loss": "square"}, "a diagonal may never fit all points"),
        ({"l1": 0.1}, "l1 = 0.1: such a training never ends; give max_time"),
        (
            {"model": "fc", "l1": 0.1, "dynamics": "gaussian", "max_steps": 1},
            "l1 = 0.1: is for sgd",
        ),
        ({"model": "own", "l1": 0.1, "max_steps": 1}, "has no l1; it is a parameter of perceptron"),
        ({"model": "vgg11"}, "problem = teacher: vgg11 learns images"),
        ({"model": "cnn", "problem": Sphere(dim=4)}, "problem = sphere: cnn learns images"),
        ({"problem": Stripe(dim=4)}, "perceptron knows the teacher task along the first axis"),
        ({"width": 8}, "width = 8: perceptron has no width; it is a parameter of fc"),
        ({"max_seconds": 1}, "max seconds = 1: perceptron has no max seconds"),
        ({"beta1": 0.5}, "perceptron has no beta1; it is a parameter of a user's training (diag"),
        ({"model": "own", "depth": 2}, "a user's training (diagnose) has no depth; it is a param"),
        ({"model": "mobilenet"}, "problem = teacher: mobilenet learns images"),
        ({"model": "mobilenet", "depth": 2}, "depth = 2: mobilenet has no depth"),
        ({"model": "fc", "activation": "sine"}, "must be relu, gelu or tanh for fc"),
        ({"model": "own", "loss": "square"}, "loss = 'square': must be hinge or logistic"),
        ({"model": "own", "warmup": 0.1}, "warmup = 0.1: is only for trainings of a number of"),
        ({**EPOCHS, "loss": "logistic"}, "must be cross-entropy, hinge or mse"),
        ({**EPOCHS, "loss": "mse", "sampler": "fresh"}, "sampler = 'fresh': must be epoch"),
        ({**EPOCHS, "loss": "mse", **ADAMW, "momentum": 0.5}, "adamw has beta1 and beta2"),
    ],
)
def test_what_a_model_cannot_do_is_refused(bad: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        record(**bad)
    assert said in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "bad", [{"margin": math.nan}, {"lr": 0.0}, {"momentum": 1.5}, {"seed": -1}]
)
def test_the_simulator_checks_what_it_is_given(bad: dict[str, float]) -> None:
    points = Points.of(TASK.train_set(8, 0))
    with pytest.raises(InputError, match="must be"):
        simulate_sgd(points, **({"margin": 0.1, "lr": 1.0, "batch": 1} | bad))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must be"):
        simulate_sde(points, margin=0.1, temperature=1.0, dt=1.0, max_time=math.nan)


def test_an_observable_is_read_by_its_name_only() -> None:
    outcome = Outcome("fitted", 3, 1.5, {"w1": 2, "w_perp": 1.0})
    assert outcome["w1"] == 2.0 and type(outcome["w1"]) is float
    with pytest.raises(KeyError, match="w2: not among w1, w_perp"):
        outcome["w2"]
    assert "w1" in outcome and "w2" not in outcome
    assert not hasattr(outcome, "w1")
