"""What to run: the Cartesian product of the values of each parameter."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, overload

from sgdphase._display import Columns, Shown, span
from sgdphase._parameters import BY_NAME
from sgdphase._records import Training
from sgdphase.errors import InputError, require
from sgdphase.problems import Problem, TeacherTask

_LARGEST = 2_000_000

Values = float | Sequence[float]
Whole = int | Sequence[int]


@dataclass(frozen=True, repr=False)
class Plan(Shown, Sequence[Training]):
    """A sequence of trainings, returned by `grid`.

    Attributes
    ----------
    trainings : tuple of Training
    left_out : int, default 0
        Cells of the grid without a training, as their batch does not fit the train size.
    """

    trainings: tuple[Training, ...]
    left_out: int = 0

    @overload
    def __getitem__(self, index: int) -> Training: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Training, ...]: ...
    def __getitem__(self, index: int | slice) -> Training | tuple[Training, ...]:
        return self.trainings[index]

    def __len__(self) -> int:
        return len(self.trainings)

    def __iter__(self) -> Iterator[Training]:
        return iter(self.trainings)

    def _lines(self) -> list[str]:
        left_out = f", {self.left_out} cells left out (batch too large)" if self.left_out else ""
        return [f"Plan of {len(self)} training{'s' * (len(self) != 1)}{left_out}"]

    def _summary(self) -> Columns:
        table = self._table()
        return {"parameter": list(table), "values": [span(column) for column in table.values()]}

    def _table(self) -> Columns:
        rows = [_flat(training) for training in self]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}


def _flat(training: Training) -> dict[str, Any]:
    """The parameters of a training without nesting; those that are not given are left out."""
    plain = training.as_dict()
    flat = {"model": plain.pop("model"), "problem": plain["problem"].pop("kind")}
    flat |= plain.pop("problem") | plain
    return {name: value for name, value in flat.items() if value is not None}


def grid(
    problem: Problem | Sequence[Problem] | None = None,
    *,
    train_size: int | Sequence[int] = 8192,
    dim: int | Sequence[int] | None = None,
    chi: Values | None = None,
    margin: Values = 2.0**-7,
    lr: Values | None = None,
    batch: int | Sequence[int] | None = None,
    temperature: Values | None = None,
    momentum: Values = 0.0,
    weight_decay: Values = 0.0,
    seeds: int | Sequence[int] = 1,
    model: str = "perceptron",
    depth: Whole | None = None,
    width: Whole | None = None,
    activation: str | None = None,
    loss: str = "hinge",
    sampler: str = "fresh",
    dynamics: str = "sgd",
    test_size: int = 32768,
    max_steps: int | None = None,
    max_time: float | None = None,
    max_samples: int | None = None,
    max_seconds: float | None = None,
) -> Plan:
    """The trainings of all combinations of the values; numbers are one value or a sequence.

    With several train sizes, cells whose batch exceeds the train size are left out and counted. So
    are cells where the batch that follows from `lr` and `temperature` is below 1 or above the train
    size.

    Parameters
    ----------
    problem : Problem or sequence of Problem, default the teacher task
    train_size : int or sequence of int, default 8192
        Number of training points, at least 1.
    dim, chi : numbers, default 128 and 1
        Of the teacher task (`TeacherTask`), instead of a `problem`.
    margin : float or sequence of float, default 2^-7
        Margin that every point must reach, above 0.
    lr, batch, temperature : numbers
        Learning rate, points per step, and `temperature = lr / batch`, above 0. Two of them are
        given and the third follows.
    momentum, weight_decay : float or sequence of float, default 0
    seeds : int or sequence of int, default 1
        Number of seeds, counted from 0, or the seeds.
    depth, width : int or sequence of int, default the paper's
        Hidden layers, and neurons per layer, of a network.
    model, activation, loss, sampler, dynamics, test_size
        As in `Training`, the same for all.
    max_steps, max_time, max_samples, max_seconds
        Budgets as in `Training`, the same for all.

    Examples
    --------
    >>> plan = grid(dim=8, train_size=[4, 64], lr=[0.5, 1.0], batch=[1, 16], seeds=3)
    >>> len(plan), plan.left_out
    (18, 6)
    """
    given: dict[str, Any] = {
        "train_size": train_size, "lr": lr, "batch": batch, "margin": margin, "momentum": momentum,
        "weight_decay": weight_decay, "depth": depth, "width": width, "model": model,
        "activation": activation, "loss": loss, "sampler": sampler,
        "dynamics": dynamics, "test_size": test_size, "max_steps": max_steps, "max_time": max_time,
        "max_samples": max_samples, "max_seconds": max_seconds,
    }  # fmt: skip
    problems = _problems(problem, dim, chi)
    pairs = _lr_and_batch(given.pop("lr"), given.pop("batch"), temperature)
    axes = {
        name: _values(BY_NAME[name].words, given.pop(name))
        for name in list(given)
        if BY_NAME[name].grid == "values"
    }
    sizes, all_seeds = axes.pop("train_size"), _seeds(seeds)
    cells = len(problems) * len(sizes) * len(pairs) * math.prod(map(len, axes.values()))
    count = cells * len(all_seeds)
    if count > _LARGEST:
        raise InputError(f"the grid holds {count} trainings; it may hold {_LARGEST}")

    # A batch that was asked for by name and fits no train size at all is a mistake, not a corner.
    forgiving = len(sizes) > 1 or batch is None
    trainings: list[Training] = []
    for task, size, (eta, points), *rest in product(problems, sizes, pairs, *axes.values()):
        if forgiving and not 1 <= points <= size:
            continue
        if points != int(points):
            if batch is not None:
                raise InputError(f"batch = {points:g}: must be an integer")
            raise InputError(
                f"lr = {eta:g} and temperature = {eta / points:g}: batch = lr / temperature "
                f"would be {points:g}; it must be a whole number"
            )
        cell = {name: _typed(name, value) for name, value in zip(axes, rest, strict=True)}
        first = Training(task, _whole(size), float(eta), int(points), **cell, **given)
        trainings += first.with_seeds(all_seeds)
    for task, size in product(problems, {training.train_size for training in trainings}):
        task.check_sizes(size, test_size)
    if not trainings:
        raise InputError(
            f"none of the {count} cells has a batch from 1 to the train size "
            f"({', '.join(str(size) for size in sizes)})"
        )
    return Plan(tuple(trainings), count - len(trainings))


def _seeds(seeds: Any) -> Sequence[int]:
    """A number of seeds, or the seeds."""
    if hasattr(seeds, "__iter__"):
        return [_whole(seed) for seed in _values("seeds", seeds)]
    require("seeds", seeds, lambda n: n >= 1 and n == n // 1, "an integer of at least 1, or a list")
    return range(int(seeds))


def _problems(problem: Problem | Sequence[Problem] | None, dim: Any, chi: Any) -> list[Problem]:
    if problem is None:
        dims = _values("dim", BY_NAME["dim"].default if dim is None else dim)
        chis = _values("chi", BY_NAME["chi"].default if chi is None else chi)
        return [TeacherTask(_whole(d), float(c)) for d, c in product(dims, chis)]
    if dim is not None or chi is not None:
        raise InputError("dim and chi: give them or a problem, not both")
    return list(problem) if isinstance(problem, Sequence) else [problem]


def _lr_and_batch(lr: Any, batch: Any, temperature: Any) -> list[tuple[float, float]]:
    """Pairs `(lr, batch)` from the two that were given; the batch may not be whole yet."""
    plane = {"lr": lr, "batch": batch, "temperature": temperature}
    given = {name: value for name, value in plane.items() if value is not None}
    if len(given) != 2:
        raise InputError(
            f"{', '.join(given) or 'none of them'} given: give two of lr, batch and temperature "
            "(temperature = lr / batch)"
        )
    given = {name: _values(name, value) for name, value in given.items()}
    for name, values in given.items():
        for number in values:
            if not 0 < number < math.inf:
                raise InputError(f"{name} = {number}: must be a finite number above 0")
    if temperature is None:
        return list(product(given["lr"], given["batch"]))
    if lr is None:
        return [(t * b, b) for t, b in product(given["temperature"], given["batch"])]
    return [(x, _nearly_whole(x / t)) for x, t in product(given["lr"], given["temperature"])]


def _nearly_whole(value: float) -> float:
    """The integer within rounding of `value`, if there is one."""
    return float(round(value)) if abs(value - round(value)) <= 1e-9 * value else value


def _whole(value: Any) -> int:
    """As an integer if it is one; if not, the record it goes into says what is wrong with it."""
    return int(value) if float(value).is_integer() else value


def _typed(name: str, value: Any) -> Any:
    """As the type of the parameter; what is not given stays so."""
    if value is None:
        return None
    return _whole(value) if BY_NAME[name].type is int else float(value)


def _values(name: str, given: Any) -> list[Any]:
    """One value or a sequence, as a list in the order given."""
    values = list(given) if hasattr(given, "__iter__") else [given]
    if not values:
        raise InputError(f"{name} = []: must hold at least one value")
    if len(set(values)) < len(values):
        raise InputError(f"{name} = {values}: names a value twice")
    return values
