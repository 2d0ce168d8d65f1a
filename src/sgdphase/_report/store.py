"""The page of a store: for each experiment its phase diagram, numbers and runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from sgdphase._own import UserCommand, UserProblem
from sgdphase._report.page import (
    PAGES,
    Html,
    folded,
    heading,
    items,
    joined,
    link,
    page,
    paragraph,
    picture,
    png,
    show,
    table,
    write_file,
    written,
)
from sgdphase._report.runs import every_run, shared
from sgdphase._sweep import Run, Store, table_of
from sgdphase._sweep.table import flat
from sgdphase.diagram import REGIMES, PhaseDiagram, phase_diagram, plane_from_table
from sgdphase.diagram._cells import EXPERIMENT, check_observable, choose
from sgdphase.diagram._draw import draw_figure
from sgdphase.errors import InputError, check_output

# A row has about 300 bytes: with more rows a browser takes long to open the page.
MOST_RUNS = 20_000

_PLANE = ("lr", "batch", "seed", "temperature")

Fields = tuple[tuple[str, Any], ...]

_SEARCH = (
    "These runs come from a search for boundaries; they are not on a grid. The numbers here are "
    "computed as for a grid and are rough; `sgdphase diagnose --out` makes the proper page."
)


@dataclass(frozen=True)
class Experiment:
    """The runs that share a plane, and the parameters that differ from other experiments."""

    runs: tuple[Run, ...]
    differing: Mapping[str, Any]

    @property
    def title(self) -> str:
        training = self.runs[0].training
        values = ", ".join(
            f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"
            for name, value in self.differing.items()
            if name not in ("model", "problem") and value is not None
        )
        problem = training.problem
        kind = f"{training.model} on {problem.kind}"
        if isinstance(problem, UserCommand):
            kind = f"the command {problem.name}"
        return ("a user's model" if self.is_users else kind) + (f", {values}" if values else "")

    @property
    def is_users(self) -> bool:
        """Whether these are trainings of a user's model, made by `diagnose`."""
        return isinstance(self.runs[0].training.problem, UserProblem)


def store_page(
    store: Store | str | Path,
    path: str | Path,
    *,
    observable: str = "alignment",
    factor: float = 2.0,
    fixed: Mapping[str, Any] = MappingProxyType({}),
) -> Path:
    """Write the page of the runs in `store` to `path`.

    `fixed` picks runs as in `plane_from_table`, `factor` is that of `phase_diagram`.
    """
    out = check_output(Path(path), PAGES)
    store = store if isinstance(store, Store) else Store(store)
    runs = store.runs()
    if not runs:
        raise InputError(f"{store.path}: holds no runs")
    columns = table_of(runs)
    # Runs that all failed have no observables, and still have a page.
    if any(run.outcome.observables for run in runs):
        check_observable(columns, observable)
    columns["key"] = np.array([run.training.key for run in runs])
    chosen = set(choose(columns, fixed)["key"].tolist())
    groups = experiments([run for run in runs if run.training.key in chosen])
    diagrams = [_diagram(experiment, observable, factor) for experiment in groups]
    parts = _contents(groups, diagrams) if len(groups) > 1 else []
    for number, (experiment, diagram) in enumerate(zip(groups, diagrams, strict=True)):
        parts += [
            heading(experiment.title, f"experiment-{number}"),
            *_section(experiment, diagram, with_runs=len(chosen) <= MOST_RUNS),
        ]
    if len(chosen) > MOST_RUNS:
        parts.insert(
            0,
            paragraph(
                f"The {len(chosen)} runs are too many for a page, which holds {MOST_RUNS}: their "
                "cells are given instead. `sgdphase export` writes every run to a file."
            ),
        )
    write_file(out, page(f"Phase diagrams of {store.path.name}", parts))
    return out


def experiments(runs: Sequence[Run]) -> list[Experiment]:
    """The runs by experiment, in the order of their parameters.

    If two runs of a plane have the same lr, batch and seed, they differ in something else, such as
    the budget. Then each combination of all parameters is an experiment.
    """
    groups: dict[Fields, list[Run]] = {}
    for run in runs:
        groups.setdefault(_fields(flat(run.training), EXPERIMENT), []).append(run)
    split: dict[Fields, list[Run]] = {}
    for fields, group in groups.items():
        places = {(r.training.lr, r.training.batch, r.training.seed) for r in group}
        for run in group:
            parameters = flat(run.training)
            rest = [name for name in parameters if name not in (*EXPERIMENT, *_PLANE, "path")]
            more = () if len(places) == len(group) else _fields(parameters, rest)
            split.setdefault(fields + more, []).append(run)
    names = dict.fromkeys(name for fields in split for name, _ in fields)
    values = [dict(fields) for fields in split]
    differing = [n for n in names if len({given.get(n) for given in values}) > 1]
    ordered = sorted(split.items(), key=lambda item: _sortable(dict(item[0]), list(names)))
    return [
        Experiment(tuple(group), {name: dict(fields).get(name) for name in differing})
        for fields, group in ordered
    ]


def _fields(parameters: Mapping[str, Any], names: Sequence[str]) -> Fields:
    return tuple((name, parameters[name]) for name in names if name in parameters)


def _sortable(parameters: Mapping[str, Any], names: Sequence[str]) -> list[tuple[str, float, str]]:
    def part(value: Any) -> tuple[str, float, str]:
        if isinstance(value, int | float):
            return ("number", float(value), "")
        return ("text" if value is not None else "", 0.0, str(value))

    return [part(parameters.get(name)) for name in names]


def _diagram(experiment: Experiment, observable: str, factor: float) -> PhaseDiagram | str:
    """The phase diagram, or why there is none."""
    epochs = experiment.runs[0].training.epochs
    if epochs is not None:
        return (
            f"These trainings ran for {epochs} epochs; a phase diagram needs trainings until all "
            "points are fitted. `sgdphase diagnose --out` makes the page of their table."
        )
    columns = table_of(experiment.runs)
    if observable not in columns:
        return f"None of these runs has a value of {observable}: there is no phase diagram."
    try:
        plane = plane_from_table(columns, observable)
    except InputError as error:
        return f"There is no phase diagram: {error}."
    return phase_diagram(plane, factor=factor)


def _contents(groups: Sequence[Experiment], diagrams: Sequence[PhaseDiagram | str]) -> list[Html]:
    rows = []
    for number, (experiment, diagram) in enumerate(zip(groups, diagrams, strict=True)):
        critical = None if isinstance(diagram, str) else diagram.critical_batch
        known = ("", "") if critical is None else written(critical, 4)
        title = link(experiment.title, f"experiment-{number}")
        rows.append((title, len(experiment.runs), *known))
    return [table(("experiment", "runs", "B*", "interval"), rows)]


def _section(experiment: Experiment, diagram: PhaseDiagram | str, *, with_runs: bool) -> list[Html]:
    settings = paragraph(f"All runs: {_settings(experiment)}.")
    runs = every_run(experiment.runs) if with_runs else Html("")
    if isinstance(diagram, str):
        return [settings, paragraph(diagram), runs]
    drawn = picture(
        png(draw_figure(diagram)),
        f"{diagram.observable.replace('_', ' ')} in the plane of batch and learning rate, "
        f"over {diagram.seeds} seed{'s' if diagram.seeds > 1 else ''}. Dashed: B* and the GD line "
        "with their intervals; black dots: diverged; grey: no fitted run.",
        f"Phase diagram of {experiment.title}",
    )
    search = [paragraph(_SEARCH)] if experiment.is_users else []
    notes = [] if experiment.is_users else [items(diagram.notes)]
    return [settings, *search, drawn, _numbers(diagram), *notes, _cells(diagram), runs]


def _settings(experiment: Experiment) -> str:
    """What all runs share, without budgets that are not given (infinite)."""
    common = shared(experiment.runs).items()
    return ", ".join(f"{name} = {show(value)}" for name, value in common if value != math.inf)


def _numbers(diagram: PhaseDiagram) -> Html:
    below, above = diagram.slopes.get("below"), diagram.slopes.get("above")
    known = [
        ("B*", diagram.critical_batch, "batch below which noise decides what is learnt"),
        ("T_c", diagram.critical_temperature, "lr/batch below which it is like GD (up to B*)"),
        ("first-step line", diagram.first_step_lr, "lr below which it is like GD (above B*)"),
        ("slope of the GD line below B*", below, "expected: 1"),
        ("slope of the GD line above B*", above, "expected: 0"),
    ]
    best = diagram.best
    if best is not None:
        where = f"at lr = {best.lr:g}, batch = {best.batch:g} ({best.regime})"
        known.append(("lowest test error", best.test_error, where))
    rows = [(name, *written(estimate, 4), meaning) for name, estimate, meaning in known]
    regimes = diagram.grid("regime")
    counts = ", ".join(f"{n} {name}" for name in REGIMES if (n := int((regimes == name).sum())))
    rows.append(("cells", str(regimes.size), "", counts))
    head = ("", "value", f"{diagram.level:.0%} interval", "")
    parts = [table(head, rows)]
    if diagram.gd_line:
        line = [(p.batch, p.lr.value, p.lr.low, p.lr.high) for p in diagram.gd_line]
        caption = f"The GD line: where it is {diagram.factor:g} times its value in GD"
        parts.append(folded(caption, table(("batch", "lr", "low", "high"), line)))
    return joined(parts)


def _cells(diagram: PhaseDiagram) -> Html:
    names = ("lr", "batch", "regime", "confidence", "value", "sem", "test_error",
             "slope_lr", "slope_batch")  # fmt: skip
    rows = [[getattr(cell, name) for name in names] for cell in diagram.cells]
    head = [diagram.observable if name == "value" else name for name in names]
    return folded(f"Every cell ({len(rows)})", table(head, rows))
