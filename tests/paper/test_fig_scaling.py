"""The figures on scaling with the training set size, at quick scale from end to end."""

from __future__ import annotations

import numpy as np
import pytest

from sgdphase import Outcome, Run, grid
from sgdphase.paper import Runs, figX1
from sgdphase.paper._figure import FIGURES
from sgdphase.paper._measure import exponent, exponents
from sgdphase.paper._runs import computed_error
from sgdphase.theory import constants, scales

# The claims that quick scale decides; the rest needs larger sizes or more seeds.
HOLDS = {
    "fig4a": [f"fig4a.chi{chi}.{claim}" for chi in (1, 3) for claim in ("2b", "2c")],
    "figS2a": ["figS2a.1"],
    "figS11a": ["figS11a.chi0.1a", "figS11a.chi1.1a"],
    "figS11b": ["figS11b.2a", "figS11b.2c"],
    "figX1": ["figX1.chi0.3"],
}
SIXTH = ("6a", "6b", "6c", "6d")
IDS = {
    "fig4a": [
        f"fig4a.chi{chi}.{claim}"
        for chi in (0, 1, 3)
        for claim in ("1a", "1c", "2b", "2c", "3", "4")
    ]
    + ["fig4a.5"],
    "figS2a": [f"figS2a.{claim}" for claim in ("1", "2", "3a", "3b", "4", "5", *SIXTH)],
    "figS11a": [f"figS11a.chi{chi}.{claim}" for chi in (0, 1) for claim in ("1a", "1b")],
    "figS11b": [f"figS11b.2{claim}" for claim in "ac"],
    "figX1": [f"figX1.chi{chi}.{claim}" for chi in (0, 1, 3) for claim in (1, 2, 3, 4, 7, 8)],
}


@pytest.mark.parametrize("name", IDS)
def test_quick_scale_end_to_end(name, made):
    own = made(name)
    assert (own.out / f"{name}.png").stat().st_size > 5000
    assert [claim["id"] for claim in own.written] == list(own.claims) == IDS[name]
    for id in HOLDS[name]:
        assert own.claims[id].verdict == "holds", id


@pytest.mark.parametrize("name", IDS)
def test_laptop_scale_is_paper_scale(name):
    laptop, paper = (FIGURES[name].plan(scale) for scale in ("laptop", "paper"))
    assert {training.key for training in laptop} == {training.key for training in paper}
    assert max(training.seed for training in paper) >= 4


def means(runs, x, y, **fixed):
    """Geometric means over seeds, as pictures show them."""
    at, values = runs.curve(x, y, **fixed)
    return at, np.exp(np.log(values).mean(axis=1))


def points(container):
    """What an error bar stands at."""
    return container.lines[0].get_data()


def test_w1_over_the_batch_is_drawn_in_its_units(made):
    own = made("fig4a")
    for axes, runs in zip(own.picture.axes, own.runs.split("chi"), strict=True):
        chi, dim = runs.only("chi"), runs.only("dim")
        gamma = constants(chi).gamma
        curves = [(P, lr) for P in runs.values("train_size") for lr in runs.values("lr")]
        for container, (size, lr) in zip(axes.containers, curves, strict=True):
            batch, w1 = means(runs, "batch", "w1", train_size=size, lr=lr)
            np.testing.assert_allclose(points(container), [batch / size**gamma, w1 / lr])
        theory = [
            line.get_xydata() for line in axes.lines if line.get_label() == "theory at $\\hat t$"
        ]
        # The two lines of the theory meet at B*, at the height of the first step.
        size = runs.values("train_size")[-1]
        at = scales(train_size=size, dim=dim, chi=chi, margin=2.0**-7)
        meeting = [at.critical_batch / size**gamma, at.w1 / at.critical_batch]
        np.testing.assert_allclose(theory[0][-1], meeting)


def test_norms_collapse_onto_the_theory(made):
    own = made("figS11a")
    (axes,) = own.picture.axes
    curves = {(runs.only("train_size"), runs.only("chi")): means(runs, "temperature", "norm")
              for part in own.runs.split("chi") for runs in part.split("train_size")}  # fmt: skip
    drawn = [points(container) for container in axes.containers]
    for (size, chi), (T, norm) in curves.items():
        wanted = np.array([T, norm / size ** constants(chi).gamma])
        assert any(np.allclose(xy, wanted) for xy in drawn)
    assert len(drawn) == len(curves)
    dashed = [line for line in axes.lines if line.get_linestyle() == "--" and line.get_xdata().size]
    for line, chi in zip(dashed, (0.0, 1.0), strict=True):
        w1 = (
            scales(train_size=256, dim=32, chi=chi, margin=2.0**-7).w1 / 256 ** constants(chi).gamma
        )
        np.testing.assert_allclose(line.get_ydata(), w1 * line.get_xdata())


def test_margins_are_units_of_the_picture(made):
    own = made("figS11b")
    (axes,) = own.picture.axes
    for container, margin in zip(axes.containers, own.runs.values("margin"), strict=True):
        T, w_perp = means(own.runs, "temperature", "w_perp", margin=margin)
        np.testing.assert_allclose(points(container), [T / margin, w_perp / margin])


def test_decays_with_and_without(made):
    own = made("figS2a")
    axes, main = own.picture.axes[0], own.runs.where(temperature=2.0)
    for panel, name in ((axes, computed_error), (axes.child_axes[0], "w1")):
        dotted = [x for x in panel.lines if x.get_linestyle() == ":" and x.get_xdata().size]
        ticks = [x for x in panel.lines if list(x.get_ydata()) == [0, 0.05]]
        for i, runs in enumerate(main.split("train_size")):
            decay, y = means(runs, "weight_decay", name)
            np.testing.assert_allclose(points(panel.containers[i]), [decay[1:], y[1:]])
            np.testing.assert_allclose(dotted[i].get_ydata(), y[0])
            size = runs.only("train_size")
            per_unit = scales(train_size=size, dim=32, chi=1.0, margin=2.0**-7).critical_decay
            assert ticks[i].get_xdata()[0] == pytest.approx(per_unit / 2.0)


def test_last_exponents_drawn_are_those_decided(made):
    own = made("figX1")
    assert len(own.picture.axes) == 2
    for panel, ids in zip(own.picture.axes, ((1, 3), (2, 4)), strict=True):
        drawn = iter(panel.containers)
        for chi in (0, 1, 3):
            for id, container in zip(ids, drawn, strict=False):
                fit = own.claims[f"figX1.chi{chi}.{id}"].measured
                assert points(container)[1][-1] == pytest.approx(fit.value)
                (bars,) = container.lines[2]
                assert bars.get_segments()[-1][:, 1] == pytest.approx([fit.low, fit.high])


def power_law_runs(rng, noise):
    """Runs of `y = 3 lr^1 batch^-1 size^0.5` with noise."""
    plan = grid(dim=8, lr=[1, 4], batch=[1, 2, 4], train_size=[64, 256, 1024], seeds=4)

    def y(t):
        return 3 * t.temperature * np.sqrt(t.train_size) * np.exp(noise * rng.standard_normal())

    return Runs(tuple(Run(t, Outcome("fitted", 1, t.lr, {"y": y(t)}), 0.0) for t in plan))


def test_exponents_of_a_planted_law():
    true = {"lr": 1.0, "batch": -1.0, "train_size": 0.5}
    covered = 0
    for trial in range(20):
        found = exponents(power_law_runs(np.random.default_rng(trial), 0.01), "y", tuple(true))
        for name, value in true.items():
            assert found[name].value == pytest.approx(value, abs=0.02)
            covered += found[name].low < value < found[name].high
    assert 45 <= covered <= 60  # 54 expected of intervals that hold nine times in ten


def test_exponents_leaves_out_what_it_cannot_tell_apart():
    runs = power_law_runs(np.random.default_rng(1), 0.01)
    alike = runs.that(lambda t: t.batch * 64 == t.train_size)
    assert set(exponents(alike, "y", ("lr", "batch", "train_size"))) == {"lr"}
    assert exponents(Runs(()), "y", ("lr",)) == {}


@pytest.mark.parametrize(("chi", "size"), [(0.0, 2.0**20), (1.0, 2.0**24), (3.0, 2.0**28)])
def test_crossovers_tend_to_the_scales(chi, size):
    found = figX1.in_theory([size], chi, 128, margin=1e-6)
    limit = scales(train_size=size, dim=128, chi=chi, margin=1e-6, lr=2.0, batch=1)
    assert found["time"][0] == pytest.approx(limit.crossover_time, rel=0.1)
    assert found["w1"][0] == pytest.approx(limit.w1, rel=0.05)


def test_exponent_of_a_power_law():
    law = exponent([1, 2, 4], np.outer([1, 8, 64], [1.0, 1.1]))
    assert [law.value, law.low, law.high] == pytest.approx([3, 3, 3])


def noisy(training, **values):
    """An outcome with these observables, each with one percent of noise of its own."""
    noise = np.random.default_rng([training.seed, int(training.key[:12], 16)])
    observables = {name: value * np.exp(0.01 * noise.standard_normal())
                   for name, value in values.items()}  # fmt: skip
    return Outcome("fitted", 1, training.lr, observables)


@pytest.mark.parametrize(("power", "verdict"), [(1.0, "holds"), (0.7, "fails")])
def test_error_after_noise_falls_as_the_number_of_points(power, verdict, planted):
    """`lambda ~ P^(power gamma)` gives an error of `P^-power`."""

    def outcome(training):
        lam = 100 * training.train_size ** (power * constants(training.problem.chi).gamma)
        w_perp = training.temperature
        return noisy(training, w1=lam * w_perp, w_perp=w_perp)

    claims = [f"chi{chi}.4" for chi in (0, 1, 3)]
    assert planted("fig4a", outcome, *claims) == dict.fromkeys(claims, verdict)


def test_what_no_runs_can_decide(planted):
    claims = ("chi0.2b", "chi0.2c", "5")
    found = planted("fig4a", lambda t: noisy(t, w1=t.lr, w_perp=1.0), *claims, "chi1.2b")
    assert found == dict.fromkeys(claims, "not testable") | {"chi1.2b": "holds"}


def with_decay(training, w1=0.75, w_perp=1.0, shrinks=1.0, b=2.0, sharp=4.0):
    """SI 2.B: `w1 = T (1 + Lambda/Lambda*)^-1/4`, `w_perp ~ T`; or other exponents of T."""
    T, decay, P = training.temperature, training.weight_decay, training.train_size
    star = 1e-5 / T * (P / 4096) ** -b
    stops = (1 + (decay / star) ** (sharp / 4)) ** (-1 / sharp)
    return noisy(training, w1=100 * T ** (w1 + 0.25) * P**0.5 * stops,
                 w_perp=T**w_perp * (shrinks if decay else 1.0))  # fmt: skip


@pytest.mark.parametrize(
    ("law", "fails"),
    [
        ({}, ()),
        ({"w1": 0.5}, ("6a", "6b")),
        ({"w_perp": 0.7}, ("6b", "6c")),
        ({"shrinks": 0.5}, ("6d",)),
    ],
)
def test_temperature_under_weight_decay(law, fails, planted):
    """At a sharp crossover, so that the laws hold from Lambda* on."""
    found = planted("figS2a", lambda training: with_decay(training, sharp=40.0, **law), *SIXTH)
    assert found == {id: "fails" if id in fails else "holds" for id in SIXTH}


def test_collapses_over_decay(planted):
    found = planted("figS2a", with_decay, "3a", "3b", "1", "5")
    assert found == {"3a": "holds", "3b": "holds", "1": "holds", "5": "holds"}
    found = planted("figS2a", lambda training: with_decay(training, b=1.7), "3a", "3b")
    assert found == {"3a": "fails", "3b": "holds"}


def growing(training, less=0.0, drift=0.0):
    """`w1 ~ P^gamma` and `t ~ P^b`, both with an exponent that is too low and changes with `P`."""
    c, log = constants(training.problem.chi), np.log(training.train_size / 2**12)
    rng = np.random.default_rng([training.seed, int(training.key[:12], 16)])
    off = np.exp(-less * log + drift * log**2 + 0.05 * rng.standard_normal(2))
    w1, t = 10 * np.exp(c.gamma * log) * off[0], 1e6 * np.exp(c.b * log) * off[1]
    path = {"time": np.array([t / 8, t]), "w1": np.array([w1 / 2, 2 * w1])}
    observables = {"w1": w1, "crossover_time": t}
    return Outcome("fitted", 1, float(t), observables, path)


@pytest.mark.parametrize(
    ("law", "verdicts"),
    [
        ({}, ["holds"] * 4),
        ({"less": 0.3}, ["fails"] * 4),
        ({"less": 0.3, "drift": 0.02}, ["fails"] * 4 + ["holds"] * 2),
        ({"less": 0.3, "drift": -0.02}, ["fails"] * 4 + ["fails"] * 2),
    ],
)
def test_effective_exponents(law, verdicts, planted):
    """At chi = 1, where the largest sizes have fewer seeds than the others."""
    ids = [f"chi1.{id}" for id in (1, 2, 3, 4, 7, 8)][: len(verdicts)]
    found = planted("figX1", lambda training: growing(training, **law), *ids)
    assert found == dict(zip(ids, verdicts, strict=True))
