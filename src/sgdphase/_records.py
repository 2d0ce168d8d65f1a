"""The two records that hold the package together: a training, and its outcome."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sgdphase.errors import InputError, require
from sgdphase.problems import Problem, TeacherTask, problem_class

Status = Literal["fitted", "finished", "diverged", "budget", "failed"]

# Part of a training's identity: raised when a model's outcome for the same training changes.
ENGINES = {"perceptron": 1, "fc": 1, "mobilenet": 1, "own": 2, "function": 1}

# The shape of each network, as in the paper; other models have none.
SHAPES: dict[str, dict[str, Any]] = {
    "fc": {"depth": 5, "width": 128, "activation": "gelu"},
    "mobilenet": {"width": 32, "activation": "relu"},
}
LOSSES = ("hinge", "quadratic-hinge", "smooth-hinge", "square", "logistic")
# Of a user's training for a number of epochs.
EPOCH_LOSSES = ("cross-entropy", "hinge", "mse")
OPTIMIZERS = ("sgd", "adamw")
SCHEDULES = ("constant", "cosine", "linear")
SAMPLERS = ("fresh", "epoch")
DYNAMICS = ("sgd", "unfitted", "gaussian")
ACTIVATIONS = ("relu", "gelu", "tanh")
_NETWORK = {
    "loss": LOSSES,
    "sampler": SAMPLERS,
    "dynamics": DYNAMICS,
    "activation": (None, *ACTIVATIONS),
}
_CHOICES: dict[str, dict[str, tuple[str | None, ...]]] = {
    "perceptron": {"loss": ("hinge",), "sampler": ("fresh",), "dynamics": ("sgd",)},
    "fc": _NETWORK,
    "mobilenet": _NETWORK,
    "own": {"loss": ("hinge", "logistic"), "sampler": SAMPLERS, "dynamics": ("sgd",)},
}
_EPOCH_CHOICES: dict[str, tuple[str | None, ...]] = {
    "loss": EPOCH_LOSSES,
    "sampler": ("epoch",),
    "optimizer": OPTIMIZERS,
    "schedule": SCHEDULES,
    "dynamics": ("sgd",),
}

_WHOLE = (
    "train_size", "batch", "seed", "test_size", "max_steps", "max_samples", "depth", "width",
    "epochs",
)  # fmt: skip

# Younger than the first stores: left out of a plain training where they say nothing, so that the
# identity of the trainings before them stands.
_YOUNGER = {
    "depth": None,
    "width": None,
    "activation": None,
    "dynamics": "sgd",
    "max_samples": None,
    "max_seconds": None,
    "direction": "axis",
    "epochs": None,
    "optimizer": "sgd",
    "schedule": "constant",
    "warmup": 0.0,
    "beta1": 0.9,
    "beta2": 0.999,
}


def _canonical(value: Any) -> Any:
    """Whole numbers as integers: 1, 1.0 and numpy's 1 are one identity."""
    if isinstance(value, dict):
        return {name: _canonical(item) for name, item in value.items()}
    if isinstance(value, (int, float, np.number)):
        return int(value) if value == int(value) else float(value)
    return value


def _without_younger(plain: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in plain.items()
        if name not in _YOUNGER or value != _YOUNGER[name]
    }


@dataclass(frozen=True)
class Training:
    """All that determines a training: it ends when every point has its margin, or with the budget.

    A user's training may instead run for a number of `epochs`.

    Attributes
    ----------
    problem : Problem; what is learnt
    train_size : int
        Number of training points, at least 1.
    lr : float; learning rate, above 0
    batch : int
        Points per step, from 1 to `train_size`.
    margin : float, default 2^-7
        Margin that ends the training, above 0 (hinge loss exactly 0).
    model : str, default "perceptron"
        Or "fc", "mobilenet", or `module:function` of a user.
    loss : str, default "hinge"
        Networks also have "quadratic-hinge", "smooth-hinge", "square" and "logistic".
    momentum, weight_decay : float, default 0
        From 0 to below 1, and at least 0. With weight decay a budget is needed.
    sampler : {"fresh", "epoch"}, default "fresh"
        Whether batches are drawn anew at every step or from shuffled epochs.
    seed : int, default 0
        Determines the training set, the initialisation and the order of batches.
    test_size : int, default 32768
        Number of test points, at least 1.
    max_steps, max_time, max_samples, max_seconds : numbers, default None
        Budgets: steps, `lr x steps`, `batch x steps`, and seconds of the clock.
    depth, width, activation : int, int, str, default the paper's
        Shape of a network; the perceptron has none.
    dynamics : {"sgd", "unfitted", "gaussian"}, default "sgd"
        Of a network: SGD, batches of unfitted points only, or Gaussian noise in place of batches.
    epochs : int, default None; of a user's training
    optimizer : {"sgd", "adamw"}, default "sgd"
    schedule : {"constant", "cosine", "linear"}, default "constant"
        Of the learning rate, after the warmup.
    warmup : float, default 0
        Fraction of the training, from 0 to below 1.
    beta1, beta2 : float, default 0.9 and 0.999; of adamw

    Examples
    --------
    >>> from sgdphase.problems import TeacherTask
    >>> Training(TeacherTask(dim=8), train_size=64, lr=1.0, batch=65)
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: batch = 65: must be an integer from 1 to the train size 64
    """

    problem: Problem
    train_size: int
    lr: float
    batch: int
    margin: float = 2.0**-7
    model: str = "perceptron"
    loss: str = "hinge"
    momentum: float = 0.0
    weight_decay: float = 0.0
    sampler: str = "fresh"
    seed: int = 0
    test_size: int = 32768
    max_steps: int | None = None
    max_time: float | None = None
    max_samples: int | None = None
    max_seconds: float | None = None
    depth: int | None = None
    width: int | None = None
    activation: str | None = None
    dynamics: str = "sgd"
    epochs: int | None = None
    optimizer: str = "sgd"
    schedule: str = "constant"
    warmup: float = 0.0
    beta1: float = 0.9
    beta2: float = 0.999

    def __post_init__(self) -> None:
        # 2.0 is as good as 2, and must not become another training or another type of loop.
        for name in _WHOLE:
            value = getattr(self, name)
            if isinstance(value, np.integer) or (isinstance(value, float) and value.is_integer()):
                object.__setattr__(self, name, int(value))
        for name in (
            "train_size", "test_size", "max_steps", "max_samples", "depth", "width", "epochs",
        ):  # fmt: skip
            self._require(name, lambda n: n >= 1 and isinstance(n, int), "an integer of at least 1")
        require(
            "batch",
            self.batch,
            lambda b: 1 <= b <= self.train_size and isinstance(b, int),
            f"an integer from 1 to the train size {self.train_size}",
        )
        for name in ("lr", "margin", "max_time", "max_seconds"):
            self._require(name, lambda x: 0 < x < math.inf, "a finite number above 0")
        for name in ("momentum", "warmup", "beta1", "beta2"):
            self._require(name, lambda m: 0 <= m < 1, "a number from 0 to below 1")
        self._require("weight_decay", lambda x: 0 <= x < math.inf, "a finite number of at least 0")
        self._require("seed", lambda s: s >= 0 and isinstance(s, int), "an integer of at least 0")
        budgets = (
            self.max_steps, self.max_time, self.max_samples, self.max_seconds, self.epochs,
        )  # fmt: skip
        if self.weight_decay > 0 and all(budget is None for budget in budgets):
            raise InputError(
                f"weight decay = {self.weight_decay}: such a training never ends; give max time "
                "(a few times 1 / weight decay) or max steps"
            )
        self._check_model()

    def _require(self, name: str, valid: Callable[[float], bool], wanted: str) -> None:
        """What is not given is valid."""
        value = getattr(self, name)
        if value is not None:
            require(name.replace("_", " "), value, valid, wanted)

    def _check_model(self) -> None:
        """What a model can do, and the paper's shape where none is given."""
        choices = _CHOICES.get(self.model, {})
        if self.model == "own" and self.epochs is not None:
            choices = _EPOCH_CHOICES
            if self.optimizer != "sgd" and self.momentum > 0:
                raise InputError(
                    f"momentum = {self.momentum}: {self.optimizer} has betas in its place"
                )
        elif self.model != "function":
            for name in ("epochs", "optimizer", "schedule", "warmup"):
                if getattr(self, name) != _YOUNGER[name]:
                    raise InputError(
                        f"{name} = {getattr(self, name)}: is for a user's training of epochs"
                    )
        for name, valid in choices.items():
            given = getattr(self, name)
            if given not in valid:
                known = "must be" if self.model == "own" else f"{self.model} knows"
                raise InputError(f"{name} = '{given}': {known} {', '.join(filter(None, valid))}")
        if self.model not in _CHOICES:
            return
        if self.model == "perceptron":
            self.teacher  # noqa: B018
            if self.max_seconds is not None:
                raise InputError(f"max seconds = {self.max_seconds}: the perceptron has no clock")
        if self.model == "mobilenet" and isinstance(self.problem, TeacherTask):
            raise InputError("problem = teacher: mobilenet wants images")
        if self.dynamics != "sgd" and self.sampler != "fresh":
            raise InputError(f"sampler = '{self.sampler}': {self.dynamics} dynamics has its own")
        if self.dynamics != "sgd" and self.weight_decay > 0:
            raise InputError(f"weight decay = {self.weight_decay}: is for sgd dynamics only")
        shape = SHAPES.get(self.model, {})
        for name in ("depth", "width", "activation"):
            given = getattr(self, name)
            if given is not None and name not in shape:
                raise InputError(f"{name} = {given}: {self.model} has no {name}")
            if given is None and name in shape:
                object.__setattr__(self, name, shape[name])

    @property
    def temperature(self) -> float:
        """`T = lr / batch`, the scale of the noise."""
        return self.lr / self.batch

    @property
    def teacher(self) -> TeacherTask:
        """The problem where only the teacher task along the first axis will do."""
        if not isinstance(self.problem, TeacherTask) or self.problem.direction != "axis":
            raise InputError(
                f"problem = {self.problem}: {self.model} knows the teacher task along the first "
                "axis only"
            )
        return self.problem

    @property
    def step_limit(self) -> int:
        """The last step that the budget allows."""
        limits = [2**62]
        if self.max_steps is not None:
            limits.append(self.max_steps)
        if self.max_time is not None:
            limits.append(max(int(min(self.max_time / self.lr * (1 + 1e-12), 2.0**62)), 1))
        if self.max_samples is not None:
            limits.append(max(self.max_samples // self.batch, 1))
        return min(limits)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, nested as the fields are; the problem carries its `kind`."""
        plain = _without_younger(asdict(self))
        plain["problem"] = _without_younger(plain["problem"]) | {"kind": self.problem.kind}
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Training:
        """The training with the values `plain`: the inverse of `as_dict`."""
        problem = dict(plain["problem"])
        kind = problem.pop("kind")
        return cls(**{**plain, "problem": problem_class(kind)(**problem)})

    @property
    def key(self) -> str:
        """Hash of the content: the identity of the training."""
        plain = self.as_dict()
        # Data of the user's own are known by their content, wherever the file lies.
        plain["problem"].pop("path", None)
        content = json.dumps([ENGINES.get(self.model, 0), _canonical(plain)], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Outcome:
    """The result of a training; `outcome["w1"]` reads an observable.

    Attributes
    ----------
    status : {"fitted", "finished", "diverged", "budget", "failed"}; how it ended
    steps : int
        The last step that changed a weight.
    time : float; `lr x steps`
    observables : mapping of str to float; the final numbers
    trajectory : mapping of str to ndarray, default empty
        Observables in time: arrays of equal length, one entry per log-spaced step.

    Examples
    --------
    >>> Outcome("fitted", steps=3, time=1.5, observables={"w1": 2.0})["w1"]
    2.0
    """

    status: Status
    steps: int
    time: float
    observables: Mapping[str, float]
    trajectory: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        """An observable by its name; one that there is not raises KeyError with those there are."""
        if name in self.observables:
            return float(self.observables[name])
        raise KeyError(f"{name}: not among {', '.join(self.observables) or 'no observables'}")

    def __getattr__(self, name: str) -> float:
        # Looked up only for names that are not fields; pickling asks before the fields exist.
        observables = self.__dict__.get("observables", {})
        if name in observables:
            return float(observables[name])
        raise AttributeError(f"{name}: not among {', '.join(observables) or 'no observables'}")
