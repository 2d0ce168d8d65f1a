"""The user's training: checked before anything runs, with its warnings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sgdphase._models import EPOCH_LOSSES
from sgdphase._own.code import UserCode, time_limit, user_code
from sgdphase._own.commands import UserCommand
from sgdphase._own.problem import UserProblem, user_file, user_functions
from sgdphase._parameters import BY_NAME
from sgdphase._records import Training
from sgdphase.errors import InputError

# Until fitted: the user's name of a loss, its name in the record, and its margin. The margin of
# cross-entropy is the unit of its outputs.
LOSSES = {"hinge": ("hinge", 2.0**-10), "cross-entropy": ("logistic", 1.0)}
_LOSS_NAMES = {"logistic": "cross-entropy"}
# Enough to know the alignment to a few per cent. A training of some epochs sees its test points
# once: five per training point cost less than two epochs.
_TEST_POINTS, _PER_POINT = 4096, 5
_HELD_OUT = 0.2
_FEW_TEST_POINTS = 256
# Epochs after which a training is given up.
_EPOCHS = 2048

_NAMED = {
    r"\bAdam\w*\b|\bRMSprop\b|\bAdagrad\b|\bLion\b|\bLBFGS\b": (
        "mentions an adaptive optimizer: {}. Its steps do not grow with lr as those of SGD do, "
        "and lr/batch is not the scale of its noise"
    ),
    r"\blr_scheduler\b|\bOneCycleLR\b|\bCosineAnnealing\w*\b|\bReduceLROnPlateau\b": (
        "mentions a schedule of the learning rate: {}. A warm-up makes the first steps small and "
        "shrinks the first-step regime; a decay ends closer to gradient descent"
    ),
}


@dataclass(frozen=True)
class UserTraining:
    """The user's training without its learning rate, batch, seed, epochs and train size.

    With `until_fitted` it ends at zero loss, as in the paper; else after a number of epochs.
    `described` is what the user says of a command, which no record holds. `metrics` are the names
    of what a training gives, if they are known before it runs.
    """

    problem: UserProblem | UserCommand
    model: str
    train_size: int | None
    test_size: int
    options: Mapping[str, Any]
    until_fitted: bool = False
    smallest_batch: int = 1
    warnings: tuple[str, ...] = ()
    described: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()

    @property
    def trains_itself(self) -> bool:
        return self.model in ("function", "command")

    def training(self, *, batch: int, train_size: int | None = None, **place: Any) -> Training:
        """The record of one training; `place` is its lr, its seed and perhaps its epochs."""
        size = train_size or self.train_size or batch
        ends_itself = self.trains_itself or not self.until_fitted
        return Training(
            self.problem,
            train_size=size,
            batch=batch,
            model=self.model,
            test_size=self.test_size,
            max_samples=None if ends_itself else _EPOCHS * size,
            **place,
            **self.options,
        )

    def settings(self) -> dict[str, Any]:
        """The settings that all trainings share, for the reader."""
        if isinstance(self.problem, UserCommand):
            return {"command": self.problem.command, "trained by": self.problem.name,
                    **self.described}  # fmt: skip
        if self.trains_itself:
            return {"code": self.problem.code.name, "trained by": "its own train()"}
        shown = dict(self.options)
        shown["loss"] = _LOSS_NAMES.get(shown["loss"], shown["loss"])
        data = {"code": self.problem.code.name, "points": self.problem.points,
                "test points": self.test_size}  # fmt: skip
        if self.problem.has_classes and shown["loss"] != "mse":
            data["classes"] = len(self.problem.classes)
        return data | {name.replace("_", " "): value for name, value in shown.items()}


def user_training(
    model: Any = None,
    data: Any = None,
    *,
    test_data: Any = None,
    augment: Callable[..., Any] | None = None,
    train: Callable[..., Any] | None = None,
    command: UserCommand | None = None,
    until_fitted: bool = False,
    loss: str | None = None,
    seconds: float = math.inf,
    **options: Any,
) -> UserTraining:
    """Load and try what was given: a file, a model with its data, a function, or a command.

    `options` are fields of the record; None means not given. Code that takes longer than `seconds`
    is stopped.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if command is not None:
        return _of_command(command, {"loss": loss, **given})
    is_file = isinstance(model, str | Path)
    with time_limit(seconds, str(model) if is_file else "your code"):
        if is_file:
            problem = user_file(model)
        else:
            functions = {"model": model, "data": data, "test_data": test_data, "augment": augment}
            problem = user_functions(user_code(**functions, train=train))
        return _tried(problem, until_fitted, loss, given)


def _of_command(command: UserCommand, given: dict[str, Any]) -> UserTraining:
    """Of its settings only the optimizer is taken, as a description."""
    command.prepare()
    described = {"optimizer": given.pop("optimizer")} if "optimizer" in given else {}
    _refuse_settings(command.name, given)
    if "epochs" not in command.placeholders:
        raise InputError(
            "the command has no {epochs}: a diagnosis also runs it for half as many epochs"
        )
    # As in a plan, so that sweeps and diagnoses share runs.
    test_size: int = BY_NAME["test_size"].default
    notes = tuple(command.notes)
    return UserTraining(command, "command", None, test_size, {}, warnings=notes,
                        described=described,
                        metrics=tuple(each.name for each in command.metrics_read))  # fmt: skip


def _refuse_settings(name: str, given: Mapping[str, Any]) -> None:
    for option, value in given.items():
        if value:
            raise InputError(
                f"{option.replace('_', ' ')} = {value}: {name} trains by itself; set it there"
            )


def _tried(
    problem: UserProblem, until_fitted: bool, loss: str | None, given: dict[str, Any]
) -> UserTraining:
    """The training of a problem, with all that can be said before it runs."""
    warnings = list(_about_code(problem.code)) if until_fitted else []
    if not problem.points:
        _refuse_settings(problem.code.name, {"loss": loss, **given})
        warnings += problem.notes
        return UserTraining(problem, "function", None, 1, {}, until_fitted, 1, tuple(warnings))
    test_size = min(round(_HELD_OUT * problem.points), _TEST_POINTS)
    if problem.test_points:
        most = _TEST_POINTS if until_fitted else max(_PER_POINT * problem.points, _TEST_POINTS)
        test_size = min(problem.test_points, most)
    full = problem.points if problem.test_points else problem.points - test_size
    if test_size < 1:
        raise InputError(f"{problem.code.name}: data() gives {problem.points} points: too few")
    chosen = _fitted_options(loss, given) if until_fitted else _epoch_options(problem, loss, given)
    user = UserTraining(problem, "own", full, test_size, chosen, until_fitted)
    # Torch is needed for a module only.
    from sgdphase._own import epochs, fitted
    from sgdphase._own.module import loss_notes, seed_notes

    # Build the module and take one step, so that errors show early.
    few: Any = {"lr": 1.0, "batch": 1, "seed": 0, "train_size": min(full, 8)}
    if until_fitted:
        traits = fitted.look_at(user.training(**few))
    else:
        traits = epochs.look_at(user.training(**few, epochs=1))
    warnings += [*seed_notes(problem), *loss_notes(problem, chosen["loss"])]
    warnings += [
        *_about_data(user, problem),
        *(_about_fitted(user, traits) if until_fitted else ()),
    ]
    return replace(
        user,
        smallest_batch=2 if traits.coupled else 1,  # one point has no batch statistics
        warnings=tuple(warnings),
        metrics=() if until_fitted else epochs.metric_names(chosen["loss"]),
    )


def _fitted_options(loss: str | None, given: dict[str, Any]) -> dict[str, Any]:
    loss = loss or "hinge"
    if loss not in LOSSES:
        raise InputError(f"loss = '{loss}': must be {' or '.join(LOSSES)}")
    for name in ("optimizer", "schedule", "warmup", "beta1", "beta2"):
        if given.pop(name, None) not in (None, "sgd", "constant"):
            raise InputError(f"{name}: is for trainings of --epochs; until fitted it is plain SGD")
    name, margin = LOSSES[loss]
    return {"momentum": 0.0, "weight_decay": 0.0, "margin": margin, "sampler": "fresh",
            **given, "loss": name}  # fmt: skip


def _epoch_options(problem: UserProblem, loss: str | None, given: dict[str, Any]) -> dict[str, Any]:
    """For epochs; by default cross-entropy for classes, mean squared error for numbers."""
    loss = loss or ("cross-entropy" if problem.has_classes else "mse")
    if loss not in EPOCH_LOSSES:
        raise InputError(f"loss = '{loss}': must be {', '.join(EPOCH_LOSSES)}")
    for name in ("margin", "sampler"):
        if name in given:
            raise InputError(f"{name} = {given[name]}: is for trainings --until fitted")
    if loss == "mse" and problem.has_classes and problem.classes.dtype.kind == "U":
        raise InputError("loss = 'mse': labels are texts: must be numbers")
    optimizer = given.get("optimizer", "sgd")
    defaults: dict[str, Any] = {"optimizer": optimizer, "weight_decay": 0.0,
                                "schedule": "constant", "warmup": 0.0}  # fmt: skip
    defaults |= {"beta1": 0.9, "beta2": 0.999} if optimizer == "adamw" else {"momentum": 0.0}
    return {"margin": 1.0, "sampler": "epoch", **defaults, **given, "loss": loss}


def _about_code(code: UserCode) -> Iterator[str]:
    for pattern, text in _NAMED.items():
        if named := sorted(set(re.findall(pattern, code.source))):
            yield f"{code.name} " + text.format(", ".join(named))


def _about_data(user: UserTraining, problem: UserProblem) -> Iterator[str]:
    if not problem.test_points:
        yield (
            f"no test_data(): {user.test_size} of the {problem.points} points are held out; "
            f"the full training set is {user.train_size}"
        )
    elif user.test_size < problem.test_points:
        yield (
            f"{user.test_size} of the {problem.test_points} test points are used, the same for all "
            "trainings: enough to compare them, but the test error of all may differ a little"
        )
    if user.test_size < _FEW_TEST_POINTS:
        yield (
            f"only {user.test_size} test points: the test error changes in steps of "
            f"{1 / user.test_size:.1%}"
        )
    yield from problem.notes
    if problem.changes:
        yield (
            "points change each time they are read (augmentation?): they were read once, so that "
            "all trainings have the same points; put the change into augment(x)"
        )


def _about_fitted(user: UserTraining, traits: Any) -> Iterator[str]:
    """What a training until fitted leaves out or changes."""
    if traits.coupled:
        yield (
            "BatchNorm or a similar layer couples the points of a batch: small batches add noise "
            "that does not follow lr/batch; no step can be skipped (slower), and metrics use the "
            "statistics of the training set"
        )
    if traits.off:
        yield (
            f"{' and '.join(traits.off)} is off in these trainings, since its noise does not fall "
            "with the batch; with it there is more noise at every batch, and the regime of "
            "gradient descent may vanish"
        )
    momentum = user.options["momentum"]
    if momentum:
        yield (
            f"momentum {momentum:g} multiplies the effect of a step by {1 / (1 - momentum):.3g}: "
            "boundaries in lr are lower by about this factor"
        )
    if user.options["weight_decay"]:
        yield (
            "with weight decay, too, a training ends here when all points are fitted; a longer one "
            "moves on to where decay and data balance, which depends on neither lr nor batch"
        )
