"""Trainings by a function of the user, a black box: `train(lr, batch, epochs, seed)`.

For trainings until all points are fitted it is `train(lr, batch, train_size, seed)`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from sgdphase._own.problem import UserProblem
from sgdphase._parameters import UNKNOWN_SIZE
from sgdphase._records import Outcome, Training
from sgdphase.errors import InputError

# Names that a function may return and that are not metrics.
_NO_METRICS = {"lr", "batch", "epochs", "seed", "train_size", "seconds", "time", "duration"}
# What a training until fitted may return besides `alignment`.
OBSERVABLES = ("alignment", "test_error", "weight_change", "first_step_alignment")


def train(training: Training, *, trajectory: bool = False) -> Outcome:
    """Call the function with those of the arguments that it takes."""
    if not isinstance(training.problem, UserProblem):
        raise InputError(f"problem = {training.problem.kind}: model function wants a user's file")
    code = training.problem.code
    given = {
        "lr": training.lr,
        "batch": training.batch,
        "epochs": training.epochs,
        "train_size": None if training.train_size == UNKNOWN_SIZE else training.train_size,
        "seed": training.seed,
    }
    returned = code.call(
        "train", training.seed, **_taken(code.functions["train"], given, code.name)
    )
    if training.epochs is None:
        return _fitted(returned, code.name)
    return finished(returned, code.name, training)


def _taken(function: Callable[..., Any], given: dict[str, Any], name: str) -> dict[str, Any]:
    """Those arguments that have a value and that the function takes, by name."""
    has = {argument: value for argument, value in given.items() if value is not None}
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return has
    size = parameters.get("train_size")
    if "train_size" not in has and size is not None and size.default is size.empty:
        raise InputError(f"{name}: train() takes train_size: say how many points, as train size")
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return has
    if "epochs" in has and "epochs" not in parameters:
        raise InputError(f"{name}: train() takes no epochs: must be train(lr, batch, epochs, seed)")
    return {
        argument: value
        for argument, value in has.items()
        # If one of these is missing, the call itself fails, with its line.
        if argument in parameters or argument in ("lr", "batch", "seed")
    }


def finished(returned: Any, name: str, training: Training) -> Outcome:
    """A training of epochs: all its metrics; one that is not finite has diverged.

    Values that are not numbers (a log, a note) are left out.
    """
    given = returned if isinstance(returned, Mapping) else {}
    values = {}
    for key, value in given.items():
        with suppress(TypeError, ValueError, OverflowError, RuntimeError):
            if not isinstance(value, bool | np.bool_) and key not in _NO_METRICS:
                values[str(key)] = _number(value)
    steps = values.pop("steps", math.nan)
    if not values:
        kinds = [f"{key} ({type(value).__name__})" for key, value in given.items()]
        what = ", ".join(kinds) if isinstance(returned, Mapping) else type(returned).__name__
        raise InputError(
            f"{name}: train() returns {what or 'an empty dict'}: must return a dict of metrics, "
            "each a number with its name, as {'val_loss': 0.3}"
        )
    if not all(map(math.isfinite, values.values())):
        return Outcome("diverged", 0, 0.0, dict.fromkeys(values, math.nan))
    count = int(steps) if math.isfinite(steps) else 0
    return Outcome("finished", count, training.lr * count, values)


def _fitted(returned: Any, name: str) -> Outcome:
    """A training until fitted: its alignment, or a dict of observables with it.

    It diverged if the alignment is not finite. `fitted=False` means that it was cut off.
    """
    given = returned if isinstance(returned, Mapping) else {"alignment": returned}
    if isinstance(returned, Mapping) and given.get("alignment") is None:
        names = ", ".join(map(str, given)) or "an empty dict"
        raise InputError(f"{name}: train() returns {names}: must have a number named alignment")
    wanted = [key for key in OBSERVABLES if key == "alignment" or given.get(key) is not None]
    try:
        values = {key: _number(given[key]) for key in wanted}
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise InputError(
            f"{name}: train() returns {type(returned).__name__}: must return the alignment, or a "
            f"dict with numbers named {', '.join(OBSERVABLES)}"
        ) from None
    if not math.isfinite(values["alignment"]):
        return Outcome("diverged", 0, 0.0, values)
    return Outcome("fitted" if given.get("fitted", True) else "budget", 0, 0.0, values)


def _number(value: Any) -> float:
    # float() would accept texts and arrays of one number, too.
    if isinstance(value, str | bytes) or getattr(value, "shape", ()) != ():
        raise TypeError
    return float(value)


def expected_seconds(training: Training) -> float:
    """Unknown; long enough that each training is a work package of its own."""
    return 1.0
