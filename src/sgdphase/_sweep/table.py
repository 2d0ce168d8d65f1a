"""Runs as columns: one array per name, one entry per run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgdphase._models import model_of
from sgdphase._parameters import PARAMETERS, UNKNOWN_SIZE, Parameter
from sgdphase._records import Training
from sgdphase._sweep.run import Run

Table = Mapping[str, NDArray[Any]]

RESULTS = ("status", "steps", "time", "seconds")


def flat(training: Training) -> dict[str, Any]:
    """The parameters of a training without nesting, in the order of the table of parameters.

    Those that the model does not have are left out, and a train size that only a command knows. A
    budget that is not given is inf.
    """
    plain = training.as_dict()
    problem = plain.pop("problem")
    values: dict[str, Any] = {}
    only = model_of(training.model).only
    for parameter in PARAMETERS:
        name = parameter.name
        if name == "problem":
            values["problem"] = problem.pop("kind")
            values.update(problem)
        elif name == "temperature":
            values[name] = training.temperature
        elif only and (name not in ("model", *only) or plain.get(name) == UNKNOWN_SIZE):
            continue
        elif parameter.of == "training" and (name in plain or _applies(parameter, training)):
            value = getattr(training, name)
            if value is not None or parameter.budget:
                values[name] = math.inf if value is None else value
    return values


def _applies(parameter: Parameter, training: Training) -> bool:
    if parameter.of_epochs:
        return training.epochs is not None
    return parameter.models is None or training.model in parameter.models


def table_of(
    runs: Sequence[Run], parameters: Sequence[dict[str, Any]] | None = None
) -> dict[str, NDArray[Any]]:
    """The columns of `runs`; a number that a run does not have is nan, a text is empty.

    `parameters` are `flat` of each, which takes time to make, if they are there already.
    """
    if parameters is None:
        parameters = [flat(run.training) for run in runs]
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
