"""The Cartesian plan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sgdphase._parameters import PARAMETERS, Parameter
from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase.errors import InputError
from sgdphase.problems import MnistParity, Stripe, TeacherTask

MANY = np.linspace(1, 2, 2000)


@pytest.mark.parametrize("problem", [["mnist-parity"], MnistParity, 3])
def test_what_is_no_problem_is_refused(problem: Any) -> None:
    with pytest.raises(InputError, match=r"^problem = .*: must be a problem such as .*Parity\(\)"):
        grid(problem, lr=1.0, batch=1, model="fc")


def test_a_kind_of_problem_is_given_by_its_name() -> None:
    common: Any = {"train_size": 8, "lr": 1.0, "batch": 1, "model": "fc"}
    (mnist,) = grid("mnist-parity", **common, test_size=8)
    assert mnist.problem == MnistParity()
    stripes = grid("stripe", dim=[4, 8.0], direction="random", **common)
    assert [t.problem for t in stripes] == [Stripe(4, "random"), Stripe(8, "random")]
    (turned,) = grid(direction="random", **common)
    assert turned.problem == TeacherTask(direction="random")


@pytest.mark.parametrize(
    ("problem", "fields", "said"),
    [
        ("mnist", {}, "problem kind = 'mnist': must be one of teacher, stripe"),
        ("stripe", {"chi": 1.0}, "chi = 1.0: stripe has no chi"),
        ("sphere", {"direction": "axis"}, "direction = 'axis': sphere has no direction"),
        ("stripe", {"direction": "up"}, "direction = 'up': must be axis or random"),
        (TeacherTask(), {"dim": 3, "chi": 1.0}, "dim and chi: give them or a problem, not both"),
    ],
)
def test_fields_that_a_problem_does_not_have_are_refused(
    problem: Any, fields: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as error:
        grid(problem, **fields, lr=1.0, batch=1, model="fc")
    assert said in str(error.value) and "\n" not in str(error.value)


def test_every_combination_once() -> None:
    plan = grid(
        dim=[8, 16], chi=[0, 1.5], train_size=64, margin=[0.1, 0.2], lr=[1, 2], batch=[1, 4],
        momentum=[0, 0.5], weight_decay=[0, 0.1], max_time=10.0, seeds=3,
    )  # fmt: skip
    assert len(plan) == 2**7 * 3
    assert len({training.key for training in plan}) == len(plan)
    assert plan.left_out == 0


ARGUMENTS = [p for p in PARAMETERS if p.grid and p.of == "training"]


@pytest.mark.parametrize("parameter", ARGUMENTS, ids=lambda parameter: parameter.name)
def test_every_argument_reaches_the_trainings(parameter: Parameter, other_value: Any) -> None:
    value = other_value(parameter)
    given = {parameter.argument: [value] if parameter.name == "seed" else value}
    shape: dict[str, Any] = {"train_size": 64, "max_time": 1.0, "model": "module:name"}
    (training,) = grid(**({"lr": 1.0, "batch": 1} | shape | given))
    assert getattr(training, parameter.name) == value
    if parameter.grid == "value":
        with pytest.raises(InputError, match="must be"):
            grid(**({"lr": 1.0, "batch": 1} | shape | {parameter.name: [value, value]}))


def test_an_argument_that_is_not_there_is_named_with_the_likely_one() -> None:
    with pytest.raises(
        TypeError, match=r"no argument weight_decai \(did you mean weight_decay\?\)"
    ):
        grid(lr=1.0, batch=1, weight_decai=0.1)
    with pytest.raises(
        TypeError, match=r"no argument seed \(did you mean seeds\?\); it has problem,"
    ):
        grid(lr=1.0, batch=1, seed=3)
    with pytest.raises(InputError, match="epochs = 3: perceptron has no epochs"):
        grid(lr=1.0, batch=1, epochs=3)


def test_the_plan_does_not_depend_on_the_order_of_arguments() -> None:
    one = grid(lr=1.0, batch=1, max_time=1.0, margin=[1, 2], momentum=[0, 0.5])
    assert one == grid(momentum=[0, 0.5], margin=[1, 2], max_time=1.0, batch=1, lr=1.0)


def test_a_number_of_seeds_of_any_type() -> None:
    for seeds in (3, np.int64(3), 3.0):
        plan = grid(dim=8, train_size=64, lr=1.0, batch=1, seeds=seeds)  # type: ignore[arg-type]
        assert [training.seed for training in plan] == [0, 1, 2]


def test_the_order_and_the_type_of_numbers_do_not_matter() -> None:
    a = {t.key for t in grid(dim=8, train_size=64, lr=[1, 0.5], batch=[1, 2])}
    b = {t.key for t in grid(dim=8, train_size=64, lr=np.array([0.5, 1]), batch=np.array([2, 1]))}
    assert a == b


@pytest.mark.parametrize("training", grid(dim=8, train_size=64, lr=0.1, batch=2, seeds=[7]))
def test_a_training_comes_back_from_plain_values(training: Training) -> None:
    assert Training.from_dict(training.as_dict()) == training


def test_the_third_of_lr_batch_and_temperature_follows() -> None:
    by_batch = grid(dim=8, train_size=64, temperature=[0.1, 0.2], batch=[1, 3])
    assert [t.lr for t in by_batch] == [0.1, 0.1 * 3, 0.2, 0.2 * 3]
    by_lr = grid(dim=8, train_size=64, lr=[0.3, 12.8], temperature=0.1)
    assert [t.batch for t in by_lr] == [3]
    assert by_lr.left_out == 1  # batch 128 of 64


def test_batches_above_a_train_size_are_left_out_when_there_are_several() -> None:
    plan = grid(dim=8, train_size=[4, 64], lr=1.0, batch=[1, 16])
    assert (len(plan), plan.left_out) == (3, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"lr": 1.0}, "lr given: give two of"),
        ({}, "none of them given"),
        ({"lr": 1.0, "batch": 1, "temperature": 1.0}, "give two of"),
        ({"lr": 1.0, "temperature": 0.3}, "must be a whole number"),
        ({"lr": 1.0, "temperature": 0.0}, "temperature = 0.0"),
        ({"lr": 1.0, "batch": 65}, "batch = 65: must be an integer from 1 to the train size 64"),
        ({"lr": 1.0, "batch": 0}, "batch = 0: must be an integer from 1 to the train size 64"),
        ({"lr": 1.0, "batch": 1, "model": "vgg"}, "model = 'vgg': must be perceptron, fc, "),
        ({"lr": 1.0, "batch": 1, "max_time": [1, 2]}, "max time = .*: must be one value for all"),
        ({"lr": 1.0, "batch": 65, "train_size": [8, 16]}, "none of the 2 cells"),
        ({"lr": 1.0, "batch": 1.5}, "batch = 1.5: must be an integer"),
        ({"lr": 1.0, "batch": 1, "train_size": 8.5}, "train size = 8.5"),
        ({"lr": 1.0, "batch": 1, "seeds": 0}, "seeds = 0"),
        ({"lr": [], "batch": 1}, "at least one value"),
        ({"lr": [1.0, 1.0], "batch": 1}, "twice"),
        ({"lr": float("nan"), "batch": 1}, "lr = nan"),
        ({"lr": 1.0, "batch": 1, "problem": TeacherTask(8)}, "not both"),
        ({"lr": MANY, "batch": 1, "margin": MANY}, "may hold"),
        ({"lr": 1.0, "batch": 1, "seeds": "12"}, "^seeds = '12': must be a number or a sequence"),
        ({"lr": 1.0, "batch": 1, "dim": "16"}, "^dim = '16': must be a number or a sequence"),
        ({"lr": 1.0, "batch": 1, "dim": ["16"]}, r"^dim = \['16'\]: must be a number or a seq"),
        ({"lr": "a", "batch": 1}, "^lr = 'a': must be a number or a sequence of numbers"),
        ({"lr": 1.0, "batch": 1, "max_time": "1"}, "^max time = '1': must be a finite number"),
    ],
)  # fmt: skip
def test_bad_plans_are_refused_in_one_line(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        grid(**{"dim": 8, "train_size": 64, **arguments})  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
