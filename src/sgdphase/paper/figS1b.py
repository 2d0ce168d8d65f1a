"""Fig. S1b: weights in time with weight decay, small batch (SI 2.B)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase._typing import FloatArray
from sgdphase.diagram._style import new_figure
from sgdphase.paper._along import exponent, first_time, geometric_mean, mean_since
from sgdphase.paper._weight_decay import (
    SETTLED,
    TEMPERATURE,
    decay_colors,
    decay_label,
    draw_weights,
    finish,
    setting,
)
from sgdphase.paper.claim import Claim, below, equal
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs

BATCH = 8


def decays(scale: Scale) -> list[float]:
    """Around `Lambda*` and above it; 0 for comparison."""
    exponents = (-18, -16, -14, -12) if scale == "quick" else (-22, -20, -18, -16, -14)
    return [0.0, *(2.0**k for k in exponents)]


def plan(scale: Scale) -> Sequence[Training]:
    return setting(scale).plan(BATCH, decays(scale))


def draw(runs: Runs, scale: Scale) -> Any:
    own = setting(scale)
    figure, panels = new_figure(columns=2, size=(4.2, 3.6))
    for decay, color in decay_colors(decays(scale)).items():
        along = runs.trajectories(weight_decay=decay, seed=0)[0]
        draw_weights(panels, along, color=color, label=decay_label(decay))
        end = along["time"][-1] if decay == 0 else own.max_time
        times = np.geomspace(along["time"][0], end, 300)
        theory = own.online(times, decay)
        for panel, line in zip(panels, (theory.w1, theory.w_perp), strict=True):
            panel.plot(times, line, "k--", linewidth=0.8,
                       zorder=3)  # fmt: skip
    panels[0].plot([], [], "k--", linewidth=0.8, label="online SDE")
    finish(figure, panels, rf"$B={BATCH}$, $\eta={BATCH * TEMPERATURE:g}$")
    return figure


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    own = setting(scale)
    some = np.array([decay for decay in decays(scale) if decay > 0])
    w_perp = np.array([_settled(runs, decay, "w_perp") for decay in some])
    plain = np.array([along["w_perp"][-1] for along in runs.trajectories(weight_decay=0.0)])
    stops = np.array([stopping_times(runs, decay) for decay in some])
    strong = some >= own.critical_decay
    return [
        equal("figS1b.1a", "the stationary |w_perp| does not depend on Lambda",
              exponent(some, w_perp), 0, 0.05,
              "w1 goes as Lambda^(-1/4); a fifth of that is told apart from it"),
        equal("figS1b.1b", "the stationary |w_perp| is the final one without decay",
              geometric_mean(w_perp / plain), 1, 0.1,
              "a training of d = 128 fluctuates by d^(-1/2) = 0.09 about its mean"),
        below("figS1b.2a", "w1 stops growing at a time that rises as Lambda falls: its exponent",
              exponent(some, stops), 0, "any rise"),
        equal("figS1b.2b", "that time is proportional to 1 / Lambda above Lambda*",
              exponent(some[strong], stops[strong]), -1, 0.15,
              "times are read off 4 times an octave, over several octaves of Lambda"),
    ]  # fmt: skip


def _settled(runs: Runs, decay: float, name: str) -> FloatArray:
    return mean_since(runs.trajectories(weight_decay=decay), name, SETTLED / decay)


def stopping_times(runs: Runs, decay: float) -> list[float]:
    """When `w1` first reaches 9/10 of its stationary value, for each seed."""
    ends = _settled(runs, decay, "w1")
    return [
        first_time(along, along["w1"] >= 0.9 * end)
        for along, end in zip(runs.trajectories(weight_decay=decay), ends, strict=True)
    ]


FIGURE = Figure(
    "figS1b",
    "w1 and |w_perp| in time with weight decay, several Lambda, B = 8",
    plan,
    draw,
    claims,
    trajectories=True,
)
