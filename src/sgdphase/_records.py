"""The two records that hold the package together: a training, and its outcome."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args, get_type_hints

from sgdphase._display import Columns, Shown
from sgdphase._models import MODELS, Model, model_of, models_text
from sgdphase._parameters import COUNT, FIELDS, NATURAL, OMITTED, Parameter, Parameters, documented
from sgdphase.errors import InputError, listed, one_line, require
from sgdphase.problems import Problem, TeacherTask, problem_class
from sgdphase.problems._drawn import Drawn
from sgdphase.problems._problem import IMAGES

if TYPE_CHECKING:
    from sgdphase._typing import FloatArray

Status = Literal["fitted", "finished", "diverged", "budget", "failed"]
STATUSES: tuple[Status, ...] = get_args(Status)

# Part of a training's identity: raised when a model's outcome for the same training changes.
ENGINES = {model.name: model.engine for model in MODELS.values()}
_WHOLE = tuple(parameter.name for parameter in FIELDS if parameter.type is int)
_BUDGETS = tuple(parameter.name for parameter in FIELDS if parameter.budget)
_TEXTS = tuple(parameter for parameter in FIELDS if parameter.choices)
_NUMBER: Any = Real  # numpy's too
# Of the mean distance from the margin, over that at the start; where it settles it is about 1.
_BLOWN_UP = 10.0
# Plans hold many trainings: what is asked of each of them is looked up once.
_DEFAULTS = tuple((parameter.name, parameter.default, parameter) for parameter in FIELDS)


def _canonical(value: Any) -> Any:
    """Whole numbers as integers: 1, 1.0 and numpy's 1 are one identity."""
    if isinstance(value, dict):
        return {name: _canonical(item) for name, item in value.items()}
    if isinstance(value, _NUMBER):
        return int(value) if value == int(value) else float(value)
    return value


def _without_omitted(plain: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in plain.items()
        if name not in OMITTED or value != OMITTED[name]
    }


@dataclass(frozen=True, repr=False)
class Training(Parameters):
    """All that determines a training: it ends when every point has its margin, or with the budget.

    A user's training may instead run for a number of `epochs`. `problem`, `train_size`, `lr` and
    `batch` may be given by position.

    Attributes
    ----------
    {parameters}

    Examples
    --------
    >>> from sgdphase.problems import TeacherTask
    >>> Training(TeacherTask(dim=8), train_size=64, lr=1.0, batch=65)
    Traceback (most recent call last):
        ...
    sgdphase.errors.InputError: batch = 65: must be an integer from 1 to the train size 64
    """

    def __post_init__(self) -> None:
        # 2.0 is as good as 2, and must not become another training or another type of loop.
        values = vars(self)
        for name in _WHOLE:
            value = values[name]
            if type(value) is not int and isinstance(value, _NUMBER) and value == value // 1:
                object.__setattr__(self, name, int(value))
        if isinstance(self.problem, type) or not hasattr(self.problem, "kind"):
            valid = "a problem such as TeacherTask() or MnistParity()"
            raise InputError(f"problem = {one_line(self.problem)}: must be {valid}")
        # A default is valid.
        given = [each for name, default, each in _DEFAULTS if values[name] != default]
        for parameter in given:
            if parameter.name == "batch":
                if not (COUNT.holds(self.batch) and self.batch <= self.train_size):
                    raise InputError(
                        f"batch = {one_line(self.batch)}: must be an integer from 1 to the train "
                        f"size {self.train_size}"
                    )
            elif parameter.valid is not None:
                require(parameter.label, values[parameter.name], *parameter.valid)
        if not self.has_budget:
            self._check_end()
        self._check_model(model_of(self.model), given)

    def __repr__(self) -> str:
        """The call that makes it, without what is left at the default or at the model's shape."""
        shape, values = model_of(self.model).shape, vars(self)
        given = [
            f"{each.name}={values[each.name]!r}"
            for each in sorted(fields(self), key=lambda each: bool(each.kw_only))[1:]
            if values[each.name] != shape.get(each.name, each.default)
        ]
        return f"Training({', '.join([repr(self.problem), *given])})"

    def _check_end(self) -> None:
        """Without a budget, a training must end by itself."""
        never = "such a training never ends; give max_time (--max-time"
        if self.weight_decay > 0:
            raise InputError(
                f"weight decay = {self.weight_decay}: {never}, a few times 1 / weight decay) or "
                "max_steps"
            )
        if self.budget_ends and self.l1 > 0:
            raise InputError(f"l1 = {self.l1}: {never}) or max_steps")
        if self.budget_ends:
            raise InputError(
                f"loss = 'square': a {self.model} may never fit all points; give max_time "
                "(--max-time) or max_steps"
            )

    def _check_model(self, model: Model, given: Iterable[Parameter]) -> None:
        """What a model can do, and its shape where none is given."""
        for name, value in model.shape.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        if model.anything:  # what a text means is up to the user's trainer, too
            return
        epochs = self.epochs is not None
        for parameter in given:
            value = getattr(self, parameter.name)
            if not model.has(parameter):
                raise InputError(
                    f"{parameter.label} = {value}: {models_text([model.name])} has no "
                    f"{parameter.label}; it is a parameter of {models_text(parameter.models or ())}"
                )
            if parameter.of_epochs and not epochs:
                raise InputError(
                    f"{parameter.label} = {value}: is only for trainings of a number of epochs"
                )
        for parameter in _TEXTS:
            value, choices = getattr(self, parameter.name), model.choices_of(parameter, epochs)
            if (value is not None or parameter.default is not None) and value not in choices:
                here = f" for {model.name}" if model.what else ""
                raise InputError(f"{parameter.label} = '{value}': must be {listed(choices)}{here}")
        if epochs and self.optimizer != "sgd" and self.momentum > 0:
            raise InputError(
                f"momentum = {self.momentum}: {self.optimizer} has beta1 and beta2 in its place"
            )
        if self.model == "perceptron":
            self.teacher  # noqa: B018
        if model.images and isinstance(self.problem, Drawn):
            valid = f"{', '.join(IMAGES)}, or an .npz file of images"
            raise InputError(f"problem = {self.problem.kind}: {model.name} learns images: {valid}")
        if self.dynamics != "sgd" and self.sampler != "fresh":
            raise InputError(f"sampler = '{self.sampler}': {self.dynamics} dynamics has its own")
        for name in ("weight_decay", "l1"):
            if self.dynamics != "sgd" and getattr(self, name) > 0:
                what = f"{name.replace('_', ' ')} = {getattr(self, name)}"
                raise InputError(f"{what}: is for sgd dynamics only")

    @property
    def temperature(self) -> float:
        """`T = lr / batch`, the scale of the noise."""
        return self.lr / self.batch

    @property
    def has_budget(self) -> bool:
        """Whether it ends at some time, whatever happens."""
        return any(getattr(self, name) is not None for name in (*_BUDGETS, "epochs"))

    @property
    def goal(self) -> float:
        """The `y F` that a point must have to be fitted.

        The hinge loss is 0 from the margin on. The other losses reach their minimum in infinite
        time only, so that a training is stopped early, at half of the margin.
        """
        return self.margin if self.loss == "hinge" else self.margin / 2

    @property
    def is_plain(self) -> bool:
        """Whether a batch of fitted points changes no weight."""
        regularised = self.weight_decay > 0 or self.l1 > 0
        return self.loss == "hinge" and self.momentum == 0 and not regularised

    def has_blown_up(self, margins: Any) -> bool:
        """Whether square loss grew without end until the budget; `margins` are the last `y F`.

        It pulls the harder the farther a point is. From a learning rate on weights grow at every
        step, and the budget alone decides whether they are still finite.
        """
        if self.loss != "square":
            return False
        slack = 1 - margins / self.margin  # 1 at the start
        return not abs(slack).mean() < _BLOWN_UP

    @property
    def budget_ends(self) -> bool:
        """Whether only its budget ends it."""
        return model_of(self.model).budget_ends(self.loss, self.weight_decay, self.l1)

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
        # Not all by `asdict`, which takes ten times as long to copy what is immutable anyway.
        return _without_omitted(vars(self)) | {"problem": _plain_problem(self.problem)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Training:
        """The training with the values `plain`: the inverse of `as_dict`."""
        problem = dict(plain["problem"])
        kind = problem.pop("kind")
        return cls(**{**plain, "problem": problem_class(kind)(**problem)})

    def with_seeds(self, seeds: Iterable[int]) -> list[Training]:
        """The same training for each of the `seeds`, without checking again all the rest."""
        trainings = []
        for seed in seeds:
            require("seed", seed, *NATURAL)
            training = object.__new__(Training)
            vars(training).update(vars(self), seed=seed)
            trainings.append(training)
        return trainings

    @property
    def key(self) -> str:
        """Hash of the content: the identity of the training."""
        return _key(self, ENGINES.get(self.model, 0))


# What `help` and editors show: plain types, and what the table says.
Training.__init__.__annotations__.update(get_type_hints(Training))
Training.__doc__ = documented(Training.__doc__, FIELDS)
_NAMES = tuple(sorted(each.name for each in fields(Training)))


# Trainings that are equal have the same key, and each is asked for it several times.
@lru_cache(2**15)
def _key(training: Training, engine: int) -> str:
    values = vars(training)
    entries = ", ".join(filter(None, (_entry(name, values[name]) for name in _NAMES)))
    return hashlib.sha256(f"[{engine}, {{{entries}}}]".encode()).hexdigest()[:32]


# Trainings of a plan share most values, so that most of the text is written once.
@lru_cache(2**14)
def _entry(name: str, value: Any) -> str:
    """The JSON of one parameter, as in `"lr": 0.5`; nothing if the identity leaves it out."""
    plain = _without_omitted({name: value})
    if name == "problem":
        plain = {name: _plain_problem(value)}
        # What does not make two problems different, such as where a file of equal content lies.
        for each in fields(value):
            if not each.compare:
                del plain[name][each.name]
    return json.dumps(_canonical(plain), sort_keys=True)[1:-1]


def _plain_problem(problem: Problem) -> dict[str, Any]:
    # The parameters in the table are the fields of the teacher task.
    teacher = isinstance(problem, TeacherTask)
    plain = _without_omitted(vars(problem)) if teacher else asdict(problem)
    return plain | {"kind": problem.kind}


@dataclass(frozen=True, repr=False)
class Outcome(Shown):
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
    trajectory: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise InputError(f"status = {one_line(self.status)}: must be {listed(STATUSES)}")

    def _lines(self) -> list[str]:
        points = max((len(column) for column in self.trajectory.values()), default=0)
        along = f"; trajectory of {points} points" if points else ""
        return [f"{self.status} after {self.steps} steps, time {self.time:.5g}{along}"]

    def _summary(self) -> Columns:
        values = self.observables
        return {"observable": list(values), "value": list(values.values())} if values else {}

    def _table(self) -> Columns:
        """The trajectory."""
        return self.trajectory

    def __contains__(self, name: object) -> bool:
        """Whether there is an observable of this name."""
        return name in self.observables

    def __getitem__(self, name: str) -> float:
        """An observable by its name; any other name raises a KeyError that lists the names."""
        if name in self.observables:
            return float(self.observables[name])
        raise KeyError(f"{name}: not among {', '.join(self.observables) or 'no observables'}")
