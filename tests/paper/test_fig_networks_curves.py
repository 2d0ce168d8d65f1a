"""The figures that show curves of networks, on runs with planted laws; nothing is trained."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sgdphase.paper._alignment_in_time import part_after, steps_in_all, steps_to

from sgdphase._records import Outcome
from sgdphase._sweep import Run
from sgdphase.diagram._style import save
from sgdphase.paper import fig3, fig4b, figS4a, figS4b, figS7a, figS7b, figS8a, figS8b
from sgdphase.paper._fitted import fitted
from sgdphase.paper._network_collapse import curves
from sgdphase.paper._teacher_network import first_crossing
from sgdphase.paper.captions import left_out
from sgdphase.paper.runs import Runs

COLLAPSES = (fig4b, figS7b, figS8a, figS8b)
FIGURES = (
    fig3.FIGURE_INSET,
    figS4a.FIGURE,
    figS4b.FIGURE,
    figS7a.FIGURE,
    *(module.FIGURE for module in COLLAPSES),
)
by_name = pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
by_module = pytest.mark.parametrize("module", COLLAPSES, ids=lambda m: m.FIGURE.name)


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
    return {claim.id: claim.verdict for claim in figure.claims(runs, scale)}


@by_name
def test_plans_grow_with_the_scale(figure):
    plans = [figure.plan(scale) for scale in ("quick", "laptop", "paper")]
    for plan in plans:
        assert len({training.key for training in plan}) == len(plan)
    for number in (
        lambda plan: len(plan),
        lambda plan: max(training.train_size for training in plan),
        lambda plan: max(training.seed for training in plan),
        lambda plan: plan[0].test_size,
        lambda plan: plan[0].width,
    ):
        assert sorted(map(number, plans)) == list(map(number, plans))
    assert len(plans[0]) <= 30
    assert max(training.train_size for training in plans[0]) <= 256
    assert {training.seed for training in plans[2]} == set(range(5))
    # Without a budget, a net that has lost its gradient would be trained for ever.
    assert all(training.max_samples for plan in plans[:2] for training in plan)


def planted(module, exponent, scale="laptop"):
    """`y = eta^power (1 + B*/B)` with `B* = 16 (P/256)^exponent`: inside every plan's batches."""
    learnt = module.BATCHES.learnt

    def outcome(training):
        star = 16 * (training.train_size / 256) ** exponent
        y = training.lr**learnt.power * (1 + star / training.batch) * noise(training, 0.01)
        return ended(**{learnt.observable: y})

    return runs_of(module.FIGURE, scale, outcome)


@by_module
def test_the_exponent_of_a_planted_crossover_is_found(module):
    batches = module.BATCHES
    runs = planted(module, batches.exponent)
    (claim,) = module.FIGURE.claims(runs, "laptop")
    assert claim.id == batches.id
    assert claim.measured == pytest.approx(batches.exponent, abs=0.05)
    assert claim.verdict == "holds"
    assert claim.predicted == batches.exponent


@by_module
def test_another_exponent_fails(module):
    runs = planted(module, module.BATCHES.exponent + 0.3)
    assert verdicts(module.FIGURE, runs, "laptop") == {module.BATCHES.id: "fails"}


@by_module
def test_curves_without_a_crossover_decide_nothing(module):
    """Noise about a constant collapses with every exponent."""
    observable = module.BATCHES.learnt.observable
    runs = runs_of(
        module.FIGURE, "laptop", lambda training: ended(**{observable: noise(training, 0.3)})
    )
    assert verdicts(module.FIGURE, runs, "laptop")[module.BATCHES.id] != "holds"


def test_what_did_not_end_is_missing():
    def outcome(training):
        if training.batch == 1:
            return ended("budget" if training.seed else "diverged", alignment=1e9)
        return ended(alignment=training.lr * (1 + 4 / training.batch))

    runs = fitted(runs_of(fig4b.FIGURE, "laptop", outcome))
    for curve in curves(runs, fig4b.BATCHES.learnt):
        assert np.isnan(curve.y[0]).all()
        np.testing.assert_allclose(curve.y[1:], np.outer(1 + 4 / curve.x[1:], np.ones(3)))


def test_a_diverged_training_may_lack_numbers():
    trainings = figS4a.FIGURE.plan("quick")[:2]
    outcomes = (ended(amplification=2.0), ended("diverged"))
    runs = fitted(Runs(tuple(map(Run, trainings, outcomes, (0.0, 0.0)))))
    assert np.isnan(runs.runs[1].outcome.amplification)
    assert runs.runs[0].outcome.amplification == 2


def along(parts, final):
    """An alignment that is these parts of the final one at steps 1, 2, 4, ..."""
    steps = 2.0 ** np.arange(len(parts))
    return {"step": steps, "time": steps, "alignment": final * np.array(parts)}


SLOW = (0.001, 0.002, 0.01, 0.05, 0.1, 0.3, 0.6, 1.0)
FAST = (0.6, 0.8, 0.9, 0.98, 1.0, 1.0, 1.0, 1.0)


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
        (lambda batch: SLOW if batch < 64 else FAST, ("holds", "holds")),
        (lambda batch: SLOW, ("holds", "fails")),
        (lambda batch: FAST, ("fails", "holds")),
    ],
)
def test_small_batches_grow_and_large_ones_jump(parts, expected):
    figure = fig3.FIGURE_INSET
    found = verdicts(figure, trained(figure, parts), "laptop")
    assert found == dict(zip(("fig3-inset.1a", "fig3-inset.1b"), expected, strict=True))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (lambda batch: SLOW, ("holds", "holds")),
        (lambda batch: SLOW if batch < 1024 else FAST, ("fails", "fails")),
        (lambda batch: SLOW if batch > 16 else FAST, ("fails", "holds")),
    ],
)
def test_inflation_is_slow_at_all_batches(parts, expected):
    found = verdicts(figS7a.FIGURE, trained(figS7a.FIGURE, parts), "laptop")
    assert found == dict(zip(("figS7a.1a", "figS7a.1b"), expected, strict=True))


def test_numbers_along_the_way():
    runs = trained(fig3.FIGURE_INSET, lambda batch: SLOW)
    assert part_after(runs, 1, 8) == pytest.approx([0.05] * 3)
    assert part_after(runs, 1, 9) == pytest.approx([0.05] * 3)
    assert part_after(runs, 1, 10**6) == pytest.approx([1] * 3)
    assert steps_to(runs, 1, 0.5) == 64
    assert steps_in_all(runs, 1) == 128


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
    figure = figS4a.FIGURE
    holds = dict.fromkeys(("figS4a.1a", "figS4a.1b", "figS4a.2a", "figS4a.2b"), "holds")
    assert verdicts(figure, adapting(figure, grows, line), "laptop") == holds
    lazy = verdicts(figure, adapting(figure, *CONSTANT), "laptop")
    assert lazy == {**holds, "figS4a.1a": "fails", "figS4a.2a": "fails", "figS4a.2b": "undecided"}
    early = verdicts(figure, adapting(figure, grows, lambda t: 0.2 * (t / 2**-7) ** -0.3), "laptop")
    assert early == {**holds, "figS4a.2b": "fails"}
    amplified = verdicts(figure, adapting(figure, lambda t: 3.0, line), "laptop")
    assert amplified["figS4a.1b"] == "fails"


def test_error_linear_in_the_logarithm():
    figure = figS4b.FIGURE
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
    slope, bend = figS4b.slope_and_bend(np.exp(u), np.exp(-u))
    assert slope < 0
    assert bend == pytest.approx(0.13, abs=0.01)
    assert figS4b.slope_and_bend(np.exp(u), 3 - u) == pytest.approx((-1, 0))


def test_first_crossing():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    assert first_crossing(x, np.array([0.0, 4.0, 1.0, 8.0]), 2.0) == pytest.approx(math.sqrt(2))
    assert first_crossing(x, np.array([0.0, 1.0, 1.0, 4.0]), 1.0) == pytest.approx(4)
    assert np.isnan(first_crossing(x, np.ones(4), 2.0))
    assert np.isnan(first_crossing(x, 3 * np.ones(4), 2.0))


@by_name
def test_what_was_left_out(figure):
    quick, paper = figure.plan("quick"), figure.plan("paper")
    assert left_out(paper, paper) == "at paper scale"
    assert "seeds 2 (paper scale 5)" in left_out(quick, paper)
    assert "width" in left_out(quick, paper)


@by_module
def test_pictures_of_collapses(module, tmp_path):
    first, *others = planted(module, 0.3, "quick").runs
    runs = Runs((Run(first.training, ended("diverged"), 0.0), *others))
    save(module.FIGURE.draw(runs, "quick"), tmp_path / "out.png")


@pytest.mark.parametrize("figure", [fig3.FIGURE_INSET, figS7a.FIGURE], ids=lambda f: f.name)
def test_pictures_in_time(figure, tmp_path):
    first, *others = trained(figure, lambda batch: SLOW).runs
    lost = ended("budget", 2, along((0.1, -0.1), 1.0), alignment=1.0)
    runs = Runs((Run(first.training, lost, 0.0), *others))
    save(figure.draw(runs, "laptop"), tmp_path / "out.png")


@pytest.mark.parametrize("figure", [figS4a.FIGURE, figS4b.FIGURE], ids=lambda f: f.name)
def test_pictures_in_temperature(figure, tmp_path):
    *others, last = adapting(figure, grows, line).runs
    runs = Runs((*others, Run(last.training, ended("diverged"), 0.0)))
    save(figure.draw(runs, "laptop"), tmp_path / "out.png")
