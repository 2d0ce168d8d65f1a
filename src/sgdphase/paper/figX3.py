"""Figure X3: phase diagrams of two systems that the paper does not draw.

The authors' code has them, the paper has not: the stripe task, learnt by a fully connected net with
two hidden layers (no perceptron can learn it), and the teacher task, learnt by a diagonal linear
net. Each at two sizes, of which the larger is drawn.

Claims (1) to (5) are those of Fig. 1 (`_planes.phase_claims`). (6): points of the stripe task have
a finite density at its planes, as those of the teacher task at chi = 0, where `B* ~ P`; the teacher
task here has chi = 1, where `B* ~ P^(1/2)`. (7): noise lowers the test error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sgdphase import theory
from sgdphase._records import Training
from sgdphase.diagram import draw_legend, draw_lines, draw_names, draw_plane, draw_star
from sgdphase.diagram._draw import PANEL
from sgdphase.diagram._style import new_figure
from sgdphase.paper._claim import Below, Constant, Decide, fifth
from sgdphase.paper._figure import Figure, Grid
from sgdphase.paper._ledger import Scale
from sgdphase.paper._measure import per_seed
from sgdphase.paper._planes import phase_claims
from sgdphase.paper._runs import Runs
from sgdphase.problems import Stripe, TeacherTask
from sgdphase.stats import Estimate, power_of_two_tex, powers, whole_powers

# Of the model of each system: its name in claims, its words, and the chi of its data.
SYSTEMS = {
    "fc": ("stripe", "stripe task, fully connected net", 0.0),
    "diagonal": ("diagonal", "teacher task, diagonal linear net", 1.0),
}


def _plane(hottest: float, **values: Any) -> Callable[[Scale], list[Training]]:
    """The planes of both sizes, up to a temperature, without cells far below the GD line.

    There nothing changes, and the cost grows as `1/T`. Batches are all powers of two up to `P`.
    """
    grid = Grid(**values)

    def trainings(scale: Scale) -> list[Training]:
        warm = (t for t in grid(scale) if t.temperature >= COLDEST or t.lr >= SLOWEST)
        return [t for t in warm if t.temperature <= hottest]

    return trainings


COLDEST, SLOWEST = 2.0**-11, 2.0**-6
STRIPE = _plane(
    2.0, model="fc", depth=2, width=64, margin=2.0**-15, max_samples=2**22,
    quick=dict(problem=Stripe(dim=4), train_size=[32, 128], batch=whole_powers(0, 7), seeds=2,
               lr=powers(-10, 6, 4), test_size=1024),
    laptop=dict(problem=Stripe(dim=8), train_size=[128, 512], batch=whole_powers(0, 9), seeds=6,
                lr=powers(-10, 6, 2), test_size=8192),
    paper=dict(problem=Stripe(dim=8), train_size=[512, 2048], batch=whole_powers(0, 11), seeds=5,
               lr=powers(-10, 6), test_size=32768),
)  # fmt: skip
DIAGONAL = _plane(
    0.5, model="diagonal", margin=2.0**-7, max_samples=2**22,
    quick=dict(problem=TeacherTask(8), train_size=[32, 256], batch=whole_powers(0, 8), seeds=2,
               lr=powers(-10, 6, 4), test_size=1024),
    laptop=dict(problem=TeacherTask(32), train_size=[128, 1024], batch=whole_powers(0, 10),
                seeds=6, lr=powers(-10, 6, 2), test_size=32768),
    paper=dict(problem=TeacherTask(128), train_size=[1024, 8192], batch=whole_powers(0, 13),
               seeds=5, lr=powers(-10, 6), test_size=32768),
)  # fmt: skip


def star_law(small: Runs, large: Runs) -> Estimate | None:
    """The exponent of `B*` from two sizes; the relative errors of both are independent."""
    stars = [part.diagram.critical_batch for part in (small, large)]
    if None in stars:
        return None
    one, two = (np.log([star.value, star.low, star.high]) for star in stars if star)
    length = np.log(large.only("train_size") / small.only("train_size"))
    value = two[0] - one[0]
    down = np.hypot(two[0] - two[1], one[2] - one[0])
    up = np.hypot(two[2] - two[0], one[0] - one[1])
    return Estimate(*(float(x / length) for x in (value, value - down, value + up)))


def error_of_noise(runs: Runs) -> Estimate:
    """The test error at batch 1 and its highest temperature, over that of gradient descent."""
    errors = [
        part.fitted().curve("lr", "test_error")[1][place]
        for part, place in ((runs.at(batch=0), -1), (runs.at(batch=-1), 0))
    ]
    return per_seed((errors[0] / errors[1])[None])


def claims_of(model: str) -> Callable[[Runs], list[Decide]]:
    name, _, chi = SYSTEMS[model]
    gamma = theory.constants(chi).gamma

    def claims(runs: Runs) -> list[Decide]:
        small, large = runs.where(model=model).split("train_size")
        star = f"B* ~ P^gamma with the chi of the data ({chi:g}), from two sizes"
        found: list[Any] = [
            *phase_claims(large),
            Constant("6", star, star_law(small, large), equals=gamma, within=fifth(gamma),
                     otherwise="a plane does not have B*"),
            Below("7", "noise lowers the test error: that at B = 1 and the highest T over that of "
                  "gradient descent", error_of_noise(large), 0.8,
                  "half (in logarithms) of the factor of 1.6 by which eta and B change the error "
                  "of a net in figS5c"),
        ]  # fmt: skip
        return [replace(spec, id=f"{name}.{spec.id}") for spec in found]

    return claims


def draw(runs: Runs) -> Any:
    figure, panels = new_figure(columns=2, rows=2, size=PANEL)
    drawn = [runs.where(model=model).split("train_size")[-1] for model in SYSTEMS]
    for row, part in enumerate(drawn):
        left, right = panels[2 * row : 2 * row + 2]
        for axes, field in ((left, "value"), (right, "test_error")):
            draw_plane(axes, part.diagram, field)
            draw_lines(axes, part.diagram)
        draw_names(left, part.diagram)
        draw_star(right, part.diagram)
        _, words, _ = SYSTEMS[part.only("model")]
        size, dim, margin = (part.only(name) for name in ("train_size", "dim", "margin"))
        what = f"$P={size}$, $d={dim}$, margin ${power_of_two_tex(margin)}$"
        left.set_title(f"({'ac'[row]}) {words}", loc="left", fontsize=10)
        right.set_title(f"({'bd'[row]}) {what}", loc="left", fontsize=10)
    draw_legend(figure, drawn[0].diagram)
    return figure


FIGURE = Figure(
    "figX3",
    "phase diagrams of the stripe task (fully connected net) and of a diagonal linear net on the "
    "teacher task: alignment and test error",
    plan=lambda scale: [*STRIPE(scale), *DIAGONAL(scale)],
    draw=draw,
    claims=[claims_of(model) for model in SYSTEMS],
    ledger="ours",
    remark="Learning rates, batches and claims were chosen after some runs at P = 512 with other "
    "seeds. Cells of T < 2^-11 and eta < 2^-6, and of T above 2 (stripe) or 1/2 (diagonal), are "
    "left out.",
)
