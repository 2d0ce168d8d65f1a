"""Runs as columns: one array a name, one entry a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgdphase._sweep.run import Run

Table = Mapping[str, NDArray[Any]]

# Parameters that may be swept, in the order in which they are shown; those of a problem come
# after its name. `temperature` follows from `lr` and `batch`.
PARAMETERS = (
    "model", "depth", "width", "activation", "problem", "train_size", "lr", "batch", "temperature",
    "margin", "loss", "momentum", "weight_decay", "sampler", "dynamics", "seed", "test_size",
    "epochs", "optimizer", "schedule", "warmup", "beta1", "beta2",
    "max_steps", "max_time", "max_samples", "max_seconds",
)  # fmt: skip
_BUDGETS = ("max_steps", "max_time", "max_samples", "max_seconds")
# What only networks have: no column of a table of perceptrons.
_OPTIONAL = ("depth", "width", "activation", "dynamics", "max_samples", "max_seconds")
# What only a user's training of epochs has.
_EPOCHS = ("epochs", "optimizer", "schedule", "warmup", "beta1", "beta2")
RESULTS = ("status", "steps", "time", "seconds")


def flat(run: Run) -> dict[str, Any]:
    """The parameters of a run without nesting; a budget that is not given is inf."""
    plain = run.training.as_dict()
    problem = plain.pop("problem")
    values: dict[str, Any] = {}
    for name in PARAMETERS:
        if name == "problem":
            values["problem"] = problem.pop("kind")
            values.update(problem)
        elif name == "temperature":
            values[name] = run.training.temperature
        elif name in _EPOCHS and run.training.epochs is None:
            continue
        elif name in plain or name not in _OPTIONAL or run.training.width is not None:
            value = getattr(run.training, name)
            if value is not None or name in _BUDGETS:
                values[name] = math.inf if value is None else value
    return values


def table_of(runs: Sequence[Run]) -> dict[str, NDArray[Any]]:
    """The columns of `runs`; a number that a run does not have is nan, a text is empty."""
    parameters = [flat(run) for run in runs]
    rows = []
    for run, own in zip(runs, parameters, strict=True):
        outcome = run.outcome
        values = (outcome.status, outcome.steps, outcome.time, run.seconds)
        # What a model observes cannot take the name of a parameter or of a result.
        rows.append({**outcome.observables, **own, **dict(zip(RESULTS, values, strict=True))})
    observables = [name for run in runs for name in run.outcome.observables]
    names = dict.fromkeys([*(name for own in parameters for name in own), *RESULTS, *observables])
    return {name: _column([row.get(name) for row in rows]) for name in names} if runs else {}


def _column(values: list[Any]) -> NDArray[Any]:
    if any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else value for value in values])
    return np.array([math.nan if value is None else value for value in values])
