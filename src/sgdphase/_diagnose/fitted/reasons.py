"""Why runs have no usable alignment: each reason with its number of runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from sgdphase._records import Outcome
from sgdphase.stats import duration

_REASONS = ("diverged", "budget", "given up", "not positive", "failed")


def unusable(outcome: Outcome) -> str:
    """Why the alignment of a run has no logarithm; empty if it has one.

    >>> unusable(Outcome("fitted", 9, 1.0, {"alignment": -0.1}))
    'not positive'
    """
    if outcome.status != "fitted":
        if outcome.status == "budget" and not outcome.observables:
            return "given up"
        return outcome.status
    value = outcome.observables.get("alignment", math.nan)
    return "" if 0 < value < math.inf else "not positive"


def left_out(outcomes: Iterable[Outcome], waited: Sequence[float] = ()) -> str:
    """The reasons why runs cannot be used, as one line; empty if all can be used.

    `waited` are the seconds after which runs were given up.

    >>> left_out([Outcome("fitted", 9, 1.0, {"alignment": a}) for a in (0.2, -0.1)])
    '1 of 2 runs has an alignment that is not positive (-0.1)'
    >>> left_out([Outcome("budget", 9, 1.0, {"train_error": 0.2})] * 3)
    'cannot be fitted: 3 of 3 runs end at training error 20 %'
    """
    every = list(outcomes)
    groups = {reason: [o for o in every if unusable(o) == reason] for reason in _REASONS}
    texts = (_text(reason, group, len(every), waited) for reason, group in groups.items() if group)
    return "; ".join(texts)


def _text(reason: str, group: Sequence[Outcome], of: int, waited: Sequence[float]) -> str:
    one, count = len(group) == 1, f"{len(group)} of {of} run{'s' * (of > 1)}"
    match reason:
        case "budget":
            return _unfitted(group, count, one)
        case "given up":
            after = f" after {duration(max(waited))}" if waited else " as too slow"
            return f"{count} {'was' if one else 'were'} given up{after}"
        case "not positive":
            lowest = min(run.observables.get("alignment", math.nan) for run in group)
            where = f"{'' if one else 'down to '}{lowest:.2g}"
            return f"{count} {'has' if one else 'have'} an alignment that is not positive ({where})"
        case _:
            return f"{count} {reason}"


def _unfitted(group: Sequence[Outcome], count: str, one: bool) -> str:
    """Of runs that used up their epochs."""
    errors = [run.observables["train_error"] for run in group if "train_error" in run.observables]
    if not errors:
        return f"{count} {'was' if one else 'were'} cut off before every point was fitted"
    end, error = "ends" if one else "end", statistics.median(errors)
    if error == 0:
        return f"{count} {end} with every point on the right side, but some short of the margin"
    about = "" if max(errors) == min(errors) else "about "
    return f"cannot be fitted: {count} {end} at training error {about}{100 * error:.2g} %"
