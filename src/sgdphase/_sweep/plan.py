"""What to run: the Cartesian product of the values of each parameter."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, prod
from numbers import Real
from typing import Any, overload

from sgdphase._display import Columns, Shown, span
from sgdphase._parameters import BY_NAME, PARAMETERS, POSITIVE, Parameter, documented
from sgdphase._records import Training
from sgdphase._sweep.table import flat
from sgdphase.errors import InputError, likely, listed, one_line, require
from sgdphase.problems import Problem, problem_class

MOST = 2_000_000
_TRAIN_SIZE = 8192

# Arguments that are fields of a problem.
OF_PROBLEM = tuple(parameter.name for parameter in PARAMETERS if parameter.of == "problem")

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

    def _lines(self) -> list[str]:
        left_out = f", {self.left_out} cells left out (batch too large)" if self.left_out else ""
        return [f"Plan of {len(self)} training{'s' * (len(self) != 1)}{left_out}"]

    def _summary(self) -> Columns:
        limited = {name: column for name, column in self._table().items() if set(column) != {inf}}
        return {"parameter": list(limited), "values": [span(x) for x in limited.values()]}

    def _table(self) -> Columns:
        rows = [flat(training) for training in self]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}


def grid(
    problem: Problem | str | Sequence[Problem] | None = None,
    *,
    dim: Whole | None = None,
    chi: Values | None = None,
    direction: str | None = None,
    train_size: Whole | None = None,
    lr: Values | None = None,
    batch: Whole | None = None,
    temperature: Values | None = None,
    seeds: Whole = 1,
    **parameters: Values | str | None,
) -> Plan:
    """The trainings of all combinations of the values; numbers are one value or a sequence.

    With several train sizes, cells whose batch exceeds the train size are left out and counted. So
    are cells where the batch that follows from `lr` and `temperature` is below 1 or above the train
    size.

    Parameters
    ----------
    problem : Problem, sequence of Problem, or str, default "teacher"
        What is learnt, or the kind of it, as "stripe".
    dim : int or sequence of int, default 128; of a kind that has it, such as the teacher task
    chi : float or sequence of float, default 1; of a kind that has it
    direction : {"axis", "random"}, default "axis"
        Of a kind that has it.
    train_size : int or sequence of int, default 8192
        Number of training points, at least 1; of a command it need not be known.
    lr, batch, temperature : numbers
        Learning rate, points per step, and `temperature = lr / batch`, above 0. Two of them are
        given and the third follows.
    seeds : int or sequence of int, default 1
        Number of seeds, counted from 0, or the seeds.
    {parameters}

    Examples
    --------
    >>> plan = grid(dim=8, train_size=[4, 64], lr=[0.5, 1.0], batch=[1, 16], seeds=3)
    >>> len(plan), plan.left_out
    (18, 6)
    """
    problems = problems_of(problem, {"dim": dim, "chi": chi, "direction": direction})
    # A command says which model runs it, and that only it knows its size.
    assumed = dict(getattr(problems[0], "assumes", {}))
    size = assumed.pop("train_size", _TRAIN_SIZE)
    train_size = size if train_size is None else train_size
    axes, fixed = _rest(assumed | parameters)
    sizes, all_seeds = _values("train size", train_size), _seeds(seeds)
    plane = _plane(lr, batch, temperature, sizes)
    count = prod(map(len, (problems, sizes, all_seeds, *axes.values(), *plane.values())))
    _check_count(count)
    pairs = _lr_and_batch(**plane)

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
        first = Training(task, _whole(size), float(eta), int(points), **cell, **fixed)
        if hasattr(task, "check_training"):
            task.check_training(first)
        trainings += first.with_seeds(all_seeds)
    for task, size in product(problems, {training.train_size for training in trainings}):
        task.check_sizes(size, trainings[0].test_size)
    if not trainings:
        raise InputError(
            f"none of the {count} cells has a batch from 1 to the train size "
            f"({', '.join(str(size) for size in sizes)})"
        )
    return Plan(tuple(trainings), count - len(trainings))


def _check_count(count: int) -> None:
    """Before anything is built, which would take the memory of a grid that is too large."""
    if count > MOST:
        raise InputError(f"the grid holds {count} trainings; it may hold {MOST}")


# What `grid` does not treat in its own way, but hands to the record.
_OWN = tuple(
    own.replace(default=_TRAIN_SIZE) if own.name == "train_size" else own
    for own in tuple(inspect.signature(grid).parameters.values())[:-1]
)
_REST = {
    parameter.name: parameter
    for parameter in PARAMETERS
    if parameter.grid and parameter.argument not in {own.name for own in _OWN}
}


def _argument(parameter: Parameter) -> inspect.Parameter:
    kind = parameter.type.__name__
    kind = f"{kind} | Sequence[{kind}]" if parameter.grid == "values" else kind
    kind = f"{kind} | None" if parameter.default is None else kind
    by_name = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(parameter.name, by_name, default=parameter.default, annotation=kind)


# What `help` and editors show: the arguments of the table in the place of `**parameters`.
grid.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [*_OWN, *map(_argument, _REST.values())], return_annotation="Plan"
)
grid.__doc__ = documented(grid.__doc__, _REST.values(), several=True)


def _rest(given: Mapping[str, Any]) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Those that may have several values, as lists, and those that have one for all trainings."""
    for name in (name for name in given if name not in _REST):
        valid = list(inspect.signature(grid).parameters)
        meant = likely(name, valid)
        raise TypeError(f"grid has no argument {name}{meant}; it has {listed(valid, 'and')}")
    axes, fixed = {}, {}
    # In the order of the table, whatever that of the call.
    for name, parameter in _REST.items():
        if name not in given:
            continue
        value = given[name]
        if parameter.grid == "values":
            axes[name] = _values(parameter.label, value)
        elif hasattr(value, "__iter__") and not isinstance(value, str):
            raise InputError(f"{parameter.label} = {value}: must be one value for all trainings")
        else:
            fixed[name] = value
    return axes, fixed


def _seeds(seeds: Any) -> Sequence[int]:
    """A number of seeds, or the seeds."""
    if hasattr(seeds, "__iter__"):
        return [_whole(seed) for seed in _values("seeds", seeds)]
    require("seeds", seeds, lambda n: n >= 1 and n == n // 1, "an integer of at least 1, or a list")
    return range(int(seeds))


def problems_of(
    problem: Problem | str | Sequence[Problem] | None, fields: Mapping[str, Any]
) -> list[Problem]:
    """The problems; of a kind those with all combinations of the values of its `fields`."""
    given = {name: value for name, value in fields.items() if value is not None}
    if problem is None or isinstance(problem, str):
        kind = problem_class(problem or "teacher")
        for name, value in given.items():
            if name not in kind.__dataclass_fields__:
                raise InputError(f"{name} = {one_line(value)}: {kind.kind} has no {name}")
        axes = {
            name: [value] if BY_NAME[name].choices else _values(name, value)
            for name, value in given.items()
        }
        _check_count(prod(map(len, axes.values())))
        return [
            kind(**{name: _typed(name, value) for name, value in zip(axes, each, strict=True)})
            for each in product(*axes.values())
        ]
    if given:
        raise InputError(f"{listed(given, 'and')}: give them or a problem, not both")
    return [*problem] if isinstance(problem, Sequence) else [problem]


def _plane(
    lr: Any, batch: Any, temperature: Any, sizes: Sequence[Any]
) -> dict[str, Sequence[float]]:
    """The values of the two that were given."""
    plane = {"lr": lr, "batch": batch, "temperature": temperature}
    given = {name: value for name, value in plane.items() if value is not None}
    if len(given) != 2:
        raise InputError(
            f"{', '.join(given) or 'none of them'} given: give two of lr, batch and temperature "
            "(temperature = lr / batch)"
        )
    given = {name: _values(name, value) for name, value in given.items()}
    valid = {"batch": f"an integer from 1 to the train size {max(sizes)}"}
    for name, values in given.items():
        for number in values:
            require(name, number, POSITIVE.holds, valid.get(name, POSITIVE.text))
    return given


def _lr_and_batch(
    lr: Sequence[float] = (), batch: Sequence[float] = (), temperature: Sequence[float] = ()
) -> list[tuple[float, float]]:
    """Pairs `(lr, batch)` from the two that were given; the batch may not be whole yet."""
    if not temperature:
        return list(product(lr, batch))
    if not lr:
        return [(t * b, b) for t, b in product(temperature, batch)]
    return [(x, _nearly_whole(x / t)) for x, t in product(lr, temperature)]


def _nearly_whole(value: float) -> float:
    """The integer within rounding of `value`, if there is one."""
    return float(round(value)) if abs(value - round(value)) <= 1e-9 * value else value


def _whole(value: Any) -> int:
    """As an integer if it is one; if not, the record it goes into says what is wrong with it."""
    return int(value) if float(value).is_integer() else value


def _typed(name: str, value: Any) -> Any:
    """As the type of the parameter; what is not given stays so."""
    if value is None or isinstance(value, str):
        return value
    return _whole(value) if BY_NAME[name].type is int else float(value)


def _values(name: str, given: Any) -> list[Any]:
    """One value or a sequence, as a list in the order given."""
    values = [given] if isinstance(given, str) or not hasattr(given, "__iter__") else list(given)
    if not all(value is None or isinstance(value, Real) for value in values):
        raise InputError(f"{name} = {one_line(given)}: must be a number or a sequence of numbers")
    if not values:
        raise InputError(f"{name} = []: must hold at least one value")
    if len(set(values)) < len(values):
        raise InputError(f"{name} = {values}: names a value twice")
    return values
