"""A claim of the paper, what was measured, and the verdict.

Two rules decide all claims; each claim names its numbers and their reason before it is run.

- *equal*: the interval of the measured number lies within `predicted +- tolerance`: it holds. The
  interval lies outside altogether: it fails. Otherwise it is undecided.
- *above*, *below*: the same with a half line.

`Exponent` and `Collapses` are specifications of claims, called with the runs of a figure. A claim
that fits neither is a function of the runs that returns `equal(...)`, `above(...)`, `below(...)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from sgdphase._typing import Mask
from sgdphase.errors import InputError
from sgdphase.paper.measure import exponents, listed
from sgdphase.paper.runs import Runs
from sgdphase.stats import Curve, Estimate, collapse, effective_collapses

Verdict = Literal["holds", "fails", "undecided"]
Scale = Literal["quick", "laptop", "paper"]

# Regimes differ by 1 in the exponents of lr, batch and T.
TENTH = 0.1
TENTH_REASON = "regimes differ by 1 in it; a tenth allows for the width of the crossovers"

# The paper gives the exponents of its networks to a tenth, and b = 2 +- 0.1 distinguishes chi = 1
# from 0.8 and from 1.2.
PRECISION_REASON = "a tenth is the precision to which the paper gives exponents"

# gamma = 1/(1+chi) and b - 1 = 2 gamma: an exponent that is right within a fifth of gamma (for b,
# of 2 gamma) gives 1 + chi within a fifth. The chi of the figures differ by factors of two in it.
PART = 0.2
PART_REASON = "it then gives 1 + chi within a fifth, and the chi drawn here differ by factors of 2"


@dataclass(frozen=True)
class Claim:
    """One line of the ledger."""

    id: str
    claim: str
    predicted: float | None
    measured: float | None
    low: float | None
    high: float | None
    rule: str
    verdict: Verdict

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def equal(
    id: str,
    claim: str,
    measured: Estimate | None,
    predicted: float,
    tolerance: float,
    reason: str,
    otherwise: str = "",
) -> Claim:
    """The measured number is the predicted one, up to a tolerance.

    `otherwise` says why there may be no number.
    """
    if measured is None:
        return untested(id, claim, float(predicted), otherwise)
    rule = f"the interval lies within {predicted:.4g} +- {tolerance:.3g}: {reason}"
    bounds = predicted - tolerance, predicted + tolerance
    return _claim(id, claim, measured, predicted, rule, bounds)


def above(id: str, claim: str, measured: Estimate, bound: float, reason: str) -> Claim:
    """The measured number is above a bound."""
    rule = f"the interval lies above {bound:.4g}: {reason}"
    return _claim(id, claim, measured, None, rule, (bound, math.inf))


def below(id: str, claim: str, measured: Estimate, bound: float, reason: str) -> Claim:
    """The measured number is below a bound."""
    rule = f"the interval lies below {bound:.4g}: {reason}"
    return _claim(id, claim, measured, None, rule, (-math.inf, bound))


def untested(id: str, claim: str, predicted: float | None, reason: str) -> Claim:
    """The runs do not reach far enough to say anything."""
    return Claim(id, claim, predicted, None, None, None, reason, "undecided")


# From the runs of a figure and their scale, some lines of the ledger.
Decide = Callable[[Runs, Scale], Sequence[Claim]]
# The words of a claim, which may say what else was measured.
Text = str | Callable[[Runs], str]


@dataclass(frozen=True)
class Exponent:
    """`y ~ of^equals` over the runs that `where` keeps, at fixed values of the other parameters.

    `among` are the parameters that vary there, `of` one of them. `otherwise` says why these runs
    may not determine the exponent.
    """

    id: str
    says: Text
    y: str
    of: str
    equals: float
    among: Sequence[str]
    where: Callable[[Runs], Mask]
    within: float = TENTH
    reason: str = TENTH_REASON
    otherwise: str = "too few cells in this regime"

    def __call__(self, runs: Runs, scale: Scale) -> list[Claim]:
        measured = exponents(runs.table(), self.y, self.among, self.where(runs)).get(self.of)
        rule = self.equals, self.within, self.reason, self.otherwise
        return [equal(self.id, _text(self.says, runs), measured, *rule)]


@dataclass(frozen=True)
class Collapses:
    """Curves of several sizes fall onto one over `x / size^equals`.

    With a `window` the claim lists the exponents of so many consecutive sizes. `how` goes to
    `sgdphase.stats.collapse`.
    """

    id: str
    says: Text
    curves: Callable[[Runs], Sequence[Curve]]
    equals: float
    within: float = TENTH
    reason: str = TENTH_REASON
    window: int | None = None
    how: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, runs: Runs, scale: Scale) -> list[Claim]:
        claim, curves = _text(self.says, runs), self.curves(runs)
        try:
            best = collapse(curves, **self.how)
            if self.window is not None:
                window = min(self.window, len(curves))
                moves = effective_collapses(curves, window=window, **self.how)
                claim += f" (effective exponent; {listed(moves, window)})"
        except InputError as error:
            reason = f"no best collapse ({error})"
            return [untested(self.id, claim, self.equals, reason)]
        return [equal(self.id, claim, best.exponent, self.equals, self.within, self.reason)]


@dataclass(frozen=True)
class Each:
    """The same claims for each value of a parameter, such as `chi1.1a` for `1a` at `chi = 1`."""

    parameter: str
    claims: Callable[[float], Sequence[Decide]]

    def __call__(self, runs: Runs, scale: Scale) -> list[Claim]:
        return [
            replace(claim, id=f"{self.parameter}{value:g}.{claim.id}")
            for value in runs.values(self.parameter)
            for decide in self.claims(value)
            for claim in decide(runs.where(**{self.parameter: value}), scale)
        ]


def _text(says: Text, runs: Runs) -> str:
    return says if isinstance(says, str) else says(runs)


def _claim(
    id: str,
    claim: str,
    measured: Estimate,
    predicted: float | None,
    rule: str,
    bounds: tuple[float, float],
) -> Claim:
    (first, last), number = bounds, measured.as_dict()
    value, low, high = number["value"], number["low"], number["high"]
    verdict: Verdict = "undecided"
    if low is not None and high is not None:
        if first <= low and high <= last:
            verdict = "holds"
        elif high < first or last < low:
            verdict = "fails"
    expected = float(predicted) if predicted is not None and math.isfinite(predicted) else None
    return Claim(id, claim, expected, value, low, high, rule, verdict)
