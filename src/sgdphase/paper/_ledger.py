"""A claim with its verdict, and the ledger of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from sgdphase._display import Columns, Shown
from sgdphase.stats import Estimate, digits

Verdict = Literal["holds", "fails", "undecided", "not testable"]
# What the paper says of its runs, what it derives, and what is not in it.
Ledger = Literal["paper", "theory", "ours"]
Scale = Literal["quick", "laptop", "paper"]


@dataclass(frozen=True, repr=False)
class Claim(Shown):
    """One line of the ledger, returned by `make`.

    Attributes
    ----------
    id : str
        Name of the figure and of the claim in it, as `fig4a.chi1.1a`.
    claim : str; in words
    predicted : float or None
    measured : Estimate or None; None where the runs do not determine it
    rule : str
        How the verdict follows from the interval, or why there is none.
    verdict : "holds", "fails", "undecided" or "not testable"
    cost : str
        What it would take to decide an undecided claim.
    more_seeds : float or None
        So many times the seeds would do, if the interval shrinks as their root; infinite if none.
    """

    id: str
    claim: str
    predicted: float | None
    measured: Estimate | None
    rule: str
    verdict: Verdict
    cost: str = ""
    more_seeds: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and texts; None instead of NaN."""
        nothing: dict[str, float | None] = dict.fromkeys(("value", "low", "high"))
        number = self.measured.as_dict() if self.measured else nothing
        return {
            "id": self.id, "claim": self.claim, "predicted": self.predicted,
            "measured": number["value"], "low": number["low"], "high": number["high"],
            "rule": self.rule, "verdict": self.verdict, "cost": self.cost,
        }  # fmt: skip

    def _lines(self) -> list[str]:
        predicted = "" if self.predicted is None else f", predicted {digits(self.predicted)}"
        measured = f"measured {self.measured}" if self.measured else "not measured"
        return [f"{self.id} {self.verdict}: {self.claim}", f"{measured}{predicted}; {self.rule}"]

    def _table(self) -> Columns:
        return {name: [value] for name, value in self.as_dict().items()}


class Claims(Shown, tuple[Claim, ...]):
    """The claims of a figure with their verdicts, returned by `make`: a tuple with a table.

    Its `scale` is that of the runs by which they were decided, None if it is not known.
    """

    scale: Scale | None

    def __new__(cls, claims: Iterable[Claim] = (), scale: Scale | None = None) -> Self:
        made = super().__new__(cls, claims)
        made.scale = scale
        return made

    def _lines(self) -> list[str]:
        return [totals([claim.as_dict() for claim in self])]

    def _summary(self) -> Columns:
        short = [claim.claim if len(claim.claim) < 80 else claim.claim[:77] + "..."
                 for claim in self]  # fmt: skip
        return {
            "id": [claim.id for claim in self], "verdict": [claim.verdict for claim in self],
            "measured": ["" if claim.measured is None else str(claim.measured) for claim in self],
            "predicted": [claim.predicted for claim in self], "claim": short,
        }  # fmt: skip

    def _table(self) -> Columns:
        rows = [claim.as_dict() for claim in self]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}


def totals(ledger: Sequence[Mapping[str, Any]]) -> str:
    """How many claims have each verdict.

    >>> totals([{"verdict": "holds"}, {"verdict": "fails"}])
    '2 claims: 1 hold, 1 fail, 0 undecided'
    """
    verdicts = [claim["verdict"] for claim in ledger]
    hold, fail, rest, never = map(verdicts.count, get_args(Verdict))
    text = f"{hold} hold, {fail} fail, {rest} undecided"
    text += f", {never} not testable" if never else ""
    return f"{len(ledger)} claim{'s' * (len(ledger) != 1)}: {text}"
