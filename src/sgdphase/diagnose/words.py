"""The answer in words, numbers first."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sgdphase.diagnose.answer import Diagnosis, Limit
from sgdphase.diagram import Estimate, LinePoint, Regime

__all__ = ["answer_lines"]

_MEANS: dict[Regime, str] = {
    "noise-dominated": "what is learnt depends on lr/batch",
    "first-step-dominated": "what is learnt depends on lr, not on the batch",
    "GD": "what is learnt depends neither on lr nor on the batch",
    "diverged": "trainings at your point diverge",
    "missing": "no training at your point was fitted",
    "unclear": "between regimes, or too noisy to say",
}


def answer_lines(diagnosis: Diagnosis) -> list[str]:
    """The plain answer: the regime, boundaries, limits, `B*` and how it grows."""
    return [
        *_regime(diagnosis),
        *_boundaries(diagnosis),
        *_limits(diagnosis),
        *_critical(diagnosis),
        *_side_by_side(diagnosis),
    ]


def _regime(d: Diagnosis) -> Iterator[str]:
    sure = "" if d.confidence is None else f" (confidence {d.confidence:.2f})"
    if d.regime in ("unclear", "missing", "diverged"):
        yield f"Regime at lr {d.lr:g}, batch {d.batch}: cannot tell; {_MEANS[d.regime]}."
    else:
        yield f"Regime at lr {d.lr:g}, batch {d.batch}: {d.regime}{sure}; {_MEANS[d.regime]}."
    slopes = [f"{shown(s)} in {name}" for name, s in d.slopes.items() if s is not None]
    at = f"measured at {d.measured_at} points"
    if slopes:
        yield f"  slopes of log alignment: {', '.join(slopes)}; {at}"
    if d.measured_at < d.train_size:
        told = "cannot tell" if d.expected not in _MEANS or d.expected == "unclear" else d.expected
        yield f"  at all {d.train_size} points, by the growth of B*: {told}"


def _boundaries(d: Diagnosis) -> Iterator[str]:
    found = [size for size in d.sizes if size.train_size == d.measured_at]
    critical = found[0].critical_batch if found else None
    if critical is not None:
        yield (
            f"Boundaries at {d.measured_at} points: B* = {shown(critical)}, "
            f"{_doublings(critical.value / d.batch)} of batch away."
        )
    line = line_at(d.gd_line, d.batch, critical)
    if line is not None:
        yield (
            f"  GD line at batch {d.batch}: lr about {line:.3g}, "
            f"{_doublings(line / d.lr)} of lr away"
        )


def _limits(d: Diagnosis) -> Iterator[str]:
    yield (
        f"Largest batch at {d.train_size} points that learns the same, "
        f"at constant lr/batch: {_limit(d.constant_temperature)}"
    )
    yield f"  at constant lr: {_limit(d.constant_lr)}"


def _critical(d: Diagnosis) -> Iterator[str]:
    known = [size for size in d.sizes if size.critical_batch is not None]
    if known:
        each = [
            f"{shown(size.critical_batch)} at {size.train_size} points"
            for size in known
            if size.critical_batch is not None
        ]
        yield f"B* measured: {', '.join(each)}."
    if d.scaling is not None:
        yield (
            f"  grows as points^{shown(d.scaling.exponent)}, as in the paper's model with chi = "
            f"{shown(d.scaling.chi)}"
        )
        measured = {size.train_size for size in known}
        for size, value in d.scaling.extrapolated.items():
            if size not in measured:
                yield f"  extrapolated to {size} points: {shown(value)}"


def _side_by_side(d: Diagnosis) -> Iterator[str]:
    share = d.first_step_share
    if share is not None:
        said = f"First step's share of the final alignment: {shown(share)}"
        if share.value > 0:
            bound = d.batch / min(share.value, 1.0)
            yield f"{said}; by it alone B* is at most about {bound:.3g}."
        else:
            yield f"{said}; one step alone does not align, and bounds nothing."
    noise = {name: value for name, value in d.noise_scale.items() if math.isfinite(value)}
    if noise:
        where = {"start": "at the start", "epoch": "after one epoch"}
        each = [f"{value:.3g} {where.get(name, name)}" for name, value in noise.items()]
        yield f"Gradient noise scale: {', '.join(each)} (another question; it need not agree)."


def line_at(line: tuple[LinePoint, ...], batch: float, critical: Estimate | None) -> float | None:
    """The GD line at a batch: `T_c batch` below `B*`, level above it; None if not measured."""
    if not line or critical is None:
        return None
    if batch < critical.value:
        point = min(line, key=lambda p: p.batch)
        return point.lr * batch / point.batch if point.batch <= critical.value else None
    point = max(line, key=lambda p: p.batch)
    return point.lr if point.batch >= critical.value else None


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
    """A number with its interval.

    >>> shown(Estimate(52.8, 39.6, 66.9)), shown(Estimate(3.0, float("nan"), float("nan")))
    ('52.8 [39.6, 66.9]', '3 [no interval]')
    """
    if estimate is None:
        return "unknown"
    if not (math.isfinite(estimate.low) or math.isfinite(estimate.high)):
        return f"{estimate.value:.3g} [no interval]"
    return f"{estimate.value:.3g} [{estimate.low:.3g}, {estimate.high:.3g}]"


def _doublings(ratio: float) -> str:
    """How far, and which way.

    >>> _doublings(8), _doublings(0.5)
    ('3.0 doublings up', '1.0 halvings down')
    """
    steps = math.log2(ratio)
    return f"{steps:.1f} doublings up" if steps >= 0 else f"{-steps:.1f} halvings down"
