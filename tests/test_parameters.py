"""The table of parameters agrees with what cannot be made from it: typed fields and arguments."""

import inspect
from dataclasses import MISSING, fields
from typing import Any, get_args, get_type_hints

import pytest

from sgdphase import Training, grid
from sgdphase._parameters import (
    BY_NAME,
    EPOCH_LOSSES,
    FIELDS,
    MODELS,
    PARAMETERS,
    REQUIRED,
    Parameter,
)

NAMES = [parameter.name for parameter in FIELDS]


def test_the_fields_of_the_record_are_those_of_the_table() -> None:
    assert {field.name for field in fields(Training)} == set(NAMES)
    assert len(BY_NAME) == len(PARAMETERS)


@pytest.mark.parametrize("parameter", FIELDS, ids=NAMES)
def test_a_field_has_the_type_and_the_default_of_the_table(parameter: Parameter) -> None:
    field = next(field for field in fields(Training) if field.name == parameter.name)
    default = REQUIRED if field.default is MISSING else field.default
    assert default == parameter.default
    if parameter.name != "problem":
        hint = get_type_hints(Training)[parameter.name]
        optional = (type(None),) if parameter.default is None else ()
        assert (get_args(hint) or (hint,)) == (parameter.type, *optional)


def test_the_arguments_of_grid_are_those_of_the_table() -> None:
    given = dict(inspect.signature(grid).parameters)
    arguments = {each.argument or each.name: each for each in PARAMETERS if each.grid}
    assert set(given) == {*arguments, "problem", "model"}
    hints = get_type_hints(grid)
    perceptron = MODELS["perceptron"]
    # Two of them are given; a problem may be given instead; a number of seeds.
    other = dict.fromkeys(("lr", "batch", "temperature", "dim", "chi")) | {"seeds": 1}
    for name, parameter in arguments.items():
        assert given[name].default == other.get(name, perceptron.default(parameter)), name
        # One value is `int`; several are `int | Sequence[int]`.
        several = any("Sequence" in str(part) for part in get_args(hints[name]))
        assert several == (parameter.grid == "values"), name


def test_rows_are_complete() -> None:
    for parameter in PARAMETERS:
        assert parameter.type in (int, float, str, object)
        assert not parameter.models or set(parameter.models) <= set(MODELS)
        if parameter.of == "training" and parameter.type in (int, float):
            assert parameter.valid is not None
        if parameter.of == "training" and parameter.type is str and parameter.name != "model":
            assert parameter.choices
    for model in MODELS.values():
        values = {**model.defaults, **model.shape}
        assert all(model.has(BY_NAME[name]) for name in (*values, *model.choices, *model.help))


@pytest.mark.parametrize("model", [model for model in MODELS.values() if model.what])
def test_a_model_has_its_own_defaults(model: Any) -> None:
    assert model.default(BY_NAME["train_size"]) is not REQUIRED
    assert model.choices_of(BY_NAME["loss"])[0] == "hinge"
    assert MODELS["own"].choices_of(BY_NAME["loss"], epochs=True) == EPOCH_LOSSES
