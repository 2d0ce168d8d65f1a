"""Which function runs a training: a table from the name of a model to the module that trains it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sgdphase._models import MODELS, model_of
from sgdphase._parameters import BY_NAME
from sgdphase._records import Outcome, Training
from sgdphase.errors import InputError, check_memory, require_type
from sgdphase.problems._drawn import Drawn

# The assumed cost of a training if its module does not say.
_UNKNOWN_SECONDS = 1.0


@dataclass(frozen=True)
class Trainer:
    """`train(training, trajectory=...)` and what it is expected to cost in seconds of one core.

    One that `resumes` also takes `checkpoint`: None, or the path of a file where it may save its
    state now and then, and from which it continues if the file is there at the start. One that
    `writes` takes `folder`: None, or a folder for what it writes, which is kept.
    """

    train: Callable[..., Outcome]
    expected_seconds: Callable[[Training], float]
    resumes: bool = False
    writes: bool = False


def trainer_of(model: str) -> Trainer:
    """The trainer of a model in the table, or of a user's `module:function`."""
    module_name, _, function = model.partition(":")
    if not function:
        module_name, function = model_of(model).trainer, "train"
    module = _module(module_name, model)
    train = getattr(module, function, None)
    if not callable(train):
        raise InputError(f"model = '{model}': module {module_name} has no function {function}")
    cost = getattr(module, "expected_seconds", lambda training: _UNKNOWN_SECONDS)
    return Trainer(train, cost, _takes(train, "checkpoint"), _takes(train, "folder"))


def cost_of(model: str) -> Callable[[Training], float]:
    """What trainings of a model are expected to cost, without loading what trains them."""
    if model in MODELS:
        cost: Callable[[Training], float] = _module(MODELS[model].trainer, model).expected_seconds
        return cost
    return trainer_of(model).expected_seconds


def delay_of(trainings: Iterable[Training]) -> str:
    """What the first of these trainings waits for before it starts, if for anything."""
    # One of each kind: what is compiled depends on no more.
    kinds = {(each.model, each.is_plain, each.dynamics): each for each in trainings}
    for each in kinds.values():
        module = _module(MODELS[each.model].trainer, each.model) if each.model in MODELS else None
        if text := getattr(module, "delay", lambda training: "")(each):
            return text
    return ""


def check_fits(trainings: Iterable[Training]) -> None:
    """Raise `InputError` if one of `trainings` needs more memory than this machine has."""
    settings = {(each.model, each.problem, _sizes(each)): each for each in trainings}
    for each in settings.values():
        if each.model in MODELS:
            module = _module(MODELS[each.model].trainer, each.model)
            if hasattr(module, "expected_bytes"):
                check_memory(module.expected_bytes(each), _sizes(each))


def check_ends(trainings: Iterable[Training]) -> None:
    """Raise `InputError` if one of `trainings` may run for ever: a linear model of other labels.

    Not a check of the record, since a store may have such runs, which diverged.
    """
    for each in trainings:
        problem, model = each.problem, MODELS.get(each.model)
        if not isinstance(problem, Drawn) or problem.linear or each.has_budget:
            continue
        # Labels of up to `dim` points are always those of a linear function.
        if model and model.linear and each.train_size > problem.dim:
            raise InputError(
                f"problem = {problem.kind}: {model.name} is linear in the point and may never fit "
                f"{each.train_size} points of it; give max_time (--max-time) or max_steps"
            )


def _sizes(training: Training) -> str:
    values = {"dim": getattr(training.problem, "dim", None)} | vars(training)
    names = ("dim", "train_size", "test_size", "depth", "width")
    return ", ".join(f"{BY_NAME[n].label} = {values[n]}" for n in names if values[n] is not None)


def _takes(train: Callable[..., Outcome], name: str) -> bool:
    try:
        parameter = inspect.signature(train).parameters.get(name)
    except (TypeError, ValueError):  # written in C, without a signature
        return False
    by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return parameter is not None and parameter.kind in by_name


def train(training: Training, *, trajectory: bool = False) -> Outcome:
    """Run one training of any model, in this process and without a store.

    Parameters
    ----------
    training : Training
    trajectory : bool, default False
        Whether the outcome holds observables in time.

    Examples
    --------
    >>> from sgdphase.problems import TeacherTask
    >>> outcome = train(Training(TeacherTask(dim=16), train_size=64, lr=1.0, batch=4, seed=1))
    >>> outcome.status, outcome["unfitted"], outcome["w1"] > outcome["w_perp"]
    ('fitted', 0.0, True)
    """
    require_type("training", training, Training, "a Training, such as one of a plan")
    check_fits([training])
    check_ends([training])
    return trainer_of(training.model).train(training, trajectory=trajectory)


def _module(name: str, model: str) -> Any:
    # Imported where it is needed: a sweep of perceptrons never loads what networks need.
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(f"model = '{model}': cannot import {name} ({error})") from error
