"""`sgdphase theory`: its numbers are those of the functions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sgdphase.theory import averages, constants, online, scales


def test_theory_commands(sgdphase) -> None:  # type: ignore[no-untyped-def]
    _, out, _ = sgdphase("theory", "averages", "--chi", "1", "--lam", "10", "--r", "2^-3", "--json")
    assert json.loads(out)["g1"] == pytest.approx(float(averages(10.0, 0.125, 1.0).g1))
    _, out, _ = sgdphase("theory", "constants", "--chi", "3", "--json")
    assert json.loads(out)["c22"] == constants(3.0).c22
    assert {"c1", "c2", "c_n", "c11", "c22", "k1", "k_perp", "gamma", "b"} <= set(json.loads(out))
    _, out, _ = sgdphase("theory", "online", "--temperature", "2", "--time", "1,1e3", "--json")
    rows = json.loads(out)
    assert [row["time"] for row in rows] == [1.0, 1000.0]
    assert set(rows[0]) == {"time", "w1", "w_perp", "unfitted", "lam", "r"}
    times = np.array([1.0, 1000.0])
    solution = online(times, chi=1.0, dim=128, margin=2**-7, temperature=2.0)
    assert [row["w_perp"] for row in rows] == pytest.approx(solution.w_perp.tolist())
    _, out, _ = sgdphase("theory", "scales", "--train-size", "2^13", "--json")
    expected = scales(train_size=8192, dim=128, chi=1.0, margin=2**-7)
    for name in (
        "critical_batch", "critical_temperature", "crossover_time", "w1", "w_perp",
        "first_step_lr", "one_step_batch", "critical_decay",
    ):  # fmt: skip
        assert json.loads(out)[name] == pytest.approx(getattr(expected, name))
