"""Each parameter of a training, and each model: stated once, here.

Made from these tables: the checks and the identity of the record (`_records`), `grid`, the columns
of tables and exports, and the options of `train` and `sweep` on the command line. To add a
parameter, add its row here and its typed field in `Training` (and, if it may be given to `grid`,
its argument there: a test says so). To add a model, add its row here and write the module that
trains it.

This module loads nothing heavy: `--help` needs it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

NETWORKS = ("fc", "mobilenet")
USER = ("own", "function")

LOSSES = ("hinge", "quadratic-hinge", "smooth-hinge", "square", "logistic")
# Of a user's training for a number of epochs.
EPOCH_LOSSES = ("cross-entropy", "hinge", "mse")
OPTIMIZERS = ("sgd", "adamw")
SCHEDULES = ("constant", "cosine", "linear")
SAMPLERS = ("fresh", "epoch")
DYNAMICS = ("sgd", "unfitted", "gaussian")
ACTIVATIONS = ("relu", "gelu", "tanh")


class Range(NamedTuple):
    """Which numbers are valid, and how a message says it."""

    holds: Callable[[Any], bool]
    words: str


COUNT = Range(lambda n: isinstance(n, int) and n >= 1, "an integer of at least 1")
NATURAL = Range(lambda n: isinstance(n, int) and n >= 0, "an integer of at least 0")
POSITIVE = Range(lambda x: 0 < x < math.inf, "a finite number above 0")
NOT_NEGATIVE = Range(lambda x: 0 <= x < math.inf, "a finite number of at least 0")
FRACTION = Range(lambda x: 0 <= x < 1, "a number from 0 to below 1")

# The default of a field that must be given.
REQUIRED: Any = ...


@dataclass(frozen=True)
class Parameter:
    """One parameter of a training.

    name, type : as in the record; `int`, `float` or `str`
    help : what it is, as the option says it
    default : of the record; `REQUIRED` if it must be given
    valid : the range of a number
    choices : the values of a text; a model may have fewer of them
    models : the models that have it; None if all have
    of : "training" is a field of the record, "problem" a field of the problem, "derived" neither
    grid : "values" if `grid` and `sweep` take several values, "value" if one, None if they do not
        take it
    budget : one of the limits that end a training; not given is infinite
    of_epochs : only for a training of a number of epochs
    experiment : runs that differ in it are different experiments, and share no phase diagram
    omitted_at_default : added after the first stores were written. It is left out of the identity
        where it has its default, so that the trainings in those stores keep theirs.
    argument : its name in `grid` and on the command line, if it is another
    """

    name: str
    type: type
    help: str
    default: Any = None
    valid: Range | None = None
    choices: tuple[str, ...] = ()
    models: tuple[str, ...] | None = None
    of: Literal["training", "problem", "derived"] = "training"
    grid: Literal["values", "value", None] = None
    budget: bool = False
    of_epochs: bool = False
    experiment: bool = False
    omitted_at_default: bool = False
    argument: str = ""

    @property
    def words(self) -> str:
        """The name as messages write it."""
        return self.name.replace("_", " ")


# In the order of columns and options: the model, the data, the training, its budget.
PARAMETERS: tuple[Parameter, ...] = (
    Parameter("model", str, "What is trained.", "perceptron", experiment=True),
    Parameter("depth", int, "Hidden layers.", valid=COUNT, models=("fc",), grid="values",
              experiment=True, omitted_at_default=True),
    Parameter("width", int, "Neurons per layer.", valid=COUNT, models=NETWORKS, grid="values",
              experiment=True, omitted_at_default=True),
    Parameter("activation", str, "Activation", choices=ACTIVATIONS, models=NETWORKS, grid="value",
              experiment=True, omitted_at_default=True),
    Parameter("problem", object, "What is learnt.", REQUIRED, experiment=True),
    Parameter("dim", int, "Input dimension d.", 128, of="problem", grid="values",
              experiment=True),
    Parameter("chi", float, "Depletion exponent chi, above -1.", 1.0, of="problem",
              grid="values", experiment=True),
    Parameter("direction", str, "Informative direction: axis or random.", "axis", of="problem",
              omitted_at_default=True),
    Parameter("train_size", int, "Training points P.", REQUIRED, COUNT, grid="values",
              experiment=True),
    Parameter("lr", float, "Learning rate eta.", REQUIRED, POSITIVE, grid="values"),
    Parameter("batch", int, "Batch size B, at most P.", REQUIRED, COUNT, grid="values"),
    Parameter("temperature", float, "T = lr / batch, in place of one of them.", of="derived",
              grid="values"),
    Parameter("margin", float, "Margin kappa of the loss.", 2.0**-7, POSITIVE, grid="values",
              experiment=True),
    Parameter("loss", str, "Loss", "hinge", choices=LOSSES, grid="value", experiment=True),
    Parameter("momentum", float, "Momentum, from 0 to below 1.", 0.0, FRACTION, grid="values",
              experiment=True),
    Parameter("weight_decay", float, "Weight decay; above 0 it needs a budget, such as --max-time.",
              0.0, NOT_NEGATIVE, grid="values", experiment=True),
    Parameter("sampler", str, "Batches drawn anew at each step, or from shuffled epochs", "fresh",
              choices=SAMPLERS, grid="value", experiment=True),
    Parameter("dynamics", str, "SGD, SGD on unfitted points only, or GD with Gaussian batch noise",
              "sgd", choices=DYNAMICS, models=NETWORKS, grid="value", experiment=True,
              omitted_at_default=True),
    Parameter("seed", int, "Number of seeds (0, 1, ...) per setting.", 0, NATURAL, grid="values",
              argument="seeds"),
    Parameter("test_size", int, "Test points.", 32768, COUNT, grid="value"),
    Parameter("epochs", int, "Number of epochs.", valid=COUNT, models=USER,
              omitted_at_default=True),
    Parameter("optimizer", str, "Optimizer", "sgd", choices=OPTIMIZERS, models=USER,
              of_epochs=True, omitted_at_default=True),
    Parameter("schedule", str, "Schedule of the learning rate", "constant", choices=SCHEDULES,
              models=USER, of_epochs=True, omitted_at_default=True),
    Parameter("warmup", float, "Warm-up, a fraction of the training such as 0.1.", 0.0, FRACTION,
              models=USER, of_epochs=True, omitted_at_default=True),
    Parameter("beta1", float, "First beta of adamw.", 0.9, FRACTION, models=USER, of_epochs=True,
              omitted_at_default=True),
    Parameter("beta2", float, "Second beta of adamw.", 0.999, FRACTION, models=USER,
              of_epochs=True, omitted_at_default=True),
    Parameter("max_steps", int, "Stop after N steps.", valid=COUNT, grid="value", budget=True),
    Parameter("max_time", float, "Stop at this time (lr x steps).", valid=POSITIVE, grid="value",
              budget=True),
    Parameter("max_samples", int, "Stop after N points (batch x steps).", valid=COUNT,
              grid="value", budget=True, omitted_at_default=True),
    Parameter("max_seconds", float, "Stop after this many seconds of the clock.", valid=POSITIVE,
              models=(*NETWORKS, *USER), grid="value", budget=True, omitted_at_default=True),
)  # fmt: skip

BY_NAME = {parameter.name: parameter for parameter in PARAMETERS}
# The fields of the record.
FIELDS = tuple(parameter for parameter in PARAMETERS if parameter.of == "training")
OMITTED = {each.name: each.default for each in PARAMETERS if each.omitted_at_default}


@dataclass(frozen=True)
class Model:
    """A model, what it can do, and how the command line presents it.

    trainer : the module with its `train` and its `expected_seconds`, imported when it is needed
    engine : part of the identity; raise it when the outcome of the same training changes
    shape : parameters that are set to this where they are not given
    choices : the values of a text parameter, where they are fewer
    epoch_choices : the same, for a training of a number of epochs
    images : learns images only, not the teacher task
    anything : takes all parameters as they are, without checking that they apply
    what : the object of "Train ..."; a model without it has no command
    note, train_example, sweep_example : for the help of its commands
    data : the default of `--data`; empty if it learns the teacher task alone
    defaults : of its options, where they are not those of the record or of the shape
    help : of its options, where it says more than the parameter's
    """

    name: str
    trainer: str
    engine: int = 1
    shape: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    epoch_choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    images: bool = False
    anything: bool = False
    what: str = ""
    note: str = ""
    train_example: str = ""
    sweep_example: str = ""
    data: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    help: Mapping[str, str] = field(default_factory=dict)

    def has(self, parameter: Parameter) -> bool:
        """Whether the parameter is one of this model."""
        if parameter.of == "problem":  # those in the table are of the teacher task
            return not self.images
        return parameter.models is None or self.name in parameter.models

    def choices_of(self, parameter: Parameter, epochs: bool = False) -> tuple[str, ...]:
        """The texts that a parameter may be."""
        fewer = self.epoch_choices if epochs else self.choices
        return fewer.get(parameter.name, parameter.choices)

    def default(self, parameter: Parameter) -> Any:
        """The default of its option: the model's, that of its shape, or the record's."""
        for values in (self.defaults, self.shape):
            if parameter.name in values:
                return values[parameter.name]
        return parameter.default


MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        Model(
            "perceptron",
            trainer="sgdphase.perceptron",
            choices={"loss": ("hinge",), "sampler": ("fresh",)},
            what="the perceptron on the teacher task",
            train_example="--train-size 8192 --dim 128 --chi 1 --margin 2^-7 --lr 16 --batch 8 "
            "--seeds 5",
            sweep_example="--lr 2^-4..2^4 --batch 1..256*4 --seeds 3 --store runs.sqlite",
            defaults={"train_size": 8192, "lr": 16.0, "batch": 8},
        ),
        Model(
            "fc",
            trainer="sgdphase.networks",
            shape={"depth": 5, "width": 128, "activation": "gelu"},
            what="a fully connected network",
            note="The predictor is F = f - f0, without biases, in the paper's parametrisation.",
            train_example="--data mnist-parity --train-size 4096 --margin 2^-15 --lr 8 --batch 16 "
            "--seeds 1 --json",
            sweep_example="--train-size 1024 --lr 2^-5..2^5*4 --batch 1..256*4 --test-size 4096 "
            "--seeds 3 --store fc.sqlite",
            data="mnist-parity",
            defaults={"train_size": 4096, "margin": 2.0**-15, "lr": 8.0, "batch": 16},
        ),
        Model(
            "mobilenet",
            trainer="sgdphase.networks",
            shape={"width": 32, "activation": "relu"},
            images=True,
            what="the paper's convolutional network (MobileNet-like)",
            note="The paper has --width 32; 8 is for one core.",
            train_example="--data cifar-animals --train-size 512 --lr 8 --batch 16",
            sweep_example="--train-size 256 --lr 2^-2..2^6*4 --batch 1..256*4 --test-size 2048 "
            "--seeds 2 --store cnn.sqlite",
            data="cifar-animals",
            defaults={"train_size": 1024, "margin": 2.0**-15, "lr": 8.0, "batch": 16, "width": 8,
                      "test_size": 8192},
            help={"width": "h: the first layer has 4h channels."},
        ),
        Model(
            "own",
            trainer="sgdphase._own.trainer",
            engine=2,
            choices={"loss": ("hinge", "logistic")},
            epoch_choices={"loss": EPOCH_LOSSES, "sampler": ("epoch",)},
        ),
        Model("function", trainer="sgdphase._own.function", anything=True),
    )
}  # fmt: skip
