"""The answer in words, numbers first."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sgdphase.diagnose.answer import Diagnosis, Limit
from sgdphase.diagram import TARGETS, Estimate, Regime
from sgdphase.diagram.regimes import REACH

__all__ = ["answer_lines", "digits", "shown"]

_MEANS: dict[Regime, str] = {
    "noise-dominated": "what is learnt depends on lr/batch",
    "first-step-dominated": "what is learnt depends on lr, not on the batch",
    "GD": "what is learnt depends neither on lr nor on the batch",
}
# Slopes between those of two regimes are those of a crossover, or of a law less steep.
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
_WHY: dict[Regime, str] = {
    "diverged": "trainings there diverge",
    "missing": "no training there was fitted",
    "unclear": "too few trainings, or too noisy ones",
}
_NOISE = {"start": "at the start", "epoch": "after one epoch"}


def answer_lines(diagnosis: Diagnosis) -> list[str]:
    """The plain answer: the regime, boundaries, limits, `B*` and how it grows.

    A line that begins with a space belongs to the one above it.
    """
    return [
        *_regime(diagnosis),
        *_boundaries(diagnosis),
        *_limits(diagnosis),
        *_critical(diagnosis),
        *_side_by_side(diagnosis),
    ]


def _regime(d: Diagnosis) -> Iterator[str]:
    sure = "" if d.confidence is None else f" (confidence {d.confidence:.2f})"
    if d.regime in _MEANS:
        border = _is_near_border(d)
        said = f"{d.regime}{', near its border' if border else ''}{sure}"
        means = f"mostly, {_MEANS[d.regime]}" if border else _MEANS[d.regime]
    elif d.between is not None:
        said = f"between {d.between[0]} and {d.between[1]}"
        means = _BETWEEN[frozenset(d.between)]
    else:
        said, means = "cannot tell", _WHY.get(d.regime, _WHY["unclear"])
    part = "" if d.measured_at == d.train_size else f" of {d.train_size}"
    yield f"Regime: {said}, at lr {d.lr:g}, batch {d.batch}, {d.measured_at}{part} points"
    yield f"  {means}"
    slopes = [f"{shown(s)} in {name}" for name, s in d.slopes.items() if s is not None]
    if slopes:
        yield f"  slopes of log alignment: {', '.join(slopes)}"
    yield from _by_doubling(d)
    if part:
        told = d.expected if d.expected in _MEANS else "cannot tell"
        yield f"  at all {d.train_size} points, by how B* grows: {told}"


def _is_near_border(d: Diagnosis) -> bool:
    """Slopes more than half way from the regime's own to where it ends."""
    slopes = [
        0.0 if slope is None else slope.value for slope in (d.slopes["lr"], d.slopes["batch"])
    ]
    return math.dist(slopes, TARGETS[d.regime]) > REACH / 2


def _by_doubling(d: Diagnosis) -> Iterator[str]:
    """What a doubling of the batch does, by the slopes."""
    lr, batch = d.slopes.get("lr"), d.slopes.get("batch")
    if lr is None or batch is None:
        return
    at_lr, at_temperature = 2.0**batch.value - 1, 2.0 ** (lr.value + batch.value) - 1
    yield (
        f"  twice the batch changes the alignment by {at_lr:+.0%} at constant lr, by "
        f"{at_temperature:+.0%} at constant lr/batch"
    )


def _boundaries(d: Diagnosis) -> Iterator[str]:
    found = [size for size in d.sizes if size.train_size == d.measured_at]
    critical = found[0].critical_batch if found else None
    if critical is None:
        return
    yield f"Boundaries at {d.measured_at} points"
    away = _doublings(critical.value / d.batch, "the batch")
    yield f"  B* = {shown(critical)}, {away} from yours"
    line = d.gd_line_at(d.batch)
    if line is not None:
        yield f"  GD line at your batch: lr {line:.3g}, {_doublings(line / d.lr, 'lr')} from yours"


def _limits(d: Diagnosis) -> Iterator[str]:
    yield f"Largest batch that learns the same, at {d.train_size} points"
    limit = d.constant_temperature
    with_lr = ""
    if limit.kind == "up to" and limit.batch is not None:
        with_lr = f", there with lr {digits(d.lr * limit.batch.value / d.batch)}"
    yield f"  at constant lr/batch: {_limit(limit)}{with_lr}"
    yield f"  at constant lr: {_limit(d.constant_lr)}"


def _critical(d: Diagnosis) -> Iterator[str]:
    known = [size for size in d.sizes if size.critical_batch is not None]
    if known:
        yield "B* and the data"
    for size in known:
        yield f"  {shown(size.critical_batch)} at {size.train_size} points, measured"
    if d.scaling is None:
        return
    measured = {size.train_size for size in known}
    for points, value in d.scaling.extrapolated.items():
        if points not in measured:
            yield f"  {shown(value)} at {points} points, extrapolated"
    yield (
        f"  B* grows as points^{shown(d.scaling.exponent)}, as in the paper's model at chi = "
        f"{shown(d.scaling.chi)}"
    )


def _side_by_side(d: Diagnosis) -> Iterator[str]:
    noise = {name: value for name, value in d.noise_scale.items() if math.isfinite(value)}
    share = d.first_step_share
    if share is None and not noise:
        return
    yield "Beside it"
    if share is not None:
        bound = d.first_step_bound
        bounds = "it may be none, and bounds nothing"
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
            return "the present one; every raise changes what is learnt"
        case "up to" if limit.batch is not None:
            return shown(limit.batch)
        case _:
            return "cannot tell"


def shown(estimate: Estimate | None) -> str:
    """A number with its interval, to three digits.

    >>> shown(Estimate(52.83, 39.6, 1066.9)), shown(Estimate(3.0, float("nan"), float("nan")))
    ('52.8 [39.6, 1070]', '3 [no interval]')
    """
    if estimate is None:
        return "unknown"
    if not (math.isfinite(estimate.low) or math.isfinite(estimate.high)):
        return f"{digits(estimate.value)} [no interval]"
    low, high = (digits(edge) or "?" for edge in (estimate.low, estimate.high))
    return f"{digits(estimate.value)} [{low}, {high}]"


def digits(value: float, count: int = 3) -> str:
    """A number with that many digits, without a power of ten as long as it is readable.

    >>> digits(2421.7), digits(0.012345), digits(float("nan"))
    ('2420', '0.0123', '')
    """
    return "" if math.isnan(value) else f"{float(f'{value:.{count}g}'):.15g}"


def _doublings(ratio: float, what: str) -> str:
    """How far, and which way.

    >>> _doublings(8, "the batch"), _doublings(0.5, "lr")
    ('3.0 doublings of the batch', '1.0 halvings of lr')
    """
    steps = math.log2(ratio)
    return f"{abs(steps):.1f} {'doublings' if steps >= 0 else 'halvings'} of {what}"
