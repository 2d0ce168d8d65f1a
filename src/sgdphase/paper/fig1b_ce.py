"""Not drawn in the paper: the hinge loss against the cross-entropy, stopped early.

The text says that "using the cross-entropy loss with early stopping leads to similar performance
and weights increase". Here: the fully connected net on parity MNIST at margin 1 and batch 16, at
several temperatures. With two classes the cross-entropy is the logistic loss. It never vanishes, so
that a training is stopped early, when every point has half of the margin. Both losses start from
the same weights in a seed: they are compared within seeds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.diagram._style import BLUE, ORANGE, new_figure
from sgdphase.paper._claim import Above, Constant, Spec, Tolerance
from sgdphase.paper._draw import draw_curve, key, legend, letters, unfitted
from sgdphase.paper._figure import OURS, Figure, Grid, together
from sgdphase.paper._measure import exponent, per_seed
from sgdphase.paper._runs import Runs
from sgdphase.paper._settings import LARGE_MARGIN, heading
from sgdphase.problems import MnistParity
from sgdphase.stats import logarithms, powers, seed_means

LOSSES = {"hinge": ("hinge", BLUE, "o"), "logistic": ("cross-entropy", ORANGE, "s")}
PANELS = (
    ("weight_change", r"weight change $|w-w_0|/|w_0|$"),
    ("test_error", "test error"),
)
FEWEST = 3  # temperatures of an exponent with an interval


def _grid(loss: str) -> Grid:
    return Grid(
        problem=MnistParity(), model="fc", margin=LARGE_MARGIN, loss=loss,
        quick=dict(train_size=64, width=32, batch=4, lr=powers(0, 4, 2), seeds=2, test_size=1024,
                   max_samples=2**18),
        paper=dict(train_size=4096, width=128, batch=16, lr=powers(0, 6), seeds=35,
                   test_size=32768, max_samples=2**22),
    )  # fmt: skip


def by_loss(runs: Runs, observable: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """`T [n]`, and the observable with hinge loss and with cross-entropy, `[n, seeds]`."""
    own = {loss: runs.fitted().where(loss=loss).curve("temperature", observable) for loss in LOSSES}
    return own["hinge"][0], own["hinge"][1], own["logistic"][1]


def claims(runs: Runs) -> list[Spec]:
    temperature, hinge, entropy = by_loss(runs, "weight_change")
    _, hinge_error, entropy_error = by_loss(runs, "test_error")
    both = np.isfinite(logarithms(hinge * entropy)).any(axis=1)
    enough = both.sum() >= FEWEST
    errors = seed_means(logarithms(entropy_error / hinge_error))
    most = float(np.exp(errors[np.nanargmax(np.abs(errors))])) if np.isfinite(errors).any() else 0
    few = f"fewer than {FEWEST} temperatures at which both end"
    return [
        Above("1a", "with the cross-entropy, stopped early, the weight change grows with T: its "
              "exponent", exponent(temperature[both], entropy[both]) if enough else None, 0.1,
              "a tenth: in gradient descent it is 0", otherwise=few),
        Constant("1b", "as with the hinge loss: difference of the two exponents",
                 exponent(temperature[both], (entropy / hinge)[both]) if enough else None,
                 equals=0, otherwise=few),
        Constant("2", "with similar performance: test error over that with the hinge loss, mean "
                 f"over T (at the T where they differ most: {most:.2f})",
                 per_seed(entropy_error / hinge_error) if enough else None, equals=1,
                 within=Tolerance(1.25, "half (in logarithms) of the factor of 1.6 by which eta "
                                  "and B change the error of this net (figS5c)", factor=True),
                 otherwise=few),
    ]  # fmt: skip


def draw(runs: Runs) -> Any:
    figure, both = new_figure(rows=2, size=(5.0, 2.9))
    for axes, (observable, label) in zip(both, PANELS, strict=True):
        for loss, (words, color, marker) in LOSSES.items():
            own = runs.fitted().where(loss=loss).curve("temperature", observable)
            draw_curve(axes, *own, color=color, marker=marker, markersize=4, label=words)
        axes.set_xscale("log", base=2)
        axes.set(xlabel=r"$T=\eta/B$", ylabel=label)
    if lost := unfitted(runs):
        key(both[0], ".", lost, "k")
    both[0].set_yscale("log", base=2)
    batch = runs.only("batch")
    both[0].set_title(f"{heading(runs)}, $B={batch}$", fontsize="medium")
    letters(both)
    legend(both[0], "best", ncols=1)
    return figure


FIGURE = Figure(
    "fig1b-ce",
    "weight change and test error of the fully connected net on parity MNIST against T: hinge loss "
    "and cross-entropy with early stopping",
    plan=together(*map(_grid, LOSSES)),
    draw=draw,
    claims=[claims],
    setting=OURS,
    remark="The paper says it in its text, without a figure or a setting: size, batch, "
    "margin and temperatures are ours, and so is the stop: when every point has half of the "
    "margin. The number of points was raised from 1024 to 4096 after runs in which 1b was "
    "undecided.",
)
