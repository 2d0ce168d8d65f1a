"""Phase diagrams of networks on planted planes: what is true there holds, what is not fails."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from sgdphase._records import Outcome, Training
from sgdphase._sweep import Run
from sgdphase.paper._figure import FIGURES as CATALOG
from sgdphase.paper._figure import SCALES, Figure, Scale, left_out
from sgdphase.paper._runs import Runs
from sgdphase.paper._settings import cnn, fc

NAMES = ["fig1b", "fig1b-full", "fig1c", "figS3a", "figS3b"]
NAMES += [f"fig{of}{letter}" for of in ("S5", "S6") for letter in "abcd"]
FIGURES = {name: CATALOG[name] for name in NAMES}
NETWORKS = ("S5", "S6")


@dataclass(frozen=True)
class World:
    """A plane of three regimes with `T_c`, `B*` and smooth crossovers, and laws to break.

    `x = (1 + (T/T_c)^3 + (lr/lr_c)^3)^(1/3)`: 1 in GD, a power of T or of lr elsewhere.
    """

    critical_temperature: float = 0.25
    critical_batch: float = 32.0
    batch_power: float = 1.0  # of the noise regime: T = lr / batch^power
    kernel_power: float = 0.5
    weight_power: float = 0.5
    alignment_power: float = 1.0
    gain: float = 0.3  # of the noise regime, as a share of the error
    early_gain: float = 0.3

    def observables(self, training: Training) -> dict[str, float]:
        lr, batch = training.lr, float(training.batch)
        hot = lr / batch**self.batch_power / self.critical_temperature
        first = lr / (self.critical_temperature * self.critical_batch**self.batch_power)
        x = (1 + hot**3 + first**3) ** (1 / 3)
        noise = hot**3 / (1 + hot**3 + 8 * first**3)
        jitter = np.exp(0.01 * np.random.default_rng(int(training.key, 16)).standard_normal(6))
        seed = 1 + 0.1 * training.seed
        values = {
            "alignment": seed * 1e-4 * x**self.alignment_power,
            "weight_change": seed * 0.1 * x**self.weight_power,
            "ntk_change": seed * 0.01 * x**self.kernel_power,
            "test_error": seed * 0.1 * (1 - self.gain * noise),
            "test_error_early": seed * 0.1 * (1 - self.early_gain * noise),
        }
        return {name: value * jitter[i] for i, (name, value) in enumerate(values.items())}


def runs_of(
    figure: Figure, scale: Scale, world: World, diverges: Callable[[Training], bool]
) -> Runs:
    """The plan at a scale, with what the world says about each training."""
    runs = []
    for training in figure.plan(scale):
        found, status = world.observables(training), "fitted"
        if diverges(training):
            found, status = dict.fromkeys(found, math.nan), "diverged"
        runs.append(Run(training, Outcome(status, 1, training.lr, found), 0.0))
    return Runs(tuple(runs))


def verdicts(name: str, world: World) -> dict[str, str]:
    """On the paper's grid, which holds enough of every regime."""
    runs = runs_of(FIGURES[name], "paper", world, lambda training: False)
    return {
        claim.id.removeprefix(f"{name}."): claim.verdict
        for claim in FIGURES[name].decide(runs, "paper")
    }


PHASE = ["1", "2a", "2b", "3a", "3b", "4a", "4b", "5a", "5b", "5c"]


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        *((name, PHASE) for name in ("fig1b", "fig1c")),
        *((name, ["1"]) for name in ("figS3a", "figS3b", "figS5b", "figS6b")),
        *((name, ["1a", "1b", "1c"]) for name in ("figS5a", "figS6a")),
        ("figS5c", ["2"]),
        ("figS5d", ["3"]),
        ("figS6c", ["2a", "2b"]),
    ],
)
def test_three_regimes_hold(name: str, ids: list[str]) -> None:
    world = World(gain=0.0) if name in ("fig1b", "fig1c") else World()
    assert verdicts(name, world) == dict.fromkeys(ids, "holds")


def test_errors_that_early_stopping_makes_equal() -> None:
    assert verdicts("figS6d", World(early_gain=0.0)) == {"2c": "holds"}
    assert verdicts("figS6d", World(early_gain=0.3)) == {"2c": "fails"}


@pytest.mark.parametrize(
    ("name", "id", "world"),
    [
        *((name, id, World(batch_power=0.75)) for name in ("fig1b", "fig1c") for id in ("1", "4a")),
        *((name, "1", World(kernel_power=0.02)) for name in ("figS3a", "figS3b")),
        *((f"fig{of}a", "1a", World(batch_power=0.5)) for of in NETWORKS),
        # No bend: T alone decides, at any batch.
        *((f"fig{of}a", "1c", World(critical_batch=2.0**20)) for of in NETWORKS),
        *((f"fig{of}b", "1", World(alignment_power=0.02)) for of in NETWORKS),
        ("figS5c", "2", World(gain=-0.3)),
        ("figS5d", "3", World(early_gain=-0.3)),
        ("figS6c", "2a", World(gain=-0.3)),
        ("figS6c", "2b", World(gain=0.0)),
    ],
)
def test_what_is_not_so_fails(name: str, id: str, world: World) -> None:
    assert verdicts(name, world)[id] == "fails"


@pytest.mark.parametrize("name", FIGURES)
def test_pictures_with_diverged_and_without_some_cells(name: str) -> None:
    """Cells have the colour of their mean over seeds, and curves go through it."""
    figure = FIGURES[name]
    runs = runs_of(figure, "laptop", World(), lambda training: training.lr > 30 < training.batch)
    some = Runs(tuple(run for run in runs.runs if run.training.batch != 4))
    few = Runs(runs.runs[:7])
    for shown in (some, few):
        picture = figure.picture(shown, "laptop")
        assert drawn(name, picture.axes) == pytest.approx(means(name, shown))
        assert "paper scale" in picture.get_supxlabel()
        assert all(claim.rule for claim in figure.decide(shown, "laptop"))
    assert len(drawn(name, figure.picture(some, "laptop").axes)) > 7


OBSERVABLES = {"a": "weight_change", "b": "alignment", "c": "test_error", "d": "test_error_early"}


def means(name: str, runs: Runs) -> list[float]:
    """The means over seeds of the cells, in order of size."""
    observable = "ntk_change" if name.startswith("figS3") else "alignment"
    if name.startswith(("figS5", "figS6")):
        observable = OBSERVABLES[name[-1]]
    cells: dict[tuple[float, int], list[float]] = {}
    for run in runs.runs:
        if run.outcome.status == "fitted":
            values = cells.setdefault((run.training.lr, run.training.batch), [])
            values.append(run.outcome[observable])
    return sorted(float(np.exp(np.mean(np.log(values)))) for values in cells.values())


def drawn(name: str, axes: list[Any]) -> list[float]:
    """The numbers that a picture shows, in order of size."""
    if name.startswith("figS3"):
        ys = [container.lines[0].get_ydata() for container in axes[0].containers]
        values = np.concatenate(ys) if ys else np.empty(0)
    else:
        values = np.ma.filled(axes[0].collections[0].get_array(), np.nan).ravel()
    return sorted(values[np.isfinite(values)].tolist())


def test_plans_grow_and_are_shared() -> None:
    for figure in FIGURES.values():
        plans = [figure.plan(scale) for scale in SCALES]
        for plan in plans:
            assert len({training.key for training in plan}) == len(plan)
        quick, laptop, paper = plans
        assert len(quick) < len(laptop) < len(paper)
        for small, large in ((quick, laptop), (laptop, paper)):
            for size in ("train_size", "width", "test_size", "margin"):
                assert getattr(small[0], size) <= getattr(large[0], size)
    for scale in SCALES:
        keys = {
            name: {training.key for training in figure.plan(scale)}
            for name, figure in FIGURES.items()
        }
        assert keys["fig1b"] == keys["figS3a"]
        assert keys["fig1c"] == keys["figS3b"]
        for of in NETWORKS:
            assert all(keys[f"fig{of}a"] == keys[f"fig{of}{letter}"] for letter in "bcd")


def test_what_was_reduced_is_said() -> None:
    said = left_out(cnn("laptop").plane, cnn("paper").plane)
    assert "P 2^9 (paper scale 2^14)" in said and "width 8 (paper scale 32)" in said
    assert "The cells of T < 2^-10 and eta < 2^-4 are left out." in cnn("laptop").omissions()
    assert left_out(fc("paper").plane, fc("paper").plane) == "at paper scale"
    assert fc("paper").omissions() == ""
