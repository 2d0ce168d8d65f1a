"""Trainings by a function of the user's: `train(lr, batch, train_size, seed)`, a black box."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sgdphase.errors import InputError
from sgdphase.problems import Own
from sgdphase.records import Outcome, Training

# What it may return besides `alignment`.
OBSERVABLES = ("alignment", "test_error", "weight_change", "first_step_alignment")


def train(training: Training, *, trajectory: bool = False) -> Outcome:
    """Call the function; it returns the alignment, or a dict of observables with it.

    A training whose alignment is not finite has diverged. `fitted` may say that it was cut off.
    """
    if not isinstance(training.problem, Own):
        raise InputError(f"problem = {training.problem.kind}: model function wants a user's file")
    code = training.problem.code
    found = code.call(
        "train",
        training.seed,
        lr=training.lr,
        batch=training.batch,
        train_size=training.train_size,
        seed=training.seed,
    )
    values = _numbers(found, code.name)
    if not math.isfinite(values["alignment"]):
        return Outcome("diverged", 0, 0.0, values)
    fitted = not isinstance(found, Mapping) or bool(found.get("fitted", True))
    return Outcome("fitted" if fitted else "budget", 0, 0.0, values)


def _numbers(found: Any, name: str) -> dict[str, float]:
    given = found if isinstance(found, Mapping) else {"alignment": found}
    if isinstance(found, Mapping) and given.get("alignment") is None:
        names = ", ".join(map(str, given)) or "an empty dict"
        raise InputError(f"{name}: train() returns {names}: must have a number named alignment")
    wanted = [key for key in OBSERVABLES if key == "alignment" or given.get(key) is not None]
    try:
        return {key: _number(given[key]) for key in wanted}
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise InputError(
            f"{name}: train() returns {type(found).__name__}: must return the alignment, or a dict "
            f"with numbers named {', '.join(OBSERVABLES)}"
        ) from None


def _number(value: Any) -> float:
    # Text, and arrays of one number, would pass for numbers.
    if isinstance(value, str | bytes) or getattr(value, "shape", ()) != ():
        raise TypeError
    return float(value)


def expected_seconds(training: Training) -> float:
    """Unknown; long, so that each is handed out by itself."""
    return 1.0
