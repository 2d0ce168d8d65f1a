"""What an answer does not know, or warns of, with the true reason and what is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sgdphase._diagnose.answer import Diagnosis
from sgdphase._diagnose.learner import Trial
from sgdphase._own import UserProblem, UserTraining
from sgdphase._records import Outcome
from sgdphase.diagram._training_runs import Setting, went_up
from sgdphase.errors import listed
from sgdphase.stats import duration

EVERY = "every factor of two, with five seeds or more, would be measured"
_TOO_MANY = 100  # seeds: more are not suggested

_GIVEN_UP = "took far longer than the others and was given up"
_FAILURES: dict[str, Callable[[Outcome], bool]] = {
    "diverged (its loss is not finite)": lambda outcome: outcome.status == "diverged",
    "ended with a higher loss than it started with": lambda outcome: went_up(outcome.observables),
    _GIVEN_UP: lambda outcome: outcome.status == "budget",
}


def user_failures(yours: Setting, outcomes: Mapping[Trial, Outcome]) -> Iterator[str]:
    """Runs at the user's setting without a result."""
    mine = _runs_of(yours, outcomes)
    for what, happened in _FAILURES.items():
        if count := sum(map(happened, mine)):
            advice = "see whether it hangs" if what == _GIVEN_UP else "try a lower lr"
            yield f"everything: your training {what} in {count} of {len(mine)} seeds; {advice}"


def unused_seed(yours: Setting, outcomes: Mapping[Trial, Outcome]) -> Iterator[str]:
    """What it means if the user's training is the same in every seed."""
    first, *others = [outcome.observables for outcome in _runs_of(yours, outcomes)] or [{}]
    # One metric of few digits may agree once by chance.
    if len(others) * len(first) > 1 and all(each == first for each in others):
        yield (
            f"all {1 + len(others)} seeds of your training gave exactly the same: your code does "
            "not use the seed, and intervals and verdicts know nothing of the noise between seeds"
        )


def _runs_of(setting: Setting, outcomes: Mapping[Trial, Outcome]) -> list[Outcome]:
    place = (setting.lr, setting.batch, setting.epochs)
    return [o for trial, o in outcomes.items() if (trial.lr, trial.batch, trial.epochs) == place]


def named(batches: Sequence[int]) -> str:
    """Batches as text; empty if there are none.

    >>> named([32]), named([32, 64, 128]), named([])
    ('batch 32', 'batches 32, 64 and 128', '')
    """
    if not batches:
        return ""
    return f"batch{'es' * (len(batches) > 1)} {listed(map(str, batches), 'and')}"


def left_out_rows(batches: Sequence[int], enough: float | None) -> Iterator[str]:
    """Batches that a small budget left out; `enough` is one in seconds that is large enough."""
    if batches and enough is not None:
        yield f"{named(batches)}: with a budget of {duration(enough)} {EVERY}"


def no_stable_lr(batch: int, outcomes: Mapping[Trial, Outcome]) -> str:
    """Why a batch has no row."""
    here = {trial: outcome for trial, outcome in outcomes.items() if trial.batch == batch}
    what = [text for text, happened in _FAILURES.items() if any(map(happened, here.values()))]
    rates = len({trial.lr for trial in here})
    return f"batch {batch}: at each of the {rates} learning rates tried, a training {listed(what)}"


def open_verdicts(diagnosis: Diagnosis, most_seeds: int) -> Iterator[str]:
    """Rows without a verdict, and what it takes; a search adds up to `most_seeds` by itself."""
    tolerance = 0.0 if diagnosis.table is None else diagnosis.table.tolerance
    for row in diagnosis.equivalents:
        if row.verdict != "cannot tell":
            continue
        seeds = max(row.seeds_needed(tolerance), row.seeds + 1)
        needed = f"about {seeds} are needed"
        if not seeds <= _TOO_MANY:
            needed = (
                f"it is at the edge of what counts as the same: more than {_TOO_MANY} are needed"
            )
        elif row.seeds >= most_seeds:
            needed += f": --seeds {seeds}"
        yield f"whether batch {row.batch} is the same: {row.seeds} seeds leave it open; {needed}"


def open_regime(diagnosis: Diagnosis) -> Iterator[str]:
    """Why the regime is unknown, if the list does not say so yet."""
    listed_already = any(line.startswith("the regime:") for line in diagnosis.unknown)
    asked = diagnosis.table is not None and diagnosis.equivalents and diagnosis.is_sgd
    if diagnosis.regime.why and asked and not listed_already:
        yield f"the regime: {diagnosis.regime.why}"


def warnings_of(diagnosis: Diagnosis, user: UserTraining) -> Iterator[str]:
    """Warnings that follow from the table."""
    if diagnosis.table is None:
        return
    if diagnosis.equivalents and not diagnosis.table.observables:
        yield (
            "how far your training gets does not clearly depend on lr: the lr of a row is one that "
            "learns the same, and others may do so, too"
        )
    ours = diagnosis.table.yours.metrics.get("train_error")
    problem = user.problem
    if ours is None or not isinstance(problem, UserProblem):
        return
    if problem.points and problem.has_classes:
        constant = 1 - problem.most_common
        if ours.value >= 0.98 * constant:
            yield (
                f"your training learns nothing: its training error, {ours.value:.1%}, is that of "
                "always answering the most common class"
            )
