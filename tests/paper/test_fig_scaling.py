"""The figures on scaling with the training set size, at quick scale from end to end."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sgdphase._sweep import Store
from sgdphase.paper import fig4a, figS2a, figS11a, figS11b, figX1
from sgdphase.paper._scaling import crossovers, exponents
from sgdphase.paper.figure import make
from sgdphase.theory import scales

# The claims that quick scale decides; the rest needs larger sizes or more seeds.
HOLDS = {
    "fig4a": [
        *(f"fig4a.chi{chi}.{claim}" for chi in (0, 1, 3) for claim in ("1b", "2a")),
        *(f"fig4a.chi{chi}.{claim}" for chi in (1, 3) for claim in ("2b", "2c")),
    ],
    "figS2a": ["figS2a.1"],
    "figS11a": ["figS11a.chi0.1a", "figS11a.chi1.1a"],
    "figS11b": ["figS11b.2a", "figS11b.2c", "figS11b.2e"],
    "figX1": ["figX1.chi0.4"],
}
IDS = {
    "fig4a": [
        f"fig4a.chi{chi}.{claim}"
        for chi in (0, 1, 3)
        for claim in ("1a", "1b", "1c", "2a", "2b", "2c", "3")
    ],
    "figS2a": [f"figS2a.{claim}" for claim in ("1", "2", "3a", "3b", "4", "5")],
    "figS11a": [f"figS11a.chi{chi}.{claim}" for chi in (0, 1) for claim in ("1a", "1b")],
    "figS11b": [f"figS11b.2{claim}" for claim in "abcde"],
    "figX1": [f"figX1.chi{chi}.{claim}" for chi in (0, 1, 3) for claim in range(1, 9)],
}


@pytest.mark.parametrize("module", [fig4a, figS2a, figS11a, figS11b, figX1])
def test_quick_scale_end_to_end(module, tmp_path):
    figure = module.FIGURE
    found = make(figure, "quick", Store(tmp_path / "s.sqlite"), tmp_path / "out", workers=0)
    for ending in ("png", "pdf"):
        assert (tmp_path / "out" / f"{figure.name}.{ending}").stat().st_size > 5000
    written = json.loads((tmp_path / "out" / f"{figure.name}.claims.json").read_text())
    assert [claim["id"] for claim in written] == [claim.id for claim in found] == IDS[figure.name]
    verdicts = {claim.id: claim.verdict for claim in found}
    for id in HOLDS[figure.name]:
        assert verdicts[id] == "holds", id


@pytest.mark.parametrize("module", [fig4a, figS2a, figS11a, figS11b, figX1])
def test_laptop_scale_is_paper_scale(module):
    plans = [{training.key for training in module.plan(scale)} for scale in ("laptop", "paper")]
    assert plans[0] == plans[1]
    assert max(training.seed for training in module.plan("paper")) >= 4


def planted(rng, noise):
    """Runs of `y = 3 lr^1 batch^-1 size^0.5` with noise."""
    lr, batch, size, seed = (
        axis.ravel() for axis in np.meshgrid([1, 4], [1, 2, 4], [64, 256, 1024], range(4))
    )
    y = 3 * lr / batch * np.sqrt(size) * np.exp(noise * rng.standard_normal(lr.size))
    return {"lr": lr, "batch": batch, "train_size": size, "seed": seed, "y": y}


def test_exponents_of_a_planted_law():
    true = {"lr": 1.0, "batch": -1.0, "train_size": 0.5}
    covered = 0
    for trial in range(20):
        table = planted(np.random.default_rng(trial), 0.01)
        found = exponents(table, "y", tuple(true), np.ones(len(table["y"]), bool))
        for name, value in true.items():
            assert found[name].value == pytest.approx(value, abs=0.02)
            covered += found[name].low < value < found[name].high
    assert 45 <= covered <= 60  # 54 expected of intervals that hold nine times in ten


def test_exponents_leaves_out_what_it_cannot_tell_apart():
    table = planted(np.random.default_rng(1), 0.01)
    keep = table["batch"] * 64 == np.where(table["train_size"] == 1024, 256, table["train_size"])
    keep &= table["train_size"] < 1024
    found = exponents(table, "y", ("lr", "batch", "train_size"), keep)
    assert set(found) == {"lr"}
    assert exponents(table, "y", ("lr",), np.zeros(len(keep), bool)) == {}


@pytest.mark.parametrize(("chi", "size"), [(0.0, 2.0**20), (1.0, 2.0**24), (3.0, 2.0**28)])
def test_crossovers_tend_to_the_scales(chi, size):
    found = crossovers([size], chi=chi, dim=128, margin=1e-6, temperature=2.0)
    limit = scales(train_size=size, dim=128, chi=chi, margin=1e-6, lr=2.0, batch=1)
    assert found.time[0] == pytest.approx(limit.crossover_time, rel=0.1)
    assert found.w1[0] == pytest.approx(limit.w1, rel=0.05)
