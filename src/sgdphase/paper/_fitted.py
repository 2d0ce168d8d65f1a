"""What a training has learnt at its end, where it has one.

A network at a high temperature may diverge, or lose its gradient and run until its budget is spent.
Neither has an alignment or an error *at zero loss*: both count as missing.
"""

from __future__ import annotations

from dataclasses import replace
from math import nan

from sgdphase.paper.runs import Runs


def fitted(runs: Runs) -> Runs:
    """The same runs, with NaN for all final numbers of those that did not fit their points."""
    # A training that diverged may lack numbers that the others have.
    nothing = dict.fromkeys((name for run in runs.runs for name in run.outcome.observables), nan)
    return Runs(
        tuple(
            run
            if run.outcome.status == "fitted"
            else replace(run, outcome=replace(run.outcome, observables=nothing))
            for run in runs.runs
        )
    )
