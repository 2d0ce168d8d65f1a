"""A claim of the paper, what was measured, and the verdict.

A claim is a specification: its words, what is measured (`_measure`), and the rule
that decides it, with a tolerance or bound and its reason, fixed before the run.

- `Constant`: the interval lies within `equals +- tolerance`: it holds. The interval lies outside
  altogether: it fails. Otherwise it is undecided.
- `Above`, `Below`: the same with a half line.
- `Exponent`, `Collapses`: a `Constant` whose number is the exponent of a power law or of a data
  collapse.
- `Each`: the same claims for each value of a parameter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from sgdphase.errors import InputError
from sgdphase.paper._ledger import Claim, Verdict
from sgdphase.paper._measure import Slope, drift, listed, size_range
from sgdphase.paper._runs import Runs
from sgdphase.stats import Curve, Estimate, collapse, effective_collapses


@dataclass(frozen=True)
class Tolerance:
    """How far a number may be from its prediction, and why.

    Attributes
    ----------
    size : float, above 0
    reason : str
    factor : bool, default False
        Whether the number may be `size` times larger or smaller instead.

    Examples
    --------
    >>> Tolerance(0.1, "the paper gives one digit").around(2.0)
    (1.9, 2.1)
    >>> Tolerance(2, "other data differ by more", factor=True).around(6.0)
    (3.0, 12.0)
    """

    size: float
    reason: str
    factor: bool = False

    def around(self, predicted: float) -> tuple[float, float]:
        """The least and the largest number that a `predicted` one allows."""
        if self.factor:
            return predicted / self.size, predicted * self.size
        return predicted - self.size, predicted + self.size


# Regimes differ by 1 in the exponents of lr, batch and T.
TENTH = Tolerance(0.1, "regimes differ by 1 in it; a tenth allows for the width of the crossovers")


def fifth(gamma: float) -> Tolerance:
    """A fifth of `gamma = 1/(1+chi)`, for all exponents of the number of points or dimensions.

    One tolerance for `gamma` and for `b = 1 + 2 gamma`, the stricter of the two.
    """
    reason = "gamma/5 gives 1 + chi within a fifth, and the chi drawn here differ by factors of 2"
    return Tolerance(0.2 * gamma, reason)


# The words of a claim, which may say what else was measured.
Text = str | Callable[[Runs], str]
# What is measured: a number, or a function of the runs. None where they do not determine it.
Measure = Estimate | None | Callable[[Runs], Estimate | None]
# A claim, its specification, or a function of the runs of a figure that gives several.
Decide: TypeAlias = "Claim | Spec | Callable[[Runs], Sequence[Decide]]"


@dataclass(frozen=True)
class Spec:
    """A claim before it is decided: an id after the name of the figure, words, and a rule.

    `otherwise` says why runs may not determine the number. If `untestable` gives a reason, no runs
    can decide the claim.
    """

    id: str
    says: Text
    otherwise: str = field(default="too few cells in this regime", kw_only=True)
    untestable: Text = field(default="", kw_only=True)

    def expected(self, runs: Runs) -> tuple[float | None, tuple[float, float], str]:
        """The prediction, the bounds between which the claim holds, and the rule in words."""
        raise NotImplementedError

    def measured(self, runs: Runs) -> tuple[Estimate | None, str]:
        """The number that `runs` give, and what the words add about it."""
        raise NotImplementedError

    def decide(self, runs: Runs) -> Claim:
        """The line of the ledger that `runs` give."""
        predicted, (first, last), rule = self.expected(runs)
        says, never = _of(self.says, runs), _of(self.untestable, runs)
        if never:
            return Claim(self.id, says, predicted, None, never, "not testable")
        try:
            measured, more = self.measured(runs)
        except InputError as error:
            return Claim(self.id, says, predicted, None, f"{self.otherwise} ({error})", "undecided")
        if measured is None:
            return Claim(self.id, says, predicted, None, self.otherwise, "undecided")
        verdict, more_seeds = verdict_of(measured, first, last)
        return Claim(
            self.id, says + more, predicted, measured, rule, verdict, more_seeds=more_seeds
        )


def verdict_of(measured: Estimate, first: float, last: float) -> tuple[Verdict, float | None]:
    """The verdict for a number that should lie between bounds.

    If it is undecided, also the factor by which there must be more seeds, if the interval shrinks
    as their root: it must not reach the nearest bound any more. It is infinite where the interval
    comes from what seeds do not explain.

    >>> verdict_of(Estimate(1.0, 0.8, 1.2), 0.9, 1.1)
    ('undecided', 4.0)
    """
    low, high = measured.low, measured.high
    if not (math.isfinite(low) and math.isfinite(high)):
        return "undecided", None
    if first <= low and high <= last:
        return "holds", None
    if high < first or last < low:
        return "fails", None
    if measured.misfit:
        return "undecided", math.inf
    ratios = [
        ((high if bound > measured.value else low) - measured.value) / (bound - measured.value)
        for bound in (first, last)
        if math.isfinite(bound) and bound != measured.value
    ]
    return "undecided", round(max(ratios) ** 2, 6) if ratios else None


@dataclass(frozen=True)
class _Equals(Spec):
    """The number is the predicted one, up to a tolerance."""

    equals: float | Callable[[Runs], float] = field(kw_only=True)
    within: Tolerance = field(default=TENTH, kw_only=True)

    def expected(self, runs: Runs) -> tuple[float | None, tuple[float, float], str]:
        predicted, within = float(_of(self.equals, runs)), self.within
        most = f"a factor {within.size:g} of {predicted:.4g}"
        most = most if within.factor else f"{predicted:.4g} +- {within.size:.3g}"
        finite = predicted if math.isfinite(predicted) else None
        rule = f"the interval lies within {most}: {within.reason}"
        return finite, within.around(predicted), rule


@dataclass(frozen=True)
class Constant(_Equals):
    """A number is the predicted one, up to a tolerance.

    Attributes
    ----------
    id : str; of the claim in its figure
    says : str, or function of the runs
    measure : Estimate, or function of the runs; None where they do not determine it
    equals : float, or function of the runs
    within : Tolerance, default a tenth
    otherwise : str
        Why the runs may not determine the number.
    untestable : str, or function of the runs
        Why no runs can decide the claim; empty if some can.

    Examples
    --------
    >>> Constant("1", "it is 1", Estimate(1.02, 0.98, 1.05), equals=1).decide(Runs(())).verdict
    'holds'
    """

    measure: Measure

    def measured(self, runs: Runs) -> tuple[Estimate | None, str]:
        return _of(self.measure, runs), ""


@dataclass(frozen=True)
class Above(Spec):
    """A number is above a bound.

    Attributes
    ----------
    id, says, measure, otherwise, untestable
        As in `Constant`.
    bound : float
    reason : str; why this bound

    Examples
    --------
    >>> Above("2", "it grows", Estimate(2.0, 1.5, 2.5), 1, "any growth").decide(Runs(())).verdict
    'holds'
    """

    measure: Measure
    bound: float
    reason: str

    def expected(self, runs: Runs) -> tuple[float | None, tuple[float, float], str]:
        rule = f"the interval lies above {self.bound:.4g}: {self.reason}"
        return None, (self.bound, math.inf), rule

    def measured(self, runs: Runs) -> tuple[Estimate | None, str]:
        return _of(self.measure, runs), ""


@dataclass(frozen=True)
class Below(Above):
    """A number is below a bound.

    Attributes
    ----------
    id, says, measure, bound, reason, otherwise, untestable
        As in `Above`.

    Examples
    --------
    >>> Below("3", "it falls", Estimate(2.0, 1.5, 2.5), 1, "any fall").decide(Runs(())).verdict
    'fails'
    """

    def expected(self, runs: Runs) -> tuple[float | None, tuple[float, float], str]:
        rule = f"the interval lies below {self.bound:.4g}: {self.reason}"
        return None, (-math.inf, self.bound), rule


@dataclass(frozen=True)
class Exponent(Slope, _Equals):
    """`y ~ of^equals`.

    Attributes
    ----------
    id, says, equals, within, otherwise, untestable
        As in `Constant`.
    y : str, or function of a run; an observable, `time` or `steps`
    of : str; a parameter
    among, where, at, last
        Which runs count, and how they are fitted, as in `Slope`.
    drift : bool, default False
        The words then say the range of `train_size`, and how the exponent changes over it.

    Examples
    --------
    >>> Exponent("1", "|w_perp| ~ T", "w_perp", of="temperature", equals=1).within.size
    0.1
    """

    drift: bool = False

    def measured(self, runs: Runs) -> tuple[Estimate | None, str]:
        if not self.drift:
            return self(runs), ""
        sizes, y = self.curve(runs)
        at = size_range(sizes[-self.last :])
        return self(runs), f" (effective exponent at {at}; {drift(sizes, y)})"


@dataclass(frozen=True)
class Collapses(_Equals):
    """Curves of several sizes fall onto one over `x / size^equals`.

    Attributes
    ----------
    id, says, equals, within, otherwise, untestable
        As in `Constant`.
    curves : function of the runs
        Such as `Mean("w1", over="batch").by("train_size")`.
    drift : bool, default False
        The words then say how the exponent changes over each 3 consecutive sizes; they always give
        the `chi2` of the best collapse, which decides nothing.
    how : dict
        Arguments of `sgdphase.stats.collapse`.

    Examples
    --------
    >>> Collapses("3", "B* ~ P^0.5", lambda runs: [], equals=0.5).decide(Runs(())).verdict
    'undecided'
    """

    curves: Callable[[Runs], Sequence[Curve]]
    drift: bool = False
    how: Mapping[str, Any] = field(default_factory=dict)
    otherwise: str = field(default="no best collapse", kw_only=True)

    def measured(self, runs: Runs) -> tuple[Estimate | None, str]:
        curves = self.curves(runs)
        best = collapse(curves, **self.how)
        fit = f"chi2 {best.chi2:.2g}"
        if not self.drift:
            return best.exponent, f" ({fit})"
        window = min(3, len(curves))
        moves = effective_collapses(curves, window=window, **self.how)
        return best.exponent, f" (effective exponent; {fit}; {listed(moves, window)})"


@dataclass(frozen=True)
class Each:
    """The same claims for each value of a parameter, such as `chi1.1a` for `1a` at `chi = 1`.

    Attributes
    ----------
    parameter : str
    claims : function of a value, which gives the claims about the runs that have it

    Examples
    --------
    >>> Each("chi", lambda chi: [Exponent("1a", "|w| ~ T", "norm", "temperature", 1)]).parameter
    'chi'
    """

    parameter: str
    claims: Callable[[float], Sequence[Decide]]

    def __call__(self, runs: Runs) -> list[Claim]:
        return [
            replace(claim, id=f"{self.parameter}{value:g}.{claim.id}")
            for value in runs.values(self.parameter)
            for part in self.claims(value)
            for claim in decided(part, runs.where(**{self.parameter: value}))
        ]


def decided(part: Decide, runs: Runs) -> list[Claim]:
    """The lines of the ledger that a part of a figure's claims gives."""
    if isinstance(part, Claim):
        return [part]
    if isinstance(part, Spec):
        return [part.decide(runs)]
    return [claim for each in part(runs) for claim in decided(each, runs)]


def _of(value: Any, runs: Runs) -> Any:
    return value(runs) if callable(value) else value
