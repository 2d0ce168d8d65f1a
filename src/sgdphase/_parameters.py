"""Each parameter of a training: stated once, here.

Made from this table: the record with its checks and its identity (`_records.Training`), `grid`, the
columns of tables and exports, the options of `train` and `sweep`, and what docstrings say of them.
To add a parameter, add its field to `Parameters`.

This module loads nothing heavy: `--help` needs it.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

from sgdphase._models import LOSSES, MODELS, NETWORKS, USER, models_text, shaped
from sgdphase.errors import LARGEST, SMALLEST, listed
from sgdphase.problems._problem import Problem
from sgdphase.stats import power_or_digits

SAMPLERS = ("fresh", "epoch")
ACTIVATIONS = ("relu", "gelu", "tanh")
# Stands for a training set whose size only the user's code knows.
UNKNOWN_SIZE = 2**40


class Range(NamedTuple):
    """Which numbers are valid, and how a message says it."""

    holds: Callable[[Any], bool]
    text: str


COUNT = Range(lambda n: isinstance(n, int) and n >= 1, "an integer of at least 1")
NATURAL = Range(lambda n: isinstance(n, int) and n >= 0, "an integer of at least 0")
_WITHIN = f"{SMALLEST:g} to {LARGEST:g}"
POSITIVE = Range(lambda x: SMALLEST <= x <= LARGEST, f"a finite number above 0, from {_WITHIN}")
NOT_NEGATIVE = Range(
    lambda x: x == 0 or SMALLEST <= x <= LARGEST, f"a finite number: 0, or from {_WITHIN}"
)
FRACTION = Range(lambda x: 0 <= x < 1, "a number from 0 to below 1")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a training. Of a field of the record, what the field says is filled in.

    help : what it is, as the option says it
    valid : the range of a number
    choices : the values of a text; a model may have others
    models : the models that have it; None if all have
    of : "training" is a field of the record, "problem" a field of the problem, "derived" neither
    grid : "values" if `grid` and `sweep` take several values, "value" if one, None if they do not
        take it
    budget : one of the limits that end a training; not given is infinite
    of_epochs : only for a training of a number of epochs
    experiment : runs that differ in it are different experiments, and share no phase diagram
    identity_at_default : part of the identity where it has its default, too, as in the first
        stores. One added later is not, so that the trainings in stores keep their identities.
    doc : what it is, as docstrings say it, if the option's help does not do
    argument : its name in `grid` and on the command line; by default its name
    name, type : as in the record; `int`, `float`, `str`, or `object` for a problem
    default : of the record; `REQUIRED` if it must be given
    """

    help: str
    valid: Range | None = None
    choices: tuple[str, ...] = ()
    models: tuple[str, ...] | None = None
    of: Literal["training", "problem", "derived"] = "training"
    grid: Literal["values", "value", None] = None
    budget: bool = False
    of_epochs: bool = False
    experiment: bool = False
    identity_at_default: bool = False
    doc: str = ""
    argument: str = ""
    name: str = ""
    type: type = object
    default: Any = None

    @property
    def label(self) -> str:
        """The name as messages write it."""
        return self.name.replace("_", " ")


# The default of a field that must be given.
REQUIRED: Any = ...


# In the order of columns and options: the model, the data, the training, its budget.
# fmt: off
@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The fields of `Training`, each with its `Parameter`. Four may be given by position."""

    model: Annotated[str, Parameter(
        "What is trained.", grid="value", experiment=True, identity_at_default=True,
        doc=f"{listed(m.name for m in MODELS.values() if m.what)}, or `module:function` of a user.",
    )] = "perceptron"
    depth: Annotated[int | None, Parameter(
        "Hidden layers.", COUNT, models=shaped("depth"), grid="values", experiment=True,
    )] = None
    width: Annotated[int | None, Parameter(
        "Neurons per layer.", COUNT, models=shaped("width"), grid="values", experiment=True,
        doc="Neurons per layer; of networks of images, the unit of their numbers of channels.",
    )] = None
    activation: Annotated[str | None, Parameter(
        "Activation", choices=ACTIVATIONS, models=shaped("activation"), grid="value",
        experiment=True,
    )] = None
    problem: Annotated[Problem, Parameter(
        "What is learnt.", grid="values", experiment=True)] = field(kw_only=False)
    train_size: Annotated[int, Parameter(
        "Training points P.", COUNT, grid="values", experiment=True)] = field(kw_only=False)
    lr: Annotated[float, Parameter(
        "Learning rate eta.", POSITIVE, grid="values")] = field(kw_only=False)
    batch: Annotated[int, Parameter(
        "Batch size B, at most P.", COUNT, grid="values")] = field(kw_only=False)
    margin: Annotated[float, Parameter(
        "Margin kappa of the loss.", POSITIVE, grid="values", experiment=True,
        identity_at_default=True, doc="Margin that ends the training when every point has it.",
    )] = 2.0**-7
    loss: Annotated[str, Parameter(
        "Loss", choices=LOSSES, grid="value", experiment=True, identity_at_default=True,
    )] = "hinge"
    momentum: Annotated[float, Parameter(
        "Momentum, from 0 to below 1.", FRACTION, grid="values", experiment=True,
        identity_at_default=True, doc="Momentum.",
    )] = 0.0
    weight_decay: Annotated[float, Parameter(
        "Weight decay; above 0 it needs a budget, such as --max-time.", NOT_NEGATIVE,
        grid="values", experiment=True, identity_at_default=True,
        doc="Weight decay, which needs a budget such as max_time.",
    )] = 0.0
    l1: Annotated[float, Parameter(
        "Strength of l1 regularisation; above 0 it needs a budget.", NOT_NEGATIVE,
        models=("perceptron", *NETWORKS), grid="values", experiment=True,
        doc="Strength of l1 regularisation, which needs a budget such as max_time.",
    )] = 0.0
    sampler: Annotated[str, Parameter(
        "Batches drawn anew at each step, or from shuffled epochs", choices=SAMPLERS, grid="value",
        experiment=True, identity_at_default=True,
    )] = "fresh"
    dynamics: Annotated[str, Parameter(
        "SGD, SGD on unfitted points only, or GD with Gaussian batch noise", grid="value",
        choices=("sgd", "unfitted", "gaussian"), models=NETWORKS, experiment=True,
    )] = "sgd"
    seed: Annotated[int, Parameter(
        "Number of seeds (0, 1, ...) per setting.", NATURAL, grid="values", argument="seeds",
        identity_at_default=True,
        doc="Determines the training set, the initialisation and the order of batches.",
    )] = 0
    test_size: Annotated[int, Parameter(
        "Test points.", COUNT, grid="value", identity_at_default=True)] = 32768
    epochs: Annotated[int | None, Parameter(
        "Number of epochs.", COUNT, models=USER, grid="values")] = None
    optimizer: Annotated[str, Parameter(
        "Optimizer; adamw without weight decay is Adam", choices=("sgd", "adamw"), models=USER,
        of_epochs=True,
    )] = "sgd"
    schedule: Annotated[str, Parameter(
        "Schedule of the learning rate", choices=("constant", "cosine", "linear"), models=USER,
        of_epochs=True,
    )] = "constant"
    warmup: Annotated[float, Parameter(
        "Warm-up, a fraction of the training such as 0.1.", FRACTION, models=USER, of_epochs=True,
    )] = 0.0
    beta1: Annotated[float, Parameter(
        "First beta of adamw.", FRACTION, models=USER, of_epochs=True)] = 0.9
    beta2: Annotated[float, Parameter(
        "Second beta of adamw.", FRACTION, models=USER, of_epochs=True)] = 0.999
    max_steps: Annotated[int | None, Parameter(
        "Stop after N steps.", COUNT, grid="value", budget=True, identity_at_default=True,
    )] = None
    max_time: Annotated[float | None, Parameter(
        "Stop at this time (lr x steps).", POSITIVE, grid="value", budget=True,
        identity_at_default=True,
    )] = None
    max_samples: Annotated[int | None, Parameter(
        "Stop after N points (batch x steps).", COUNT, grid="value", budget=True)] = None
    max_seconds: Annotated[float | None, Parameter(
        "Stop after this many seconds of the clock.", POSITIVE, models=(*NETWORKS, *USER),
        grid="value", budget=True,
    )] = None
# fmt: on


# Columns and options that are no fields of the record, after the field that they follow.
_FOLLOWING = {
    "problem": (
        Parameter("Input dimension d.", name="dim", type=int, default=128, of="problem",
                  grid="values", experiment=True, identity_at_default=True),
        Parameter("Depletion exponent chi, above -1.", name="chi", type=float, default=1.0,
                  of="problem", grid="values", experiment=True, identity_at_default=True),
        Parameter("Informative direction", name="direction", type=str, default="axis",
                  choices=("axis", "random"), of="problem", grid="value", experiment=True),
    ),
    "batch": (
        Parameter("T = lr / batch, in place of one of them.", name="temperature", type=float,
                  of="derived", grid="values"),
    ),
}  # fmt: skip


def _rows() -> Iterator[Parameter]:
    hints = get_type_hints(Parameters, include_extras=True)
    for each in fields(Parameters):
        hint, row = get_args(hints[each.name])
        kind = object if hint is Problem else (get_args(hint) or (hint,))[0]
        default = REQUIRED if each.default is MISSING else each.default
        argument = row.argument or each.name
        yield replace(row, name=each.name, argument=argument, type=kind, default=default)
        yield from (replace(row, argument=row.name) for row in _FOLLOWING.get(each.name, ()))


PARAMETERS = tuple(_rows())
BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}
# The fields of the record.
FIELDS = tuple(parameter for parameter in PARAMETERS if parameter.of == "training")
OMITTED = {
    each.name: each.default
    for each in PARAMETERS
    if each.of != "derived" and not each.identity_at_default
}


def shown(value: float) -> str:
    """A number as it may be typed, a small power of two as a power.

    >>> shown(2.0**-15), shown(0.5), shown(16.0), shown(8192)
    ('2^-15', '0.5', '16', '8192')
    """
    return power_or_digits(value, 12, below=0.125)


def documented(doc: str | None, parameters: Iterable[Parameter], *, several: bool = False) -> str:
    """A docstring with an entry for each of `parameters` in the place of `{parameters}`.

    With `several`, those that `grid` takes several values of say so.
    """
    entries = "\n".join(_entry(each, several and each.grid == "values") for each in parameters)
    return inspect.cleandoc(doc or "").replace("{parameters}", entries)


def _entry(parameter: Parameter, several: bool) -> str:
    """The parameter as numpydoc has it: type and default, then what it is."""
    kind = "Problem" if parameter.name == "problem" else parameter.type.__name__
    if parameter.choices:
        kind = "{" + ", ".join(f'"{choice}"' for choice in parameter.choices) + "}"
    default = parameter.default
    if shaped(parameter.name):
        default = "the model's"
    elif isinstance(default, float):
        default = shown(default)
    elif isinstance(default, str):
        default = f'"{default}"'
    head = f"{parameter.name} : {kind}"
    head += f" or sequence of {kind}" if several else ""
    head += "" if default is REQUIRED else f", default {default}"
    text = (parameter.doc or parameter.help).rstrip(".")
    text += f": {parameter.valid.text}." if parameter.valid else "."
    if parameter.models is not None:
        text += f" Of {models_text(parameter.models)}"
        text += " for a number of epochs." if parameter.of_epochs else "."
    return "\n".join([head, textwrap.indent(textwrap.fill(text, 92), "    ")])
