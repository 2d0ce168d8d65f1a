"""Fig. S2b: weights in time with weight decay, large batch (SI 2.B)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase._typing import FloatArray
from sgdphase.diagram._style import GREEN, new_figure
from sgdphase.paper._along import (
    exponent,
    first_time,
    furthest,
    geometric_mean,
    mean_since,
    mean_until,
)
from sgdphase.paper._weight_decay import (
    SETTLED,
    TEMPERATURE,
    decay_colors,
    decay_label,
    draw_weights,
    finish,
    setting,
)
from sgdphase.paper.claim import Claim, equal
from sgdphase.paper.figure import Figure, Scale
from sgdphase.paper.runs import Runs

SMALL = 8


def large(scale: Scale) -> int:
    """A batch a few times `B*`."""
    return 256 if scale == "quick" else 1024


def decays(scale: Scale) -> list[float]:
    """Within a factor of 16 of the inverse training time without decay, as in the paper.

    At stronger decay a batch of 1024 holds more than a few unfitted points at the stationary
    state, and its step is no longer small against `|w_perp|`.
    """
    exponents = (-18, -16) if scale == "quick" else (-22, -20, -18)
    return [0.0, *(2.0**k for k in exponents)]


def plan(scale: Scale) -> Sequence[Training]:
    own = setting(scale)
    return [*own.plan(large(scale), decays(scale)), *own.plan(SMALL, decays(scale))]


def draw(runs: Runs, scale: Scale) -> Any:
    """Full lines: large batch, coloured by Lambda; dashed: small batch at the same Lambda.

    Where the first steps have left no unfitted point, both weights shrink without noise, beyond
    their stationary values, until points fall below the margin again.
    """
    figure, panels = new_figure(columns=2, size=(4.2, 3.6))
    many = runs.where(batch=large(scale))
    for decay, color in decay_colors(decays(scale)).items():
        along = many.trajectories(weight_decay=decay, seed=0)[0]
        draw_weights(panels, along, color=color, label=f"{decay_label(decay)}, $B={large(scale)}$")
    for decay in decays(scale)[1:]:
        few = runs.trajectories(batch=SMALL, weight_decay=decay, seed=0)[0]
        label = rf"$B={SMALL}$, each $\Lambda$" if decay == decays(scale)[1] else None
        draw_weights(panels, few, color=GREEN, linestyle="--", linewidth=1.0, label=label)
    finish(figure, panels, rf"$\eta/B={TEMPERATURE:g}$")
    return figure


# The first steps are those of the trajectory that are stored one by one.
FIRST_STEPS = 8


def claims(runs: Runs, scale: Scale) -> list[Claim]:
    many, few = runs.where(batch=large(scale)), runs.where(batch=SMALL)
    some = np.array([decay for decay in decays(scale) if decay > 0])
    found = [_first_steps(f"figS2b.1{letter}", many, name, float(some[0]))
             for letter, name in (("a", "w1"), ("b", "w_perp"))]  # fmt: skip
    for letter, name in (("a", "w1"), ("b", "w_perp")):
        ratio = np.array([_settled(many, decay, name) / _settled(few, decay, name)
                          for decay in some])  # fmt: skip
        found.append(
            equal(f"figS2b.2{letter}", f"the stationary {name} is that of the small batch, at the "
                  "Lambda where they differ most", furthest(ratio), 1, 0.1,
                  "a training of d = 128 fluctuates by d^(-1/2) = 0.09 about its mean")
        )  # fmt: skip
    times = np.array([_arrivals(many, decay) for decay in some])
    found.append(
        equal("figS2b.2c", "w1 first comes down to 1.1 times that at a time proportional to "
              "1 / Lambda",
              exponent(some, times), -1, 0.25,
              "the way down is w1 ~ Lambda^(-1/4) longer, whose logarithm enters the time")
    )  # fmt: skip
    return found


def _first_steps(id: str, many: Runs, name: str, decay: float) -> Claim:
    """The first steps with little decay against those without."""
    with_decay, without = (many.trajectories(weight_decay=x) for x in (decay, 0.0))
    until = FIRST_STEPS * float(without[0]["time"][0])
    ratio = mean_until(with_decay, name, until) / mean_until(without, name, until)
    claim = f"large batch, smallest Lambda: {name} over the first 8 steps is that without decay"
    return equal(id, claim, geometric_mean(ratio), 1, 0.1, "the steps draw different batches")


def _settled(runs: Runs, decay: float, name: str) -> FloatArray:
    return mean_since(runs.trajectories(weight_decay=decay), name, SETTLED / decay)


def _arrivals(runs: Runs, decay: float) -> list[float]:
    """When `w1` first comes down to 1.1 times its stationary value, for each seed."""
    ends = _settled(runs, decay, "w1")
    return [
        first_time(along, (along["w1"] <= 1.1 * end) & (along["w1"] > 0))
        for along, end in zip(runs.trajectories(weight_decay=decay), ends, strict=True)
    ]


FIGURE = Figure(
    "figS2b",
    "w1 and |w_perp| in time with weight decay at a large batch, small batch for reference",
    plan,
    draw,
    claims,
    trajectories=True,
)
