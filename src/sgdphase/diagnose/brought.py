"""What the user brought: checked before anything runs, with what must be said about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sgdphase.diagnose.learner import Trial
from sgdphase.errors import InputError
from sgdphase.problems.own import (
    Own,
    UserCode,
    is_module,
    own_file,
    own_functions,
    user_code,
)
from sgdphase.records import SAMPLERS, Training

# The user's names for the two losses, the record's, and the margin that goes with each: that of
# cross-entropy is its unit of outputs.
LOSSES = {"hinge": ("hinge", 2.0**-10), "cross-entropy": ("logistic", 1.0)}
# Enough for an alignment to a few per cent.
_TEST_POINTS = 4096
_HELD_OUT = 0.2
_FEW_TEST_POINTS = 256
# Epochs after which a training is given up.
_EPOCHS = 2048

_NAMED = {
    r"\bAdam\w*\b|\bRMSprop\b|\bAdagrad\b|\bLion\b|\bLBFGS\b": (
        "mentions an adaptive optimiser: {}. With one, the size of a step does not grow with lr as "
        "it does in SGD, and T = lr/batch is not the scale of its noise"
    ),
    r"\blr_scheduler\b|\bOneCycleLR\b|\bCosineAnnealing\w*\b|\bReduceLROnPlateau\b": (
        "mentions a schedule of the learning rate: {}. A warm-up makes the first steps small and "
        "so shrinks the first-step regime; a decay ends nearer to gradient descent"
    ),
}


@dataclass(frozen=True)
class Brought:
    """A training of the user's but for its learning rate, batch, size and seed."""

    problem: Own
    model: str
    train_size: int | None
    test_size: int
    loss: str
    margin: float
    momentum: float
    weight_decay: float
    sampler: str
    smallest_batch: int
    warnings: tuple[str, ...]

    @property
    def trains_itself(self) -> bool:
        return self.model == "function"

    def training(self, trial: Trial, train_size: int) -> Training:
        """The record of a trial at a train size."""
        return Training(
            self.problem,
            train_size=train_size,
            lr=trial.lr,
            batch=trial.batch,
            seed=trial.seed,
            margin=self.margin,
            model=self.model,
            loss=self.loss,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            sampler=self.sampler,
            test_size=self.test_size,
            max_samples=None if self.trains_itself else _EPOCHS * train_size,
        )

    def settings(self) -> dict[str, Any]:
        """What all trainings have in common, for the reader."""
        if self.trains_itself:
            return {"code": self.problem.code.name, "trained by": "its own train()"}
        given = {public for public, (own, _) in LOSSES.items() if own == self.loss}
        return {
            "code": self.problem.code.name,
            "classes": len(self.problem.classes),
            "points": self.problem.points,
            "test points": self.test_size,
            "loss": given.pop(),
            "margin": self.margin,
            "momentum": self.momentum,
            "weight decay": self.weight_decay,
            "sampler": self.sampler,
        }


def brought(
    model: Any,
    data: Any = None,
    *,
    test_data: Any = None,
    train: Callable[..., Any] | None = None,
    loss: str = "hinge",
    margin: float | None = None,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    sampler: str = "fresh",
) -> Brought:
    """Load and try what was given: a file, a model with its data, or a function that trains."""
    for option, value, valid in (("loss", loss, LOSSES), ("sampler", sampler, SAMPLERS)):
        if value not in valid:
            raise InputError(f"{option} = '{value}': must be {' or '.join(valid)}")
    if isinstance(model, str | Path):
        problem = own_file(str(model))
    else:
        code = user_code(model=model, data=data, test_data=test_data, train=train)
        problem = own_functions(code)
    warnings = [*_about_code(problem.code)]
    if is_module(model):
        warnings.append(
            "one model object was given, not a function that makes a fresh one: all seeds start "
            "from the same weights, and intervals miss how results vary with them"
        )
    if not problem.points:
        others = {
            "loss": loss if loss != "hinge" else None,
            "sampler": sampler if sampler != "fresh" else None,
            "margin": margin,
        }
        _refuse(problem, {"momentum": momentum, "weight decay": weight_decay, **others})
        return Brought(problem, "function", None, 1, "hinge", 1.0, 0.0, 0.0, "fresh", 1,
                       tuple(warnings))  # fmt: skip
    test_size = min(problem.test_points or round(_HELD_OUT * problem.points), _TEST_POINTS)
    full = problem.points if problem.test_points else problem.points - test_size
    if test_size < 1:
        raise InputError(f"{problem.code.name}: data() gives {problem.points} points: too few")
    name, usual = LOSSES[loss]
    own = Brought(problem, "own", full, test_size, name, usual if margin is None else margin,
                  momentum, weight_decay, sampler, 1, ())  # fmt: skip
    traits = _traits(own)
    warnings += [*_about_data(own), *_about_model(traits), *_about_descent(own)]
    # The statistics of one point are no statistics.
    return replace(own, smallest_batch=2 if traits.coupled else 1, warnings=tuple(warnings))


def _refuse(problem: Own, options: dict[str, Any]) -> None:
    for option, value in options.items():
        if value:
            raise InputError(
                f"{option} = {value}: {problem.code.name} trains by itself; set it there"
            )


def _traits(own: Brought) -> Any:
    """Build the module and take a step: what is wrong with it shows here."""
    from sgdphase.networks.own import look_at  # torch is needed for a module only

    return look_at(own.training(Trial(1.0, 1, 0), min(own.train_size or 1, 8)))


def _about_code(code: UserCode) -> Iterator[str]:
    for pattern, said in _NAMED.items():
        if named := sorted(set(re.findall(pattern, code.source))):
            yield f"{code.name} " + said.format(", ".join(named))


def _about_data(own: Brought) -> Iterator[str]:
    if not own.problem.test_points:
        yield (
            f"no test_data(): {own.test_size} of the {own.problem.points} points are held out, and "
            f"the full training set is {own.train_size}"
        )
    if own.test_size < _FEW_TEST_POINTS:
        yield f"only {own.test_size} test points: alignments are coarse"
    if own.problem.changes:
        yield (
            "points change from one reading to the next (augmentation?): one reading was kept; "
            "fresh variants at every step act as a larger training set would"
        )


def _about_model(traits: Any) -> Iterator[str]:
    if traits.coupled:
        yield (
            "BatchNorm or the like couples the points of a batch: a small batch adds noise of its "
            "own, which does not follow lr/batch; trainings take every step (slower), and are "
            "looked at with the statistics of the training set"
        )
    if traits.off:
        yield (
            f"{' and '.join(traits.off)} is off in these trainings: its noise does not fall with "
            "the batch; with it there is more noise at every batch, and the GD regime may vanish"
        )


def _about_descent(own: Brought) -> Iterator[str]:
    if own.momentum:
        yield (
            f"momentum {own.momentum:g} makes a step act {1 / (1 - own.momentum):.3g} times: "
            "boundaries in lr are lower by about as much than without it"
        )
    if own.weight_decay:
        yield (
            "with weight decay a training ends here when all points are fitted, as without; longer "
            "ones drift on to where decay and data balance, which depends on neither lr nor batch"
        )
