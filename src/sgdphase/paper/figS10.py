"""Fig. S10: the crossover and the end of training for several training set sizes (SI 5).

S10a: the unfitted fraction in time, of the training set (full) and of the data distribution
(dotted), rescaled by `P` and `P^-b`. S10b: `t_hat` (full symbols) and `t*` (empty) over `P^b`
against `T`. Dashed: the theory; insets: raw.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sgdphase import theory
from sgdphase._sweep import Run
from sgdphase._typing import FloatArray
from sgdphase.paper._claim import TENTH, Collapses, Exponent, fifth
from sgdphase.paper._draw import (
    DASHED,
    Curves,
    colored,
    conditions,
    inset,
    key,
    legend,
    panel,
    power_label,
)
from sgdphase.paper._figure import Figure, Grid
from sgdphase.paper._measure import above_critical, geometric_mean, scales
from sgdphase.paper._runs import (
    Runs,
    Trajectory,
    at,
    expected_unfitted,
    mean_at,
    time_grid,
    unfitted_at_crossover,
)
from sgdphase.stats import Curve, powers, whole_powers

CHI, TEMPERATURE = 1.0, 0.125
B, LAW = theory.constants(CHI).b, fifth(theory.constants(CHI).gamma)


def _grid(quick: dict[str, Any], paper: dict[str, Any]) -> Grid:
    few, many = whole_powers(8, 12, 2), whole_powers(10, 16, 2)
    return Grid(
        chi=CHI, margin=2.0**-7, batch=1,
        quick=dict(train_size=few, dim=16, seeds=3, test_size=4096, **quick),
        paper=dict(train_size=many, dim=128, **paper),
    )  # fmt: skip


def _unfitted(along: Trajectory, kind: str) -> FloatArray:
    """Unfitted fraction of the training set or of the data distribution (`test`)."""
    return along["unfitted"] if kind == "train" else expected_unfitted(along, CHI)


def draw_unfitted(runs: Runs) -> Any:
    dim, largest = runs.only("dim"), runs.values("train_size")[-1]
    title = conditions(runs, "lr")
    figure, axes = panel(r"$t\,P^{-b}$", r"$n(\mathbf{w}^t)\,P$", title)
    small = inset(axes, (0.12, 0.12, 0.35, 0.38), "$t$", r"$n(\mathbf{w}^t)$")
    for size, color in colored(runs.values("train_size")):
        by_seed = runs.by_seed(train_size=size)
        time = time_grid(by_seed)
        for kind, look in (("train", {"ls": "-", "lw": 1.5}), ("test", {"ls": ":", "lw": 1.8})):
            n = mean_at(time, by_seed, partial(_unfitted, kind=kind))
            if kind == "train":  # the mean of a few seeds of which most have ended says little
                n = np.where(n * size > 0.5, n, np.nan)
            label = power_label("P", size) if kind == "train" else None
            axes.plot(time / size**B, n * size, color=color, label=label, **look)
            small.plot(time, n, color=color, **look | {"lw": 1.1})
    t = np.geomspace(dim * TEMPERATURE, 10 * max(run.outcome.time for run in runs.runs), 50)
    n = theory.asymptotic(t, chi=CHI, dim=dim, temperature=TEMPERATURE).unfitted
    axes.plot(t / largest**B, n * largest, label=r"theory $\sim t^{-1/b}$", **DASHED)
    small.plot(t, n, "k--", lw=0.8)
    key(axes, "-", "train")
    key(axes, ":", "test", lw=1.8)
    axes.set_ylim(0.4, 2.5 * largest)
    legend(axes, "upper right")
    return figure


# Before the crossover all sizes have the same n(t) ~ t^(-1/b), which collapses wherever the
# crossover is: with curves from T d on, and t_hat ~ P^1.8 planted, the best b was 1.87 (training)
# and 1.93 (test).
BEFORE = 4.0


def _collapses(id: str, name: str, kind: str) -> Collapses:
    """The best `b` at `n ~ 1/P`, over times from a quarter of the measured `t_hat` on.

    Training curves end with the first of their seeds; test curves are constant after the end, and
    are followed for two octaves of time.
    """

    def curve(size: int, runs: list[Run]) -> Curve:
        first = geometric_mean([[run.outcome["crossover_time"] for run in runs]]).value / BEFORE
        ends = [run.outcome.time for run in runs]
        last = 0.9 * min(ends) if kind == "train" else 4 * max(ends)
        time = np.geomspace(first, last, 2 + int(2 * np.log2(last / first)))
        paths = [run.outcome.trajectory for run in runs]
        return Curve(size, time, np.array([at(time, p, _unfitted(p, kind)) for p in paths]).T)

    return Collapses(
        id, f"{name} curves n P collapse over t P^-b from t_hat/{BEFORE:g} on: b of the best "
        "collapse (effective)",
        lambda runs: [curve(P, runs.by_seed(train_size=P)) for P in runs.values("train_size")],
        equals=B, within=LAW, how={"y_exponent": -1.0, "between": (0.5, 3.5)},
    )  # fmt: skip


def _times_in_theory(axes: Any, runs: Runs) -> None:
    largest, T = runs.at(train_size=-1), np.array(runs.values("temperature"))
    unit = scales(largest.at(temperature=0).runs[0].training)
    expected = T * unit.crossover_time / T[0] / largest.only("train_size") ** B
    axes.plot(T, expected, label=r"theory $\hat t$", **DASHED)
    key(axes, "o", r"$\hat t$")
    key(axes, "o", r"$t^*$", mfc="none")
    axes.axvline(unit.critical_temperature, ymax=0.7, color="0.6", ls=":", lw=1)
    foot = axes.get_xaxis_transform()
    axes.text(1.05 * unit.critical_temperature, 0.03, "$T_c$", color="0.4", transform=foot)
    axes.set_ylim(bottom=expected.min() / 12)


def _largest(text: str) -> Any:
    return lambda runs: text.format(*runs.values("train_size")[-2:])


# t is proportional to T where the margin does not count; at 8 T_c it changes r = 0 to 1/8.
Law = partial(Exponent, where=above_critical("temperature", 8))
OverT = partial(Law, of="temperature", at={"train_size": -1}, within=TENTH)
OverP = partial(Law, of="train_size", within=LAW)
T_HAT, T_STAR = "crossover_time", "time"


def _ratio(run: Run) -> float:
    return run.outcome.time / run.outcome["crossover_time"]


FIGURES = (
    Figure(
        "figS10a",
        "unfitted fraction n(t) on training and test set for several P, rescaled by P and P^-b",
        plan=_grid(
            quick=dict(temperature=TEMPERATURE), paper=dict(temperature=TEMPERATURE, seeds=20)
        ),
        draw=draw_unfitted,
        claims=[
            _collapses("1a", "training", "train"),
            _collapses("1b", "test", "test"),
            Exponent("1c", "n(t_hat) ~ 1/P (effective exponent)", unfitted_at_crossover,
                     of="train_size", equals=-1, within=LAW),
        ],
        trajectories=("time", "unfitted", "lambda", "r"),
    ),
    Figure(
        "figS10b",
        "crossover time t_hat and training time t* against T for several P, rescaled by P^-b",
        plan=_grid(
            quick=dict(temperature=powers(-4, 4, 2)),
            paper=dict(temperature=powers(-5, 4), seeds=80),
        ),
        draw=Curves(
            "temperature", T_HAT, by="train_size", open=T_STAR,
            unit=lambda training: (1.0, training.train_size**B),
            xlabel="SGD temperature $T$", ylabel=r"$\hat t\,P^{-b},\;t^*P^{-b}$",
            title=conditions,
            inset=((0.62, 0.115, 0.36, 0.34), "$T$", r"$\hat t,\;t^*$"), extra=_times_in_theory,
            look={"linestyle": "", "markersize": 5.5}, legend={"loc": "upper left"},
        ),
        claims=[
            OverT("2a", _largest("t_hat ~ T at P={1}"), T_HAT, equals=1),
            OverP("2b", "t_hat ~ P^b (effective exponent over all P)", T_HAT, equals=B),
            OverP("2c", _largest("t_hat ~ P^b (effective exponent from P={} to {})"), T_HAT,
                  last=2, equals=B),
            OverT("3a", _largest("t* ~ T at P={1}"), T_STAR, equals=1),
            OverP("3b", "t* ~ P^b (effective exponent over all P)", T_STAR, equals=B),
            OverP("3c", _largest("t* ~ P^b (effective exponent from P={} to {})"), T_STAR,
                  last=2, equals=B),
            OverP("3d", "t* scales as t_hat: exponent of t*/t_hat in P", _ratio, equals=0),
            OverT("3e", "t* scales as t_hat: exponent of t*/t_hat in T", _ratio, equals=0),
        ],
        remark="The number of seeds was raised from 5 to 10 and to 40 after runs in which 3c and "
        "3d were undecided and 3b failed, and to 80 after runs in which 2c was undecided.",
    ),
)  # fmt: skip
