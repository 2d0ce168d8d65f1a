"""The two records that hold the package together: a training, and its outcome."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sgdphase.errors import InputError, require
from sgdphase.problems import TeacherTask

Status = Literal["fitted", "diverged", "budget", "failed"]

# Part of a training's identity: raised when a model's outcome for the same training changes.
ENGINES = {"perceptron": 1}

# The name of each problem in a plain training.
PROBLEMS = {"teacher": TeacherTask}
_KINDS = {problem: kind for kind, problem in PROBLEMS.items()}


def _canonical(value: Any) -> Any:
    """Whole numbers as integers: 1, 1.0 and numpy's 1 are one identity."""
    if isinstance(value, dict):
        return {name: _canonical(item) for name, item in value.items()}
    if isinstance(value, (int, float, np.number)):
        return int(value) if value == int(value) else float(value)
    return value


@dataclass(frozen=True)
class Training:
    """All that determines a training.

    `train_size` points of `problem` are learnt by `model` with learning rate `lr` and batches of
    `batch` points drawn fresh at every step, until each has margin at least `margin` (hinge loss
    exactly 0) or the budget (`max_steps`, `max_time = lr x steps`) is spent. A `seed` stands for a
    training set, an initialisation and an order of batches of its own.

    >>> Training(TeacherTask(dim=8), train_size=64, lr=1.0, batch=65)
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: batch = 65: must be an integer from 1 to the train size 64
    """

    problem: TeacherTask
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

    def __post_init__(self) -> None:
        # 2.0 is as good as 2, and must not become another training or another type of loop.
        for name in ("train_size", "batch", "seed", "test_size", "max_steps"):
            value = getattr(self, name)
            if isinstance(value, np.integer) or (isinstance(value, float) and value.is_integer()):
                object.__setattr__(self, name, int(value))
        whole = "an integer of at least 1"
        require("train size", self.train_size, lambda n: n >= 1 and isinstance(n, int), whole)
        require("test size", self.test_size, lambda n: n >= 1 and isinstance(n, int), whole)
        require(
            "batch",
            self.batch,
            lambda b: 1 <= b <= self.train_size and isinstance(b, int),
            f"an integer from 1 to the train size {self.train_size}",
        )
        positive = "a finite number above 0"
        require("lr", self.lr, lambda x: 0 < x < math.inf, positive)
        require("margin", self.margin, lambda x: 0 < x < math.inf, positive)
        require("momentum", self.momentum, lambda m: 0 <= m < 1, "a number from 0 to below 1")
        decay = "a finite number of at least 0"
        require("weight decay", self.weight_decay, lambda x: 0 <= x < math.inf, decay)
        require(
            "seed", self.seed, lambda s: s >= 0 and isinstance(s, int), "an integer of at least 0"
        )
        if self.max_steps is not None:
            require("max steps", self.max_steps, lambda n: n >= 1 and isinstance(n, int), whole)
        if self.max_time is not None:
            require("max time", self.max_time, lambda x: 0 < x < math.inf, positive)
        if self.weight_decay > 0 and self.max_steps is None and self.max_time is None:
            raise InputError(
                f"weight decay = {self.weight_decay}: such a training never ends; give max time "
                "(a few times 1 / weight decay) or max steps"
            )

    @property
    def temperature(self) -> float:
        """`T = lr / batch`, the scale of the noise."""
        return self.lr / self.batch

    @property
    def step_limit(self) -> int:
        """The last step that the budget allows."""
        limits = [2**62]
        if self.max_steps is not None:
            limits.append(self.max_steps)
        if self.max_time is not None:
            limits.append(max(int(min(self.max_time / self.lr, 2.0**62)), 1))
        return min(limits)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, nested as the fields are; the problem carries its `kind`."""
        plain = asdict(self)
        plain["problem"]["kind"] = _KINDS[type(self.problem)]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Training:
        """The inverse of `as_dict`."""
        problem = dict(plain["problem"])
        kind = problem.pop("kind")
        if kind not in PROBLEMS:
            raise InputError(f"problem kind = '{kind}': must be one of {', '.join(PROBLEMS)}")
        return cls(**{**plain, "problem": PROBLEMS[kind](**problem)})

    @property
    def key(self) -> str:
        """Hash of the content: the identity of the training."""
        content = json.dumps(
            [ENGINES.get(self.model, 0), _canonical(self.as_dict())], sort_keys=True
        )
        return hashlib.sha256(content.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Outcome:
    """What came out of a training.

    `status` says how it ended, `steps` is the last step that changed a weight, `time = lr x steps`.
    `observables` are the final numbers by name and read as attributes too (`outcome.w1`);
    `trajectory` holds arrays of equal length, one entry per log-spaced step.
    """

    status: Status
    steps: int
    time: float
    observables: Mapping[str, float]
    trajectory: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def __getattr__(self, name: str) -> float:
        # Looked up only for names that are not fields; pickling asks before the fields exist.
        observables = self.__dict__.get("observables", {})
        if name in observables:
            return float(observables[name])
        raise AttributeError(f"{name}: not among {', '.join(observables) or 'no observables'}")
