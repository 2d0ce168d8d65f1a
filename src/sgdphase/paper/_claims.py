"""A claim of the paper, what was measured, and the verdict.

Two rules decide all claims; each claim names its own numbers and their reason before it is run.

- *equal*: the interval of the measured number lies within `predicted +- tolerance`: it holds. The
  interval lies outside altogether: it fails. Otherwise the data cannot tell.
- *above*, *below*: the same with a half line.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

Verdict = Literal["holds", "fails", "undecided"]


class Measured(Protocol):
    """A number with its interval, such as `sgdphase.diagram.Estimate`."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


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
    id: str, claim: str, measured: Measured, predicted: float, tolerance: float, reason: str
) -> Claim:
    """The measured number is the predicted one, up to a tolerance."""
    rule = f"the interval lies within {predicted:.4g} +- {tolerance:.3g}: {reason}"
    return _claim(
        id, claim, measured, predicted, rule, predicted - tolerance, predicted + tolerance
    )


def above(id: str, claim: str, measured: Measured, bound: float, reason: str) -> Claim:
    """The measured number is above a bound."""
    rule = f"the interval lies above {bound:.4g}: {reason}"
    return _claim(id, claim, measured, None, rule, bound, math.inf)


def below(id: str, claim: str, measured: Measured, bound: float, reason: str) -> Claim:
    """The measured number is below a bound."""
    rule = f"the interval lies below {bound:.4g}: {reason}"
    return _claim(id, claim, measured, None, rule, -math.inf, bound)


def untested(id: str, claim: str, predicted: float | None, reason: str) -> Claim:
    """The runs do not reach far enough to say anything."""
    return Claim(id, claim, predicted, None, None, None, reason, "undecided")


def _claim(
    id: str,
    claim: str,
    measured: Measured,
    predicted: float | None,
    rule: str,
    first: float,
    last: float,
) -> Claim:
    value, low, high = (_plain(x) for x in (measured.value, measured.low, measured.high))
    verdict: Verdict = "undecided"
    if low is not None and high is not None:
        if first <= low and high <= last:
            verdict = "holds"
        elif high < first or last < low:
            verdict = "fails"
    return Claim(id, claim, _plain(predicted), value, low, high, rule, verdict)


def _plain(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
