"""A training next to its theory: weights and unfitted fractions in time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sgdphase import theory
from sgdphase._records import Outcome, Training
from sgdphase.diagram._style import BLUE, GREY, ORANGE, new_figure, save


def draw_trajectory(training: Training, outcomes: Sequence[Outcome], path: Path) -> None:
    """Write a picture of `w1`, `|w_perp|` (left) and the unfitted fractions (right), theory dashed.

    `outcomes` are those of the seeds of a training of the perceptron, with trajectories.
    """
    figure, (left, right) = new_figure(columns=2)
    for number, outcome in enumerate(outcomes):
        along = outcome.trajectory
        label = {"w1": r"$w_1$", "w_perp": r"$\|w_\perp\|$"} if number == 0 else {}
        left.plot(along["time"], along["w1"], color=BLUE, label=label.get("w1"))
        left.plot(along["time"], along["w_perp"], color=ORANGE, label=label.get("w_perp"))
        for name, color, text in [
            ("unfitted", BLUE, "training set"),
            ("unfitted_test", ORANGE, "test set"),
        ]:
            shown = np.where(along[name] > 0, along[name], np.nan)
            right.plot(along["time"], shown, color=color, label=text if number == 0 else None)
        if np.isfinite(outcome["crossover_time"]):
            for axes in (left, right):
                axes.axvline(
                    outcome["crossover_time"],
                    color=GREY,
                    linewidth=0.8,
                    label=r"$\hat t$" if number == 0 else None,
                )
    end = max(float(outcome.trajectory["time"][-1]) for outcome in outcomes)
    times = np.geomspace(training.lr, max(end, 2 * training.lr), 200)
    # Momentum multiplies the learning rate, and so both time and temperature (SI 2.A).
    gain = 1 / (1 - training.momentum)
    predicted = theory.online(
        gain * times,
        chi=training.teacher.chi,
        dim=training.teacher.dim,
        margin=training.margin,
        temperature=gain * training.temperature,
        weight_decay=training.weight_decay / gain,
    )
    left.plot(times, predicted.w1, "k--", label="online theory")
    left.plot(times, predicted.w_perp, "k--")
    right.plot(times, predicted.unfitted, "k--", label="online theory")
    left.set(xscale="log", yscale="log", xlabel=r"time $t = \eta \times$ steps", ylabel="weights")
    right.set(xscale="log", yscale="log", xlabel=r"time $t$", ylabel=r"unfitted fraction $n(t)$")
    for axes in (left, right):
        axes.legend()
    figure.suptitle(
        rf"SGD of the perceptron: $P={training.train_size}$, $d={training.teacher.dim}$, "
        rf"$\chi={training.teacher.chi:g}$, $\kappa={training.margin:g}$, "
        rf"$\eta={training.lr:g}$, $B={training.batch}$",
        fontsize="medium",
    )
    save(figure, path)
