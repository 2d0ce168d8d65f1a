"""The critical batch of networks, on runs with planted laws; nothing is trained."""

from __future__ import annotations

import hashlib
import math
import re

import numpy as np
import pytest

from sgdphase._records import Outcome
from sgdphase._sweep import Run
from sgdphase.paper import fig4b
from sgdphase.paper._critical import CriticalBatches, critical_batches, difference
from sgdphase.paper._figure import FIGURES
from sgdphase.paper._runs import Runs
from sgdphase.stats import Curve, crossovers

# The observable, its power of eta, the paper's exponent, and the id of its claim.
CLAIMS = {
    "fig4b": ("alignment", 1, 0.2, "1"),
    "figS7b": ("weight_change", 0, 0.4, "2"),
    "figS8a": ("alignment", 1, 0.4, "1"),
    "figS8b": ("weight_change", 0, 0.5, "2"),
}
MORE = {"fig4b": ["4"], "figS7b": ["5"], "figS8a": ["4"], "figS8b": []}
by_name = pytest.mark.parametrize("name", CLAIMS)


def runs_of(name, learnt, scale="laptop", status="fitted"):
    """The runs of a plan; what is learnt is a function of the training, with little noise."""

    def run(training):
        own = [training.train_size, training.seed, training.batch, int(1024 * training.lr)]
        y = learnt(training) * math.exp(0.01 * np.random.default_rng(own).standard_normal())
        return Run(training, Outcome(status, 64, 64.0, {"alignment": y, "weight_change": y}), 1.0)

    return Runs(tuple(map(run, FIGURES[name].plan(scale))))


def planted(name, exponent, *, small=0.2, height=0.0, decay=0.0):
    """`y = P^height eta^power sqrt(1 + (B*/B)^2)` with `B* = 32 (P/256)^exponent`, for each seed
    with a factor. Above `B*` it falls as `B^-decay`. The runs of figS7b at small margin have the
    exponent `small`."""
    power = CLAIMS[name][1]

    def learnt(training):
        other = name == "figS7b" and training.margin < 1
        star = 32 * (training.train_size / 256) ** (small if other else exponent)
        shape = math.sqrt(1 + (star / training.batch) ** 2)
        shape *= max(training.batch / star, 1) ** -decay
        factor = math.exp(training.seed % 5)  # as large as what B changes
        return factor * training.train_size**height * training.lr**power * shape

    return runs_of(name, learnt)


def decided(name, runs):
    return {claim.id.split(".")[1]: claim for claim in FIGURES[name].decide(runs, "laptop")}


def verdicts(name, runs):
    return {id: claim.verdict for id, claim in decided(name, runs).items()}


@by_name
def test_a_planted_crossover_is_found(name):
    _, _, exponent, id = CLAIMS[name]
    found = decided(name, planted(name, exponent))
    assert list(found) == [id, "6", "3a", "3b", *MORE[name]]
    assert found[id].measured.value == pytest.approx(exponent, abs=0.03)
    assert found[id].predicted == exponent
    # chi = 4 is within a factor of 2 of 6, and the exponents 0.4 and 0.2 are different.
    assert {claim.verdict for claim in found.values()} == {"holds"}
    words = found[id].claim
    assert "steepness" in words and "3 consecutive sizes" in words and "chi2" in words


@by_name
def test_another_exponent_fails(name):
    _, _, exponent, id = CLAIMS[name]
    found = verdicts(name, planted(name, exponent + 0.3))
    assert found[id] == "fails"
    if "4" in found:  # chi is 1 instead of 6, and 0.4 instead of 1.5
        assert found["4"] == "fails"


@by_name
def test_heights_that_change_with_the_size_leave_the_exponent_as_it_is(name):
    """But what is learnt at large batches then depends on the size."""
    _, _, exponent, id = CLAIMS[name]
    found = verdicts(name, planted(name, exponent, height=0.3))
    assert (found[id], found["3a"], found["3b"]) == ("holds", "fails", "holds")


@by_name
def test_what_is_learnt_may_depend_on_large_batches(name):
    assert verdicts(name, planted(name, CLAIMS[name][2], decay=0.25))["3b"] == "fails"


@by_name
def test_a_critical_batch_that_does_not_depend_on_the_size_does_not_grow(name):
    assert verdicts(name, planted(name, 0.0))["6"] == "fails"


def test_equal_exponents_are_not_different():
    assert verdicts("figS7b", planted("figS7b", 0.4, small=0.4))["5"] == "fails"


@by_name
def test_curves_without_a_crossover_decide_nothing_and_say_so(name):
    found = decided(name, runs_of(name, lambda training: training.seed / training.batch))
    assert {claim.verdict for claim in found.values()} == {"undecided"}
    rates = sorted({t.lr for t in FIGURES[name].plan("laptop") if t.margin == 1 or "7" not in name})
    for rate in rates:
        assert f"eta = {rate:g}" in found[CLAIMS[name][3]].rule


def test_sizes_without_a_crossover_are_named():
    def learnt(training):
        star = 0 if training.train_size == 2048 else 16
        return 1 + star / training.batch

    (claim, *_) = FIGURES["fig4b"].decide(runs_of("fig4b", learnt), "laptop")
    assert "eta = 2 at P = 2^11; eta = 8 at P = 2^11" in claim.claim
    assert claim.measured.value == pytest.approx(0, abs=0.05)


def test_no_run_ended():
    found = decided("figS8a", runs_of("figS8a", lambda training: 1.0, status="budget"))
    assert {claim.verdict for claim in found.values()} == {"undecided"}


def test_too_few_batches_are_a_reason():
    runs = planted("fig4b", 0.2).that(lambda training: training.batch < 8)
    (claim, *_) = FIGURES["fig4b"].decide(runs, "laptop")
    assert claim.verdict == "undecided" and "4 or more" in claim.rule


def test_chi_needs_an_exponent_above_zero():
    chi = decided("fig4b", planted("fig4b", 0.0))["4"]
    assert chi.verdict == "undecided" and "infinite" in chi.rule


def test_the_batches_of_a_size_bound_its_crossover():
    """At P = 512 there are no batches above 512, though other sizes have them."""
    runs = runs_of("fig4b", lambda training: 1 + 700 / training.batch)
    critical = critical_batches(runs, "alignment")
    small = critical.sizes == 512
    assert np.isnan(critical.at[small]).all() and not critical.counts[small].any()
    assert critical.at[critical.sizes == 4096] == pytest.approx(700, rel=0.1)


BATCH = 2.0 ** np.arange(13)


def expected_runs(seed, exponent, rates=(2.0, 8.0, 32.0)):
    """Curves such as those of paper scale: 5 seeds with factors, 15 % noise, B up to P."""
    rng = np.random.default_rng(seed)
    cells, learnt, at = [], [], []
    for rate in rates:
        factor, curves = np.exp(0.5 * rng.standard_normal(5)), []
        for size in 2.0 ** np.arange(10, 16):
            star = 40 * (size / 1024) ** exponent
            noise = 0.1 * rng.standard_normal(5) + 0.15 * rng.standard_normal((13, 5))
            y = (1 + (star / BATCH[:, None]) ** 0.8) * factor * np.exp(noise)
            y[size < BATCH] = np.nan
            curves.append(Curve(size, BATCH, y))
        cells += [(rate, curve.size) for curve in curves]
        learnt += [curve.y for curve in curves]
        at.append(crossovers(curves).at)
    where = np.array(cells).T
    return CriticalBatches(
        *where,
        BATCH,
        np.array(learnt),
        np.concatenate(at),
        np.ones(18),
        np.full(18, 5),
        np.zeros(18),
    )


def test_the_interval_covers_and_five_seeds_decide():
    """With 12 trials and a coverage of 0.9, fewer than 8 hits have a chance of 0.0005.

    In 100 trials it covered 87 times, had a standard error of 0.015, and decided each time.
    """
    hits = 0
    for trial in range(12):
        critical = expected_runs(trial, 0.2)
        law = critical.law().exponent
        hits += law.low <= 0.2 <= law.high
        assert law.low >= 0.1 and law.high <= 0.3
        assert len(critical.windows(critical.counts)) == 4
    assert hits >= 8


def test_the_interval_of_a_difference_distinguishes_the_two_margins():
    small, large, equal = (expected_runs(*how) for how in ((0, 0.2), (1, 0.4), (2, 0.2)))
    assert difference(large.law(), small.law()).low > 0.1
    assert difference(equal.law(), small.law()).high < 0.1


def test_identities_of_the_plans_at_paper_scale():
    """Stored runs of these plans stay valid."""
    plans = {
        "829ed9a614e110e4": fig4b.small_fc("paper"),
        "9de7e61c45c38275": fig4b.LARGE_FC("paper"),
    }
    for known, plan in plans.items():
        keys = "\n".join(sorted(training.key for training in plan))
        assert hashlib.sha256(keys.encode()).hexdigest()[:16] == known
    assert set(FIGURES["fig4b"].plan("paper")) < set(FIGURES["figS7b"].plan("paper"))


def test_what_did_not_end_is_missing():
    def run(training):
        outcome = Outcome("fitted", 1, 1.0, {"alignment": training.lr * (1 + 4 / training.batch)})
        if training.batch == 1:
            outcome = Outcome("budget", 1, 1.0, {"alignment": 1e9})
        return Run(training, outcome, 0.0)

    runs = Runs(tuple(map(run, FIGURES["fig4b"].plan("laptop"))))
    for curve in fig4b.by_size("alignment", 1)(runs):
        assert np.isnan(curve.y[0]).all()
        np.testing.assert_allclose(curve.y[1:], np.outer(1 + 4 / curve.x[1:], np.ones(3)))


@by_name
def test_the_picture_shows_curves_without_the_factors_of_seeds(name):
    exponent = CLAIMS[name][2]
    # The last runs of figS7b are those of fig4b.
    *others, last = sorted(planted(name, exponent).runs, key=lambda run: run.training.margin)
    lost = Run(last.training, Outcome("diverged", 1, 1.0, {}), 0.0)
    picture = FIGURES[name].picture(Runs((*others, lost)), "laptop")
    top, bottom = picture.axes
    cells = {
        (training.batch, training.train_size)
        for training in (run.training for run in others)
        if training.margin == last.training.margin
    }
    drawn = {
        round(x, 6): (y, error[:, 1].max() / y)
        for curve in top.containers
        for x, y, error in zip(
            *curve.lines[0].get_data(), curve.lines[2][0].get_segments(), strict=True
        )
    }
    assert drawn.keys() == {round(batch / size**exponent, 6) for batch, size in cells}
    # The factors differ by e, the rest by 1 %: of three seeds a mean is known to some per cent.
    assert all(error < 1.1 for _, error in drawn.values())
    labels = [text.get_text() for text in top.get_legend().get_texts()]
    assert any(re.fullmatch(r"of \d+ runs\n1 diverged", label) for label in labels)
    (small,) = top.child_axes
    assert len(small.get_xticks()) >= 2 and len(small.get_yticks()) >= 2
    assert top.get_title().startswith("(") and bottom.get_title(loc="left").startswith("(")
    assert any("paper" in text.get_text() for text in bottom.get_legend().get_texts())
    assert "width" in picture.get_supxlabel() or name in ("fig4b", "figS7b")
