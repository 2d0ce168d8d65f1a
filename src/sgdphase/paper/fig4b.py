"""Figs. 4B, S7B, S8A and S8B: what networks have learnt at the end of training against `B`.

Above: the alignment (4B, S8A: small margin) or the weight change (S7B, S8B: large margin) against
`B/P^g` with the exponent `g` of the paper, for several `P`. Inset: against `B`. Below: `B*` of each
curve against `P`.

The paper's claim is `B* ~ P^g`: what is learnt depends on `B` and `P` below `B*`, and on `eta`
alone above it. `B*` is where a curve passes from a power law to a constant, whatever its height
(`_critical`). A seed has the same initial weights at every `P`, and with them a factor of what is
learnt, which can be larger than all that `P` and `B` change: sizes are compared within seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sgdphase._records import Training
from sgdphase._sweep import Run
from sgdphase._typing import FloatArray
from sgdphase.diagram._style import new_figure
from sgdphase.errors import InputError
from sgdphase.paper._claim import Above, Constant, Spec, Tolerance
from sgdphase.paper._critical import (
    critical_batches,
    described,
    difference,
    over_seed_factors,
)
from sgdphase.paper._draw import MARKERS, Curves, legend, letters, spread
from sgdphase.paper._figure import Figure, fresh_seeds, grid_values
from sgdphase.paper._ledger import Scale
from sgdphase.paper._measure import Mean
from sgdphase.paper._runs import Runs
from sgdphase.paper._settings import (
    LARGE_MARGIN,
    SMALL_MARGIN,
    cells,
    fc,
    fc_large_margin,
    mobilenet,
    mobilenet_large_margin,
)
from sgdphase.stats import Curve, Estimate, collapse

# What is measured at the end of training: its letters, and its growth with `eta`. Curves are drawn
# and collapsed after division by `eta^power`.
LEARNT = {
    "alignment": (r"alignment $\langle yf\rangle\,/\,\eta$", 1),
    "weight_change": (r"weight change $|w-w_0|/|w_0|$", 0),
}
# The paper gives its exponents to one digit, and says that 0.2 and 0.4 are different.
ONE_DIGIT = Tolerance(
    0.1, "half of the difference of 0.2 and 0.4, which the paper distinguishes; it gives one digit"
)
HALF_OF_LEAST = Tolerance(
    0.1, "half of 0.2, the least exponent with which the paper's networks learn more below B*"
)
LARGE = "at large B only eta matters: exponent of what is learnt, at the 4 largest batches, in"
# Kernel ridge regression gives chi = 6 for MNIST and 1.5 for CIFAR10: a factor of 4 in all.
KERNEL = Tolerance(
    2, "the chi of MNIST and CIFAR10 by kernel regression, 6 and 1.5, are a factor of 4 apart; "
    "half of it (in logarithms) distinguishes the two", factor=True,
)  # fmt: skip


def by_size(observable: str, power: int) -> Callable[[Runs], list[Curve]]:
    """The observable over `eta^power` against `B`: the mean over `eta` within each seed.

    Cells of one seed share a training set, so they are one curve with one error, not several. A
    batch at which a seed did not end, at whatever `eta`, lacks that seed.
    """

    def y(run: Run) -> float:
        fitted = run.outcome.status == "fitted"
        return run.outcome[observable] / run.training.lr**power if fitted else float("nan")

    return Mean(y, over="batch").by("train_size")


def chi_of(gamma: float) -> float:
    """`chi` from `gamma = 1/(1+chi)`.

    >>> chi_of(0.2)
    4.0
    """
    return 1 / gamma - 1


@dataclass(frozen=True)
class Crossing:
    """What is drawn and claimed of `B* ~ P^exponent`, an exponent of the paper, at one margin.

    `panel` is the letter of the paper, `kernel` the chi of kernel regression, where the paper
    compares with it. With `smaller`, the runs are also those of an observable at another margin,
    whose exponent is smaller. The exponent is that of the lowest learning rate: the theory has what
    is learnt grow as `T` below `B*`, and the higher `T`, the less it does so.
    """

    panel: str
    title: str
    claim: tuple[str, str]
    observable: str
    exponent: float
    margin: float
    kernel: float | None = None
    smaller: tuple[str, float] | None = None

    def claims(self, runs: Runs) -> list[Spec]:
        own = runs.where(margin=self.margin)
        try:
            critical = critical_batches(own, self.observable)
        except InputError as error:
            return self._specs(None, None, "", f"no crossovers ({error})")
        lost = critical.missing()
        why = f"no crossover between the first and the last batch: {lost}" if lost else ""
        law = critical.law(critical.coldest)
        more = f" ({'; '.join(filter(None, [described(critical), _fixed_height(self, own), why]))})"
        measured = law.exponent if law else None
        specs = self._specs(measured, critical.above(), more, why or "too few sizes")
        if self.smaller:
            observable, margin = self.smaller
            other = critical_batches(runs.where(margin=margin), observable)
            specs.append(
                Above("5", "it is another exponent than at small margin (fig4b): their difference "
                      "(paper: 0.2)", difference(law, other.law(other.coldest)), 0.1,
                      "half of the paper's 0.4 - 0.2; equal exponents have 0",
                      otherwise="; ".join(filter(None, [why, other.missing()])) or "too few sizes")
            )  # fmt: skip
        return specs

    def _specs(
        self,
        measured: Estimate | None,
        above: tuple[Estimate, Estimate] | None,
        more: str,
        why: str,
    ) -> list[Spec]:
        """The claims; `why` says why there may be no number."""
        (id, says), (in_size, in_batch) = self.claim, above or (None, None)
        few = f"too few batches at 4 B* and above ({why})"
        specs: list[Spec] = [
            Constant(id, says + more, measured, equals=self.exponent, within=ONE_DIGIT,
                     otherwise=why),
            Above("6", "B* grows as a power of P (text, iv): its exponent", measured, 0.1,
                  "half of 0.2, the least that the paper gives; a B* that does not depend on P has "
                  "0", otherwise=why),
            Constant("3a", f"{LARGE} P", in_size, equals=0, within=HALF_OF_LEAST, otherwise=few),
            Constant("3b", f"{LARGE} B", in_batch, equals=0, otherwise=few),
        ]  # fmt: skip
        if self.kernel is not None:
            chi = measured.mapped(chi_of) if measured and measured.low > 0 else None
            infinite = "the interval of the exponent reaches 0, where chi is infinite"
            specs.append(
                Constant("4", f"chi = 1/x - 1 of B* ~ P^x is relatively close to the "
                         f"{self.kernel:g} of kernel regression (paper: "
                         f"{chi_of(self.exponent):.2g})", chi,
                         equals=self.kernel, within=KERNEL,
                         otherwise=infinite if measured else why)
            )  # fmt: skip
        return specs

    def draw(self, runs: Runs) -> Any:
        """What is learnt against `B/P^exponent`, and `B*` against `P`."""
        own = runs.where(margin=self.margin).fitted()
        figure, (top, bottom) = new_figure(rows=2, size=(5.4, 3.6))
        top.get_gridspec().set_height_ratios([1.7, 1])
        words, power = LEARNT[self.observable]
        seeds = max(len(part.values("seed")) for part in own.split("lr"))
        Curves(
            "batch", self.observable, by="train_size", marks="lr",
            symbols={"train_size": "P", "lr": r"\eta"},
            unit=lambda training: (training.train_size**self.exponent, training.lr**power),
            xlabel=f"$B/P^{{{self.exponent:g}}}$",
            ylabel=f"{words}\n(each seed over its own factor)",
            title=lambda runs: f"{self.title}\nwidth {own.only('width')}, {seeds} seeds",
            inset=((0.62, 0.62, 0.37, 0.37), "$B$", self.observable.replace("_", " ")),
            extra=_ticks, room=(0.35, 0.35),
        ).on(top, over_seed_factors(own, self.observable))  # fmt: skip
        # Above the dots of what did not end.
        legend(top, "lower left", bbox_to_anchor=(0.0, 0.05), labelspacing=0.25)
        try:
            self._draw_critical(bottom, runs)
        except InputError as error:
            bottom.text(0.5, 0.5, str(error), ha="center", transform=bottom.transAxes)
        letters((top, bottom), (f"{self.panel}1", f"{self.panel}2"))
        return figure

    def _draw_critical(self, axes: Any, runs: Runs) -> None:
        """`B*` with errors over seeds, the fit, and the paper's exponent."""
        axes.set(xlabel="$P$", ylabel="$B^*$ of each curve")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        rates = runs.where(margin=self.margin).values("lr")
        own = critical_batches(runs.where(margin=self.margin), self.observable)
        drawn = [(own, "k", "")]
        if lost := own.missing():
            axes.text(0.98, 0.04, f"no $B^*$ inside the curve: {lost}", ha="right", fontsize=8,
                      transform=axes.transAxes)  # fmt: skip
        if self.smaller:
            observable, margin = self.smaller
            other = critical_batches(runs.where(margin=margin), observable)
            drawn.append((other, "0.6", " in fig4b"))
        for critical, color, name in drawn:
            law = critical.law()
            slopes = sorted(f"P^{{{each.value:.2f}}}" for each in law.each.values()) if law else []
            label = f"fit: ${'$ to $'.join(slopes[:: max(len(slopes) - 1, 1)])}${name}"
            for rate in np.unique(critical.rates):
                there = (critical.rates == rate) & critical.counts
                sizes, (middle, error) = critical.sizes[there], spread(critical.at[there])
                marker = MARKERS[rates.index(rate)] if rate in rates else "x"
                axes.errorbar(sizes, middle, error, fmt=marker, color=color, markersize=4, lw=0.8)
                if law and rate in law.each:
                    line = _through(sizes, middle, law.each[rate].value)
                    axes.plot(*line, color=color, linewidth=0.9, label=label)
                    label = ""
        if own.counts.any():
            line = _through(own.sizes[own.counts], own.middle[own.counts], self.exponent)
            axes.plot(*line, "k:", linewidth=1.2, label=f"paper: $P^{{{self.exponent:g}}}$")
        else:
            axes.text(0.5, 0.5, "no crossover", ha="center", transform=axes.transAxes)
        low, high = (np.log2(end) for end in axes.get_ylim())
        # At least two ticks, and room for the legend.
        axes.set_ylim(2 ** np.floor(low), 2 ** (np.ceil(high) + 0.3 * (high - low) + 0.5))
        if axes.get_legend_handles_labels()[1]:
            legend(axes, "upper left", ncols=3)


def _through(sizes: FloatArray, values: FloatArray, exponent: float) -> tuple[FloatArray, ...]:
    """A power law through the middle of points."""
    ends = np.array([sizes.min(), sizes.max()])
    centre = np.mean(np.log(values)) - exponent * np.mean(np.log(sizes))
    return ends, np.exp(centre) * ends**exponent


def _ticks(axes: Any, runs: Runs) -> None:
    """Powers of two, so that short axes have ticks too."""
    axes.set_xscale("log", base=2)
    (small,) = axes.child_axes
    for set_scale in (small.set_xscale, small.set_yscale):
        set_scale("log", base=2)
    small.minorticks_off()


def _fixed_height(about: Crossing, runs: Runs) -> str:
    """The exponent of the best collapse without a change of height, which decides nothing."""
    curves = by_size(about.observable, LEARNT[about.observable][1])(runs)
    try:
        best = collapse(curves, same_seeds=True)
    except InputError:
        return "no collapse at fixed height"
    return f"collapse at fixed height: {best.exponent.value:.2f} with chi2 {best.chi2:.2g}"


Plan = Callable[[Scale], list[Training]]


def _figure(name: str, shows: str, about: Crossing, plan: Plan, remark: str = "") -> Figure:
    return Figure(name, shows, plan, about.draw, [about.claims], remark=remark)


# Several learning rates, and one (with seeds of its own) that is closer to the theory.
_HOT = cells(
    fc,
    quick=grid_values((6, 8), (2, 2, 2), (0, 6, 2)),
    laptop=grid_values((9, 12), (1, 3, 2), (0, 10)),
    paper=grid_values((10, 15), (1, 5, 2), (0, 12)),
)
_COLD = grid_values((10, 15), (-1, -1), (0, 9)) | {"seeds": fresh_seeds(5, used=5)}


def small_fc(scale: Scale) -> list[Training]:
    """The plan of Fig. 4B."""
    return [*_HOT(scale), *(fc(scale).trainings(**_COLD) if scale == "paper" else [])]


LARGE_FC = cells(
    fc_large_margin,
    quick=grid_values((5, 7), (1, 1, 2), (0, 6, 2)),
    laptop=grid_values((8, 11), (5, 5, 2), (1, 10)),
    paper=grid_values((10, 14), (6, 6), (0, 12)) | {"seeds": fresh_seeds(5, used=5)},
)
FC, CNN = "fully connected, parity MNIST", "CNN, CIFAR10 animals"
SMALL_KAPPA, LARGE_KAPPA = r"$\kappa=2^{-15}$", r"$\kappa=1$"
FIGURES = (
    _figure(
        "fig4b",
        "alignment of the fully connected net on parity MNIST at the end of training against B, "
        "for several P and eta, collapsed: small margin",
        Crossing("b", f"{FC}, {SMALL_KAPPA}", ("1", "B* ~ P^0.2"), "alignment", 0.2, SMALL_MARGIN,
                 kernel=6),
        small_fc,
        "The paper gives no eta. At 2, 8 and 32, seeds 100 to 104, the exponents are 0.26, 0.31 "
        "and 0.39, and the steepness falls from 0.85 to 0.55; with all of them 1 was undecided. "
        "They were known when 1/2, on seeds that no run had used, was chosen.",
    ),
    _figure(
        "figS7b",
        "relative weight change of the fully connected net on parity MNIST against B, for several "
        "P and eta, collapsed: large margin",
        Crossing("b", f"{FC}, {LARGE_KAPPA}", ("2", "B* ~ P^0.4"), "weight_change", 0.4,
                 LARGE_MARGIN, smaller=("alignment", SMALL_MARGIN)),
        lambda scale: [*LARGE_FC(scale), *small_fc(scale)],
        "The runs of fig4b are among its own, for the difference of the exponents. eta is 64. With "
        "seeds 100 to 104 it was 64 and 128; at 128 one training in eight diverged at B of 64 and "
        "more, and 2 and 3b were undecided by the scatter of the rest. The first-step line is at "
        "16 for P = 1024 and at 28 for P = 4096 (figS5a), by its growth at 49 for P = 16384; below "
        "it the weight change at large B is that of GD, which grows with P.",
    ),
    _figure(
        "figS8a",
        "alignment of the convolutional net on CIFAR10 at the end of training against B, for "
        "several P, collapsed: small margin",
        Crossing("a", f"{CNN}, {SMALL_KAPPA}", ("1", "B* ~ P^0.4"), "alignment", 0.4, SMALL_MARGIN,
                 kernel=1.5),
        cells(
            mobilenet,
            quick=grid_values((4, 6), (2, 2, 2), (0, 4)),
            laptop=grid_values((7, 10), (5, 5, 2), (1, 10)) | {"seeds": fresh_seeds(10)},
            paper=grid_values((10, 14), (5, 5, 2), (0, 10)),
        ),
        "eta is that of the paper: at P = 256 and width 8 trainings of a seed that is not drawn "
        "ended at B = 1, 4, 16 and 64. With the first 5 of the 10 seeds the exponent was 0.29 "
        "[0.10, 0.44], and its claims were undecided.",
    ),
    _figure(
        "figS8b",
        "relative weight change of the convolutional net on CIFAR10 against B, for several P, "
        "collapsed: large margin",
        Crossing("b", f"{CNN}, {LARGE_KAPPA}", ("2", "B* ~ P^0.5"), "weight_change", 0.5,
                 LARGE_MARGIN),
        cells(
            mobilenet_large_margin,
            quick=grid_values((4, 5), (0, 0, 2), (2, 5)),
            laptop=grid_values((7, 10), (3, 3), (4, 10)) | {"seeds": fresh_seeds(5)},
            paper=grid_values((10, 14), (0, 0, 2), (0, 11)),
        ),
        "At laptop scale eta = 8, where the weight change at large B is 1.3 times that of GD at P "
        "= 1024; at eta = 16, and at T = 1, trainings diverge (figS6a).",
    ),
)  # fmt: skip
