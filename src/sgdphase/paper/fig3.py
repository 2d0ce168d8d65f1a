"""Fig. 3, its inset, and Fig. S7A: what is learnt in time at a large learning rate, several `B`.

Fig. 3 is `w1` of the perceptron. Dashed: the online solution; dotted: the theory's first step.

The inset is the alignment of the fully connected net at small margin. The paper says that at large
batches it reaches its final value "after some training steps". Here some steps are `FEW`, and what
is measured is the part of the final alignment after them. At a large margin (S7A) the output has to
grow to the order of the margin before points are fitted: it inflates, and the first steps decide
little.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sgdphase import theory
from sgdphase._sweep import Run
from sgdphase._typing import FloatArray
from sgdphase.paper._claim import Above, Below, Constant, Spec, Tolerance
from sgdphase.paper._draw import colored, key, legend_outside, one_of, panel, unfitted
from sgdphase.paper._figure import Figure, Grid
from sgdphase.paper._measure import Mean, above_critical, below_critical, furthest, mean
from sgdphase.paper._runs import Runs, at, time_grid
from sgdphase.paper._settings import cells, fc, fc_large_margin
from sgdphase.stats import Estimate, power_of_two_tex, whole_powers

CHI, MARGIN, LR = 1.0, 2.0**-7, 512.0  # of the perceptron
# A step at which all trainings of networks are looked at (1, 2, 4, ...).
FEW = 8
# Part of the final alignment that counts as most of it.
HALF = 0.5


def _first_step(dim: int) -> float:
    return theory.first_step(lr=LR, batch=1, dim=dim, chi=CHI).w1


def draw_perceptron(runs: Runs) -> Any:
    """`w1` in time: the first seed for each batch.

    A star is the end of a training, a black dot that of one that did not fit its points.
    """
    dim, shown = runs.only("dim"), runs.at(seed=0)
    figure, axes = panel("$t$", "$w_1$", one_of(runs), size=(5.6, 4.0))
    for part, color in colored(shown.split("batch")):
        (run,) = part.runs
        time, w1 = run.outcome.trajectory["time"], run.outcome.trajectory["w1"]
        axes.plot(time, w1, color=color, label=f"$B={run.training.batch}$")
        fitted = run.outcome.status == "fitted"
        end = {"marker": "*", "mfc": color} if fitted else {"marker": "."}
        axes.plot(time[-1:], w1[-1:], color="k", ms=9, **end)
    for run in shown.that(below_critical("batch")).runs:
        times, temperature = np.geomspace(LR, run.outcome.time, 200), run.training.temperature
        w1 = theory.online(times, chi=CHI, dim=dim, margin=MARGIN, temperature=temperature).w1
        axes.plot(times, w1, "k--", linewidth=0.9)
    key(axes, "--", "online SDE", "k", linewidth=0.9)
    key(axes, "*", "end of training", "k", mfc="none", ms=9)
    step = _first_step(dim)
    axes.axhline(step, color="0.4", linestyle=":", linewidth=1, zorder=0)
    axes.text(
        0.98, step / 1.1, "first step, theory", color="0.4", ha="right", va="top",
        fontsize="small", transform=axes.get_yaxis_transform(),
    )  # fmt: skip
    legend_outside(figure, axes)
    return figure


def _growth(run: Run) -> float:
    return run.outcome["w1"] / _first_step(run.training.teacher.dim)


def _first_over_final(run: Run) -> float:
    return run.outcome["first_step_w1"] / run.outcome["w1"]


def part_after(runs: Runs, batch: int, steps: int) -> FloatArray:
    """Alignment after so many steps over the final one, for each seed; NaN if it did not end.

    The latest look up to this step counts, the last one if the training was shorter.
    """

    def part(run: Run) -> float:
        along, final = run.outcome.trajectory, run.outcome["alignment"]
        early = along["alignment"][along["step"] <= steps]
        return float(early[-1]) / final if early.size and final > 0 else float("nan")

    _, parts = runs.fitted().curve("batch", part, batch=batch)
    return np.asarray(parts[0])


def steps_to(runs: Runs, batch: int, part: float) -> float:
    """Median over seeds of the steps after which the alignment first has this part of its end."""
    first = []
    for along in runs.trajectories(batch=batch):
        there = along["step"][along["alignment"] >= part * along["alignment"][-1:]]
        first += [float(there[0])] if there.size else []
    return float(np.median(first)) if first else float("nan")


def nine_tenths(runs: Runs, batch: int) -> str:
    """The steps to nine tenths of the final alignment, of those to the end: medians over seeds."""
    _, steps = runs.curve("batch", "steps", batch=batch)
    return f"{steps_to(runs, batch, 0.9):g} steps of {np.median(steps):g}"


def mark_few(axes: Any, runs: Runs) -> None:
    """A vertical line at `FEW` steps."""
    time = FEW * runs.only("lr")
    axes.axvline(time, color="0.4", linestyle=":", linewidth=1, zorder=0)
    foot = axes.get_xaxis_transform()
    axes.text(time * 1.1, 0.02, f"{FEW} steps", color="0.4", fontsize="small", transform=foot)


def small_margin_claims(runs: Runs) -> list[Spec]:
    smallest, *_, largest = runs.values("batch")
    return [
        Below("1a", f"smallest B ({smallest}): the alignment grows through training; alignment "
              f"after {FEW} steps over the final one", mean(part_after(runs, smallest, FEW)), 0.25,
              "a factor of 4, as in fig3.1a"),
        Constant("1b", f"largest B ({largest}): the alignment reaches its final value in few "
                 f"steps; alignment after {FEW} steps over the final one (nine tenths take "
                 f"{nine_tenths(runs, largest)})", mean(part_after(runs, largest, FEW)), equals=1,
                 within=Tolerance(0.1, f"few are {FEW}; a tenth as in fig3.1b")),
        Above("1c", f"largest B: the alignment builds up in few steps; alignment after {FEW} steps "
              "over the final one", mean(part_after(runs, largest, FEW)), HALF,
              "most of it; at large margin (figS7a.1b) less than that"),
        Below("1d", "largest B: and not in a single step; alignment after one step over the final "
              "one", mean(part_after(runs, largest, 1)), 0.9,
              "in the perceptron it is within a tenth of 1 (fig3.1b)"),
    ]  # fmt: skip


def large_margin_claims(runs: Runs) -> list[Spec]:
    largest = runs.values("batch")[-1]
    return [
        Below("1a", "inflation: the alignment does not jump in the first step; alignment after it "
              "over the final one, at the B where it is largest", _largest_part(runs), 0.1,
              "a tenth: in the perceptron at large B it is within a tenth of 1"),
        Below("1b", f"nor in the first {FEW}: alignment after them over the final one, at the "
              f"largest B ({largest}, where nine tenths take {nine_tenths(runs, largest)})",
              mean(part_after(runs, largest, FEW)), HALF,
              "less than half is built up; at small margin (fig3-inset.1c) more than that"),
    ]  # fmt: skip


def _largest_part(runs: Runs) -> Estimate:
    """The part of the final alignment after one step, at the batch where it is largest."""
    each = [mean(part_after(runs, batch, 1)) for batch in runs.values("batch")]
    return max(each, key=lambda part: -np.inf if np.isnan(part.value) else part.value)


def draw_network(runs: Runs) -> Any:
    """The mean alignment over seeds in time for each batch; a band of one error of the mean.

    A seed keeps its last value after its end. A star is the end of a training (geometric mean over
    seeds), a black dot that of each that did not fit its points.
    """
    seeds, margin = len(runs.values("seed")), runs.only("margin")
    margin = 1 if margin == 1 else power_of_two_tex(margin)
    title = (
        rf"fully connected, parity MNIST, $\kappa={margin}$, $\eta={runs.only('lr'):g}$"
        "\n"
        f"$P={runs.only('train_size')}$, width {runs.only('width')}, {seeds} seeds, mean and error"
    )
    figure, axes = panel("$t$", r"alignment $\langle yf\rangle$", title, size=(5.6, 4.2))
    for batch, color in colored(runs.values("batch")):
        own = runs.by_seed(batch=batch)
        times = time_grid(own)
        each = np.array([
            at(times, run.outcome.trajectory, run.outcome.trajectory["alignment"]) for run in own
        ])  # fmt: skip
        middle, error = each.mean(axis=0), each.std(axis=0) / np.sqrt(max(len(own) - 1, 1))
        shown = np.where(middle > 0, middle, np.nan)
        low = np.where(middle > error, middle - error, shown / 100)  # further down than the axis
        axes.plot(times, shown, color=color, label=f"$B={batch}$")
        axes.fill_between(times, low, middle + error, color=color, alpha=0.2, linewidth=0)
        ends = [run.outcome.time for run in own if run.outcome.status == "fitted"]
        if ends:
            end = float(np.exp(np.mean(np.log(ends))))
            height = np.interp(np.log(end), np.log(times), middle)
            axes.plot([end], [height], "*", color="k", mfc=color, ms=9)
        lost = [run for run in own if run.outcome.status != "fitted"]
        axes.plot([run.outcome.time for run in lost],
                  [run.outcome.trajectory["alignment"][-1] for run in lost], "k.")  # fmt: skip
    key(axes, "*", "mean end", "k", mfc="none", ms=9)
    if why := unfitted(runs):
        key(axes, ".", why, "k")
    # Nothing below a thousandth of the largest: there the alignment is noise about 0.
    top = max(float(run.outcome.trajectory["alignment"].max()) for run in runs.runs)
    axes.set_ylim(max(axes.get_ylim()[0], top / 1000), None)
    mark_few(axes, runs)
    legend_outside(figure, axes)
    return figure


SHOWS = "alignment of the fully connected net on parity MNIST in time, several B"
BATCHES = whole_powers(0, 10, 2)
FIGURES = (
    Figure(
        "fig3",
        "w1 in time at eta = 512, several B",
        plan=Grid(
            chi=CHI, margin=MARGIN, lr=LR,
            quick=dict(train_size=4096, dim=32, batch=whole_powers(0, 12, 2), seeds=3),
            paper=dict(train_size=8192, dim=128, batch=[*whole_powers(0, 12, 2), 8192], seeds=5),
        ),
        draw=draw_perceptron,
        claims=[
            Above("1a", "B <= B*/4: w1 grows through training; final w1 over the first step's "
                  "mean, at the largest such B",
                  Mean(_growth, "batch", where=below_critical("batch"), at={"batch": -1}), 4,
                  "what the theory says of B*/4, and more at smaller B"),
            Constant("1b", "B >= 4 B*: w1 reaches its final value in one step; first over final "
                     "w1, at the B where it is furthest from 1",
                     Mean(_first_over_final, "batch", where=above_critical("batch"), how=furthest),
                     equals=1,
                     within=Tolerance(0.1, "a tenth allows for the width of the crossover")),
        ],
        trajectories=("time", "w1"),
    ),
    Figure(
        "fig3-inset",
        f"{SHOWS}: small margin",
        plan=cells(
            fc,
            quick=dict(lr=16.0, train_size=256, batch=whole_powers(2, 8, 2)),
            laptop=dict(lr=16.0, train_size=4096, batch=BATCHES),
            paper=dict(lr=16.0, train_size=32768, batch=BATCHES),
        ),
        draw=draw_network,
        claims=[small_margin_claims],
        trajectories=("step", "time", "alignment"),
    ),
    Figure(
        "figS7a",
        f"{SHOWS}: large margin",
        plan=cells(
            fc_large_margin,
            quick=dict(lr=8.0, batch=whole_powers(3, 7, 2)),
            laptop=dict(lr=32.0, batch=whole_powers(4, 10, 2)),
            paper=dict(lr=64.0, batch=whole_powers(4, 12, 2)),
        ),
        draw=draw_network,
        claims=[large_margin_claims],
        trajectories=("step", "time", "alignment"),
    ),
)  # fmt: skip
