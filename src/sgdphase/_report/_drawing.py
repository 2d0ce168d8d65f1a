"""Helpers of all pictures of a diagnosis."""

from __future__ import annotations

import io

import numpy as np
from matplotlib.figure import Figure

from sgdphase._diagnose.fitted.answer import FittedDiagnosis
from sgdphase._diagnose.fitted.reasons import unusable
from sgdphase._sweep import Run
from sgdphase.diagram import Regime
from sgdphase.diagram._style import BLUE, GREEN, ORANGE, save
from sgdphase.stats import Estimate

COLOURS: dict[Regime, str] = {
    "noise-dominated": ORANGE,
    "first-step-dominated": BLUE,
    "GD": GREEN,
}


def png(figure: Figure) -> bytes:
    """The picture as the bytes of a PNG file."""
    out = io.BytesIO()
    save(figure, out, format="png")
    return out.getvalue()


def alignment_of(run: Run) -> float | None:
    """The alignment of a fitted run, where it has a logarithm."""
    return None if unusable(run.outcome) else run.outcome.observables["alignment"]


def critical_batch_at(diagnosis: FittedDiagnosis, train_size: int) -> Estimate | None:
    """`B*` at this size, if it is known."""
    values = [s.critical_batch for s in diagnosis.sizes if s.train_size == train_size]
    return values[0] if values else None


def has_interval(estimate: Estimate) -> bool:
    """False for a number without interval, as from a single seed."""
    return bool(np.isfinite([estimate.low, estimate.high]).all())
