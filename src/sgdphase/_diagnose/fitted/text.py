"""The answer as text: which training it is about, then numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sgdphase._diagnose.fitted.answer import FittedDiagnosis, Limit
from sgdphase.diagram import TARGETS, Regime
from sgdphase.diagram._regimes import REACH
from sgdphase.stats import digits, power_or_digits, shown

_MEANS: dict[Regime, str] = {
    "noise-dominated": "what is learnt depends on lr/batch",
    "first-step-dominated": "what is learnt depends on lr, not on the batch",
    "GD": "what is learnt depends neither on lr nor on the batch",
}
# Slopes between two regimes mean a crossover, or a less steep law.
_BETWEEN: dict[frozenset[Regime], str] = {
    frozenset({"noise-dominated", "GD"}): (
        "what is learnt depends on lr/batch, but less than in proportion"
    ),
    frozenset({"first-step-dominated", "GD"}): (
        "what is learnt depends on lr, but less than in proportion, and not on the batch"
    ),
    frozenset({"noise-dominated", "first-step-dominated"}): (
        "what is learnt depends on lr, and on the batch, but less than in proportion"
    ),
}
_NOISE = {"start": "at the start", "epoch": "after one epoch"}


def answer_lines(diagnosis: FittedDiagnosis) -> list[str]:
    """The plain answer: which training, the regime, boundaries, limits, `B*` and how it grows.

    A line that begins with a space belongs to the one above it.
    """
    return [
        _training(diagnosis),
        *_regime(diagnosis),
        *_boundaries(diagnosis),
        *_limits(diagnosis),
        *_critical(diagnosis),
        *_also_measured(diagnosis),
    ]


def _training(d: FittedDiagnosis) -> str:
    """What the numbers are about, and what they are not."""
    part = "" if d.measured_at == d.train_size else f" of {d.train_size}"
    points = f"{d.measured_at}{part} points"
    if "loss" not in d.settings:
        return (
            f"Trained by train() of {d.settings.get('code', 'the user')}, which should end when "
            f"every point is fitted, not after a number of epochs: {points}"
        )
    loss, margin = d.settings["loss"], power_or_digits(d.settings["margin"], 6, below=1)
    return (
        f"Trained until every point is fitted ({loss} loss, margin {margin}, predictor f - f0), "
        f"not for a number of epochs: {points}"
    )


def _regime(d: FittedDiagnosis) -> Iterator[str]:
    sure = "" if d.confidence is None else f" (confidence {d.confidence:.2f})"
    if d.regime in _MEANS:
        slopes = [s.value if s else 0.0 for s in (d.slopes["lr"], d.slopes["batch"])]
        # More than half way from the regime's target to its border.
        border = math.dist(slopes, TARGETS[d.regime]) > REACH / 2
        name = f"{d.regime}{', near its border' if border else ''}{sure}"
        means = f"mostly, {_MEANS[d.regime]}" if border else _MEANS[d.regime]
    elif d.between is not None:
        name = f"between {d.between[0]} and {d.between[1]}"
        means = _BETWEEN[frozenset(d.between)]
    else:
        name, means = "cannot tell", d.reason
    part = "" if d.measured_at == d.train_size else f" of {d.train_size}"
    yield f"Regime: {name}, at lr {d.lr:g}, batch {d.batch}, {d.measured_at}{part} points"
    if means:
        yield f"  {means}"
    parts = [f"{shown(s)} in {name}" for name, s in d.slopes.items() if s is not None]
    if parts:
        yield f"  slopes of log alignment: {', '.join(parts)}"
    lr, batch = d.slopes.get("lr"), d.slopes.get("batch")
    if lr is not None and batch is not None:
        # By the slopes; adding 0.0 turns -0.0 into 0.0.
        at_lr = round(2.0**batch.value - 1, 2) + 0.0
        at_temperature = round(2.0 ** (lr.value + batch.value) - 1, 2) + 0.0
        yield (
            f"  twice the batch changes the alignment by {at_lr:+.0%} at constant lr, by "
            f"{at_temperature:+.0%} at constant lr/batch"
        )
    if part:
        expected = d.expected if d.expected in _MEANS else "cannot tell"
        yield f"  at all {d.train_size} points, by how B* grows: {expected}"


def _boundaries(d: FittedDiagnosis) -> Iterator[str]:
    critical = d.critical_batch_at(d.measured_at)
    if critical is None:
        return
    yield f"Boundaries at {d.measured_at} points"
    away = doublings(critical.value / d.batch, "the batch")
    yield f"  B* = {shown(critical)}, {away} from yours"
    line = d.gd_line_at(d.batch)
    if line is not None:
        yield f"  GD line at your batch: lr {line:.3g}, {doublings(line / d.lr, 'lr')} from yours"


def _limits(d: FittedDiagnosis) -> Iterator[str]:
    yield f"Largest batch that learns the same, at {d.train_size} points"
    limit = d.constant_temperature
    with_lr = ""
    if limit.kind == "up to" and limit.batch is not None:
        with_lr = f", there with lr {digits(d.lr * limit.batch.value / d.batch)}"
    yield f"  at constant lr/batch: {_limit(limit)}{with_lr}"
    yield f"  at constant lr: {_limit(d.constant_lr)}"


def _critical(d: FittedDiagnosis) -> Iterator[str]:
    known = d.critical_batches
    if known:
        yield "B* and the data"
    for points, value in known.items():
        yield f"  {shown(value)} at {points} points, measured"
    if d.scaling is None:
        return
    for points, value in d.scaling.extrapolated.items():
        yield f"  {shown(value)} at {points} points, extrapolated"
    yield (
        f"  B* grows as points^{shown(d.scaling.exponent)}, as in the paper's model at chi = "
        f"{shown(d.scaling.chi)}"
    )


def _also_measured(d: FittedDiagnosis) -> Iterator[str]:
    noise = {name: value for name, value in d.noise_scale.items() if math.isfinite(value)}
    share = d.first_step_share
    if share is None and not noise:
        return
    yield "Also measured"
    if share is not None:
        bound = d.first_step_bound
        bounds = "it may be zero, and gives no bound"
        if bound is not None:
            bounds = f"by it alone B* is at most about {shown(bound)}"
        yield f"  first step's share of the final alignment: {shown(share)}; {bounds}"
    if noise:
        each = [f"{value:.3g} {_NOISE.get(name, name)}" for name, value in noise.items()]
        yield f"  gradient noise scale: {', '.join(each)}; another question, it need not agree"


def _limit(limit: Limit) -> str:
    match limit.kind:
        case "any":
            return "any, up to the whole set"
        case "none":
            return "the present one; any larger batch changes what is learnt"
        case "up to" if limit.batch is not None:
            return shown(limit.batch)
        case _:
            return "cannot tell"


def doublings(ratio: float, what: str) -> str:
    """How far, and which way.

    >>> doublings(8, "the batch"), doublings(0.5, "lr")
    ('3.0 doublings of the batch', '1.0 halvings of lr')
    """
    steps = math.log2(ratio)
    return f"{abs(steps):.1f} {'doublings' if steps >= 0 else 'halvings'} of {what}"
