"""What an answer does not know, or must warn of, with the true reason and what it would take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sgdphase._diagnose.answer import Diagnosis
from sgdphase._diagnose.learner import Trial
from sgdphase._diagnose.text import listed
from sgdphase._records import Outcome
from sgdphase.diagram._training_runs import Setting, went_up
from sgdphase.own import UserTraining

__all__ = [
    "named", "no_stable_lr", "nothing_learnt", "open_regime", "open_verdicts", "own_failures",
]  # fmt: skip

_TOO_MANY = 100  # seeds that nobody would wait for

_FAILURES: dict[str, Callable[[Outcome], bool]] = {
    "diverged (its loss is not finite)": lambda outcome: outcome.status == "diverged",
    "ended with a higher loss than it started with": lambda outcome: went_up(outcome.observables),
    "took far longer than others and was given up": lambda outcome: outcome.status == "budget",
}


def own_failures(yours: Setting, outcomes: Mapping[Trial, Outcome]) -> Iterator[str]:
    """Runs of the user's own setting that came to nothing."""
    mine = [
        outcome
        for trial, outcome in outcomes.items()
        if (trial.lr, trial.batch, trial.epochs) == (yours.lr, yours.batch, yours.epochs)
    ]
    for what, happened in _FAILURES.items():
        if count := sum(map(happened, mine)):
            yield (
                f"everything: your own training {what} in {count} of {len(mine)} seeds; try a "
                "lower lr"
            )


def named(batches: Sequence[int]) -> str:
    """Batches as they are spoken of; nothing if there are none.

    >>> named([32]), named([32, 64, 128]), named([])
    ('batch 32', 'batches 32, 64 and 128', '')
    """
    if not batches:
        return ""
    return f"batch{'es' * (len(batches) > 1)} {listed(batches)}"


def no_stable_lr(batch: int, outcomes: Mapping[Trial, Outcome]) -> str:
    """Why a batch has no row."""
    rates = {trial.lr for trial in outcomes if trial.batch == batch}
    return (
        f"batch {batch}: at each of {len(rates)} learning rates that were tried a training "
        "diverged or ended with a higher loss than it started with"
    )


def open_verdicts(found: Diagnosis) -> Iterator[str]:
    """Rows that cannot tell, and how many seeds they would take."""
    tolerance = 0.0 if found.table is None else found.table.tolerance
    for row in found.equivalents:
        if row.verdict != "cannot tell":
            continue
        seeds = row.seeds_needed(tolerance)
        needed = f"it would take about {max(seeds, row.seeds + 1)}"
        if not seeds <= _TOO_MANY:
            needed = f"it would take more than {_TOO_MANY}"
        yield f"whether batch {row.batch} is the same: {row.seeds} seeds leave it open, {needed}"


def open_regime(found: Diagnosis) -> Iterator[str]:
    """Why the regime has no name, where it could have one and nothing was said of it yet."""
    said = any(line.startswith("the regime:") for line in found.unknown)
    asked = found.table is not None and found.equivalents and found.is_sgd
    if found.regime.why and asked and not said:
        yield f"the regime: {found.regime.why}"


def nothing_learnt(found: Diagnosis, user: UserTraining) -> Iterator[str]:
    """A training that does no better than a constant answer."""
    ours = None if found.table is None else found.table.yours.metrics.get("train_error")
    if ours is not None and user.problem.points and user.problem.has_classes:
        constant = 1 - user.problem.most_common
        if ours.value >= 0.98 * constant:
            yield (
                f"your training learns nothing: its training error, {ours.value:.1%}, is that of "
                "always answering the most common class"
            )
