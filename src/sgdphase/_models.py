"""Each model: stated once, here.

Made from this table: the checks of the record, what trains it (`_sweep.trainers`), and the commands
`train` and `sweep` of the model. To add a model, add its row and the module that it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sgdphase.errors import InputError, listed

if TYPE_CHECKING:
    from sgdphase._parameters import Parameter

LOSSES = ("hinge", "quadratic-hinge", "smooth-hinge", "square", "logistic")
# Of a user's training for a number of epochs.
EPOCH_LOSSES = ("cross-entropy", "hinge", "mse")


@dataclass(frozen=True)
class Model:
    """A model, what it can do, and how the command line presents it.

    trainer : the module with its `train` and its `expected_seconds`, imported when it is needed
    network : of the trainer `sgdphase.networks`, the class of the network as `module:Class`. It
        gets the number of coordinates (of `images`: of channels), its `shape`, and a `generator`
    engine : part of the identity; raise it when the outcome of the same training changes
    shape : parameters that are set to this where they are not given
    choices : the values of a text parameter, where they are others
    epoch_choices : the same, for a training of a number of epochs
    images : learns images only, not vectors
    image_size : its class also gets `size`, the rows and columns of an image
    linear : its output is linear in the point, so that no weights may give all points the margin
        that ends a training with square loss
    anything : takes all parameters as they are, without checking that they apply
    only : the parameters that tables and options have, if not all
    what : the object of "Train ..."; a model without it has no command
    note, train_example, sweep_example : for the help of its commands
    data : the default of `--data`; empty if it learns the teacher task alone
    defaults : of its options, where they are not those of the record or of the shape
    help : of its options, where it says more than the parameter's
    """

    name: str
    trainer: str
    network: str = ""
    engine: int = 1
    shape: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    epoch_choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    images: bool = False
    image_size: bool = False
    linear: bool = False
    anything: bool = False
    only: tuple[str, ...] = ()
    what: str = ""
    note: str = ""
    train_example: str = ""
    sweep_example: str = ""
    data: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    help: Mapping[str, str] = field(default_factory=dict)

    def has(self, parameter: Parameter) -> bool:
        """Whether the parameter is one of this model."""
        if self.only:
            return parameter.name in self.only
        if parameter.of == "problem":  # those in the table are of vectors that are drawn
            return not self.images
        return parameter.models is None or self.name in parameter.models

    def choices_of(self, parameter: Parameter, epochs: bool = False) -> tuple[str, ...]:
        """The texts that a parameter may be."""
        others = self.epoch_choices if epochs else self.choices
        return others.get(parameter.name, parameter.choices)

    def budget_ends(self, loss: str, weight_decay: float, l1: float) -> bool:
        """Whether the budget is the end of such trainings, and not the lack of one.

        Regularisation keeps points from staying fitted, and of a linear model square loss may keep
        them from ever being so. What a user's training does is not known here.
        """
        endless = weight_decay > 0 or l1 > 0 or (self.linear and loss == "square")
        return bool(self.what) and endless

    def default(self, parameter: Parameter) -> Any:
        """The default of its option: the model's, that of its shape, or the record's."""
        for values in (self.defaults, self.shape):
            if parameter.name in values:
                return values[parameter.name]
        return parameter.default


# Stands for a user's `module:function`.
OUTSIDE = Model("module:function", trainer="", anything=True)

# What the convolutional networks have in common.
_IMAGES = Model(
    "images",
    trainer="sgdphase.networks",
    shape={"width": 32, "activation": "relu"},
    images=True,
    train_example="--data cifar-animals --train-size 512 --lr 8 --batch 16",
    sweep_example="--train-size 256 --lr 2^-2..2^6*4 --batch 1..256*4 --test-size 2048 --seeds 2",
    data="cifar-animals",
    defaults={"train_size": 1024, "margin": 2.0**-15, "lr": 8.0, "batch": 16, "width": 8,
              "test_size": 8192},
)  # fmt: skip

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        Model(
            "perceptron",
            trainer="sgdphase.perceptron",
            choices={"sampler": ("fresh",), "direction": ("axis",)},
            linear=True,
            what="the perceptron on the teacher task",
            train_example="--train-size 8192 --dim 128 --chi 1 --margin 2^-7 --lr 16 --batch 8 "
            "--seeds 5",
            sweep_example="--lr 2^-4..2^4 --batch 1..256*4 --seeds 3",
            defaults={"train_size": 8192, "lr": 16.0, "batch": 8},
        ),
        Model(
            "fc",
            trainer="sgdphase.networks",
            network="sgdphase.networks:FullyConnected",
            shape={"depth": 5, "width": 128, "activation": "gelu"},
            what="a fully connected network",
            note="The predictor is F = f - f0, without biases, in the paper's parametrisation.",
            train_example="--data mnist-parity --train-size 4096 --margin 2^-15 --lr 8 --batch 16 "
            "--seeds 1 --json",
            sweep_example="--train-size 1024 --lr 2^-5..2^5*4 --batch 1..256*4 --test-size 4096 "
            "--seeds 3",
            data="mnist-parity",
            defaults={"train_size": 4096, "margin": 2.0**-15, "lr": 8.0, "batch": 16},
        ),
        replace(
            _IMAGES,
            name="mobilenet",
            network="sgdphase.networks:MobileNet",
            what="the paper's convolutional network (MobileNet-like)",
            note="The paper has --width 32; 8 is for one core.",
            help={"width": "h: the first layer has 4h channels."},
        ),
        Model(
            "diagonal",
            trainer="sgdphase.networks",
            network="sgdphase.networks:DiagonalLinear",
            shape={"depth": 2},
            linear=True,
            what="a diagonal linear network",
            note="F(x) = sum_i (u_i^depth - v_i^depth) x_i / sqrt(d), with u = v = 1 at the start.",
            train_example="--dim 32 --train-size 1024 --lr 0.5 --batch 8",
            sweep_example="--dim 32 --train-size 512 --lr 2^-8..2^2*4 --batch 1..256*4 "
            "--test-size 4096 --seeds 3",
            data="teacher",
            defaults={"train_size": 1024, "lr": 0.5, "batch": 8},
            help={"depth": "Power of the weights."},
        ),
        replace(
            _IMAGES,
            name="cnn",
            network="sgdphase.networks:PlainCNN",
            image_size=True,
            what="a plain convolutional network (two layers)",
            help={"width": "h: the layers have h and 2h channels."},
        ),
        replace(
            _IMAGES,
            name="vgg11",
            network="sgdphase.networks:VGG11",
            what="VGG11 in the parametrisation of the paper's networks",
            help={"width": "h: the layers have h to 8h channels."},
        ),
        Model(
            "own",
            trainer="sgdphase._own.trainer",
            engine=2,
            choices={"loss": ("hinge", "logistic")},
            epoch_choices={"loss": EPOCH_LOSSES, "sampler": ("epoch",)},
        ),
        replace(OUTSIDE, name="function", trainer="sgdphase._own.function"),
        replace(
            OUTSIDE,
            name="command",
            trainer="sgdphase._own.commands",
            only=("train_size", "lr", "batch", "temperature", "seed", "epochs"),
            defaults={"train_size": None},
            help={
                "train_size": "Training points, for {train_size}, at least as many as the batch.",
                "lr": "Learning rates, for {lr}.",
                "batch": "Batch sizes, for {batch}.",
                "epochs": "Number of epochs, for {epochs}.",
            },
        ),
    )
}  # fmt: skip

NETWORKS = tuple(model.name for model in MODELS.values() if model.network)
USER = tuple(model.name for model in MODELS.values() if not model.what)


def shaped(name: str) -> tuple[str, ...]:
    """The models whose shape has this parameter."""
    return tuple(model.name for model in MODELS.values() if name in model.shape)


def models_text(names: Iterable[str]) -> str:
    """Models as messages name them.

    >>> models_text(["fc", "own", "function"])
    "fc and a user's training (diagnose)"
    """
    parts = ["a user's training (diagnose)" if name in USER else name for name in names]
    return listed(dict.fromkeys(parts), "and")


def model_of(name: Any) -> Model:
    """The model of this name, or `OUTSIDE` for a user's `module:function`.

    >>> model_of("vgg")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: model = 'vgg': must be perceptron, fc, ... or module:function
    """
    if isinstance(name, str):
        if name in MODELS:
            return MODELS[name]
        if all(name.partition(":")):
            return OUTSIDE
    valid = listed([*(model.name for model in MODELS.values() if model.what), OUTSIDE.name])
    raise InputError(f"model = '{name}': must be {valid}")
