"""The figures that show curves of networks, on runs with planted laws; nothing is trained."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sgdphase._records import Outcome
from sgdphase._sweep import Run
from sgdphase.paper import figS4
from sgdphase.paper._figure import FIGURES, left_out
from sgdphase.paper._runs import Runs
from sgdphase.paper.fig3 import nine_tenths, part_after, steps_to

CROSSOVERS = ("fig4b", "figS7b", "figS8a", "figS8b")  # decided in test_fig4b.py
NAMES = ("fig3-inset", "figS4a", "figS4b", "figS7a", *CROSSOVERS)
by_name = pytest.mark.parametrize("figure", [FIGURES[name] for name in NAMES], ids=NAMES)


def runs_of(figure, scale, outcome):
    """The runs of a plan, with outcomes made by a function of the training."""
    return Runs(tuple(Run(training, outcome(training), 0.0) for training in figure.plan(scale)))


def noise(training, width):
    """The same for the trainings of one seed and size, but for a part of each own."""
    common = np.random.default_rng([training.train_size, training.seed]).standard_normal()
    own = np.random.default_rng(
        [training.train_size, training.seed, training.batch, int(1024 * training.lr)]
    ).standard_normal()
    return math.exp(width * (common + own))


def ended(status="fitted", steps=64, trajectory=None, **observables):
    return Outcome(status, steps, float(steps), observables, trajectory or {})


def verdicts(figure, runs, scale):
    return {claim.id: claim.verdict for claim in figure.decide(runs, scale)}


@by_name
def test_plans_grow_with_the_scale(figure):
    plans = [figure.plan(scale) for scale in ("quick", "laptop", "paper")]
    for plan in plans:
        assert len({training.key for training in plan}) == len(plan)
    for number in (
        lambda plan: len({replace(training, seed=0) for training in plan}),
        lambda plan: max(training.train_size for training in plan),
        lambda plan: plan[0].test_size,
        lambda plan: plan[0].width,
    ):
        assert sorted(map(number, plans)) == list(map(number, plans))
    assert len(plans[0]) <= 50
    assert max(training.train_size for training in plans[0]) <= 256
    assert {training.seed for training in plans[2]} <= set(range(100, 110))
    # Without a budget, a net that has lost its gradient would be trained for ever.
    assert all(training.max_samples for plan in plans[:2] for training in plan)


def test_a_diverged_training_may_lack_numbers():
    trainings = FIGURES["figS4a"].plan("quick")[:2]
    outcomes = (ended(amplification=2.0), ended("diverged"))
    runs = Runs(tuple(map(Run, trainings, outcomes, (0.0, 0.0)))).fitted()
    assert np.isnan(runs.runs[1].outcome["amplification"])
    assert runs.runs[0].outcome["amplification"] == 2


def along(parts, final):
    """An alignment that is these parts of the final one at steps 1, 2, 4, ..."""
    steps = 2.0 ** np.arange(len(parts))
    return {"step": steps, "time": steps, "alignment": final * np.array(parts)}


SLOW = (0.001, 0.002, 0.01, 0.05, 0.1, 0.3, 0.6, 1.0)
FAST = (0.6, 0.8, 0.9, 0.98, 1.0, 1.0, 1.0, 1.0)
OVER = (0.6, 0.8, 1.2, 1.5, 1.4, 1.2, 1.1, 1.0)
JUMP = (0.99, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


def trained(figure, parts):
    """Runs whose alignment goes through `parts(batch)`."""

    def outcome(training):
        final = 3 * noise(training, 0.1)
        steps = 2 ** (len(SLOW) - 1)
        return ended("fitted", steps, along(parts(training.batch), final), alignment=final)

    return runs_of(figure, "laptop", outcome)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (lambda batch: SLOW if batch < 64 else FAST, ("holds", "holds", "holds", "holds")),
        (lambda batch: SLOW, ("holds", "fails", "fails", "holds")),
        (lambda batch: FAST, ("fails", "holds", "holds", "holds")),
        # It overshoots: not its final value, but it builds up.
        (lambda batch: SLOW if batch < 64 else OVER, ("holds", "fails", "holds", "holds")),
        (lambda batch: SLOW if batch < 64 else JUMP, ("holds", "holds", "holds", "fails")),
    ],
)
def test_small_batches_grow_and_large_ones_jump(parts, expected):
    figure = FIGURES["fig3-inset"]
    found = verdicts(figure, trained(figure, parts), "laptop")
    ids = (f"fig3-inset.1{letter}" for letter in "abcd")
    assert found == dict(zip(ids, expected, strict=True))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (lambda batch: SLOW, ("holds", "holds")),
        (lambda batch: SLOW if batch < 1024 else FAST, ("fails", "fails")),
        (lambda batch: SLOW if batch > 16 else FAST, ("fails", "holds")),
    ],
)
def test_inflation_is_slow_at_all_batches(parts, expected):
    found = verdicts(FIGURES["figS7a"], trained(FIGURES["figS7a"], parts), "laptop")
    assert found == dict(zip(("figS7a.1a", "figS7a.1b"), expected, strict=True))


def test_numbers_along_the_way():
    runs = trained(FIGURES["fig3-inset"], lambda batch: SLOW)
    assert part_after(runs, 1, 8) == pytest.approx([0.05] * 3)
    assert part_after(runs, 1, 9) == pytest.approx([0.05] * 3)
    assert part_after(runs, 1, 10**6) == pytest.approx([1] * 3)
    assert steps_to(runs, 1, 0.5) == 64
    assert nine_tenths(runs, 1) == "128 steps of 128"


def adapting(figure, factor, error):
    """Runs with these functions of the temperature."""

    def outcome(training):
        t = training.temperature
        return ended(
            amplification=factor(t) * noise(training, 0.005),
            test_error=error(t) * noise(training, 0.005),
        )

    return runs_of(figure, "laptop", outcome)


def grows(t):
    return (1 + t / 0.5) ** 0.7


def line(t):
    return 0.2 - 0.05 * math.log(grows(t))


CONSTANT = (lambda t: 1.0, lambda t: 0.2)


def test_error_falls_where_the_net_adapts():
    figure = FIGURES["figS4a"]
    holds = dict.fromkeys(("figS4a.1a", "figS4a.1b", "figS4a.2a", "figS4a.2b"), "holds")
    assert verdicts(figure, adapting(figure, grows, line), "laptop") == holds
    lazy = verdicts(figure, adapting(figure, *CONSTANT), "laptop")
    assert lazy == {**holds, "figS4a.1a": "fails", "figS4a.2a": "fails", "figS4a.2b": "undecided"}
    early = verdicts(figure, adapting(figure, grows, lambda t: 0.2 * (t / 2**-7) ** -0.3), "laptop")
    assert early == {**holds, "figS4a.2b": "fails"}
    amplified = verdicts(figure, adapting(figure, lambda t: 3.0, line), "laptop")
    assert amplified["figS4a.1b"] == "fails"


def test_error_linear_in_the_logarithm():
    figure = FIGURES["figS4b"]
    straight = verdicts(figure, adapting(figure, grows, line), "laptop")
    assert straight == {"figS4b.3a": "holds", "figS4b.3b": "holds"}
    power = verdicts(figure, adapting(figure, grows, lambda t: 0.4 / grows(t)), "laptop")
    assert power == {"figS4b.3a": "holds", "figS4b.3b": "fails"}
    rising = verdicts(figure, adapting(figure, grows, lambda t: 0.4 - line(t)), "laptop")
    assert rising["figS4b.3a"] == "fails"
    lazy = verdicts(figure, adapting(figure, *CONSTANT), "laptop")
    assert set(lazy.values()) == {"undecided"}


def test_bend_of_a_power_law():
    """As the docstring says: 0.13 over a fall by a factor of 3, and 0 for a line."""
    u = np.linspace(math.log(2.0), math.log(6.0), 50)
    slope, bend = figS4.slope_and_bend(np.exp(u), np.exp(-u))
    assert slope < 0
    assert bend == pytest.approx(0.13, abs=0.01)
    assert figS4.slope_and_bend(np.exp(u), 3 - u) == pytest.approx((-1, 0))


def test_first_crossing():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    assert figS4.first_crossing(x, np.array([0.0, 4.0, 1.0, 8.0]), 2.0) == pytest.approx(
        math.sqrt(2)
    )
    assert figS4.first_crossing(x, np.array([0.0, 1.0, 1.0, 4.0]), 1.0) == pytest.approx(4)
    assert np.isnan(figS4.first_crossing(x, np.ones(4), 2.0))
    assert np.isnan(figS4.first_crossing(x, 3 * np.ones(4), 2.0))


@by_name
def test_what_was_left_out(figure):
    quick, paper = figure.plan("quick"), figure.plan("paper")
    assert left_out(paper, paper) == ""
    seeds = len({training.seed for training in paper})
    assert f"seeds 2 (paper scale {seeds})" in left_out(quick, paper)
    assert "width" in left_out(quick, paper)


@pytest.mark.parametrize("name", ["fig3-inset", "figS7a"])
def test_the_picture_in_time_shows_the_mean_over_seeds_and_the_ends(name):
    figure = FIGURES[name]
    first, *others = trained(figure, lambda batch: SLOW).runs
    lost = ended("budget", 2, along((0.1, -0.1), 1.0), alignment=1.0)
    runs = Runs((Run(first.training, lost, 0.0), *others))
    axes = figure.picture(runs, "laptop").axes[0]
    batch = next(b for b in runs.values("batch") if b != first.training.batch)
    (line,) = [x for x in axes.lines if x.get_label() == f"$B={batch}$"]
    final = np.mean([run.outcome["alignment"] for run in runs.by_seed(batch=batch)])
    assert line.get_ydata()[[0, -1]] == pytest.approx([final * SLOW[0], final * SLOW[-1]])
    assert len(axes.collections) == len(runs.values("batch"))  # bands
    dots = [x for x in axes.lines if x.get_marker() == "." and len(x.get_xdata())]
    assert [x.get_ydata().tolist() for x in dots] == [[-0.1]]
    stars = [x for x in axes.lines if x.get_marker() == "*" and len(x.get_xdata())]
    assert len(stars) == len(runs.values("batch"))


def test_pictures_in_temperature_show_errors_and_amplifications():
    def outcome(training):
        if training.temperature > 16:
            return ended("diverged")
        return ended(
            amplification=grows(training.temperature), test_error=line(training.temperature)
        )

    figure = FIGURES["figS4a"]
    runs = runs_of(figure, "laptop", outcome)
    T = np.array([t for t in runs.values("temperature") if t <= 16])
    axes = figure.picture(runs, "laptop").axes[0]
    for panel, values in ((axes, line), (axes.child_axes[0], grows)):
        x, y = panel.containers[0].lines[0].get_data()
        np.testing.assert_allclose(x, T)
        np.testing.assert_allclose(y, [values(t) for t in T])
        assert any(list(dots.get_xdata()) == [32.0] for dots in panel.lines)  # did not end
    axes = FIGURES["figS4b"].picture(runs, "laptop").axes[0]
    dots = np.ma.getdata(axes.collections[0].get_offsets())
    dots = dots[np.isfinite(dots).all(axis=1)]
    expected = {(round(grows(t), 9), round(line(t), 9)) for t in T}
    assert {(round(x, 9), round(y, 9)) for x, y in dots.tolist()} == expected
