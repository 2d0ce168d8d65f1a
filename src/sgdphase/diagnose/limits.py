"""How far the batch may be raised: along constant `lr / batch`, and along constant `lr`.

Noise-dominated, what is learnt depends on `lr / batch` alone, up to `B*`; at constant `lr` every
raise changes it. First-step-dominated, it depends on `lr` alone: any batch at constant `lr`, none
at constant `lr / batch`. Under GD it depends on neither: any batch at constant `lr`, and at
constant `lr / batch` as far as `lr` stays below the GD line at large batch. In a crossover the way
that both of its regimes allow is open.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sgdphase.diagnose.answer import Limit
from sgdphase.diagram import Estimate, LinePoint, Regime

_UNKNOWN = Limit("unknown")


def regime_at(
    measured: Regime, lr: float, batch: int, critical: Estimate | None, line: Sequence[LinePoint]
) -> Regime:
    """The regime at a larger train size than the one it was measured at, from its `B*`.

    In the paper's model `T_c` does not depend on the train size, and the GD line above `B*` is at
    `2 T_c B*`: it rises with `B*`. A point under GD stays there. Another is noise-dominated below
    `B*`; above it is first-step-dominated if it is above that line, which takes `T_c` to tell.
    """
    if measured == "GD":
        return "GD"
    if measured not in ("noise-dominated", "first-step-dominated") or critical is None:
        return "unclear"
    if batch < critical.low:
        return "noise-dominated"
    below = [point for point in line if point.batch < critical.value]
    if batch > critical.high and below:
        point = min(below, key=lambda p: p.batch)
        if lr > 2 * critical.high * point.high / point.batch:
            return "first-step-dominated"
        if lr < 2 * critical.low * point.low / point.batch:
            return "GD"
    return "unclear"


def limits(
    regimes: Collection[Regime],
    lr: float,
    batch: int,
    train_size: int,
    critical: Estimate | None,
    line: Sequence[LinePoint],
) -> tuple[Limit, Limit]:
    """At constant temperature and at constant learning rate, in a regime or between two."""
    here = Limit("none", Estimate(batch, batch, batch))
    any_batch = Limit("any", Estimate(train_size, train_size, train_size))
    if set(regimes) in ({"noise-dominated"}, {"noise-dominated", "GD"}):
        return _up_to(critical, batch, train_size), here
    if set(regimes) in ({"first-step-dominated"}, {"first-step-dominated", "GD"}):
        return here, any_batch
    if set(regimes) == {"GD"}:
        return _up_to(_below_line(lr, batch, critical, line), batch, train_size), any_batch
    return _UNKNOWN, _UNKNOWN


def _below_line(
    lr: float, batch: int, critical: Estimate | None, line: Sequence[LinePoint]
) -> Estimate | None:
    """The batch at which `lr`, raised with it, meets the GD line above `B*`."""
    above = [point for point in line if critical is not None and point.batch > critical.value]
    if not above:
        return None
    top = max(above, key=lambda point: point.batch)
    return Estimate(*(edge * batch / lr for edge in (top.lr, top.low, top.high)))


def _up_to(found: Estimate | None, batch: int, train_size: int) -> Limit:
    """Between the present batch and the whole set."""
    if found is None:
        return _UNKNOWN
    value, low, high = (
        min(max(edge, batch), train_size) for edge in (found.value, found.low, found.high)
    )
    return Limit("up to", Estimate(float(value), float(low), float(high)))
