"""How far the batch may be raised: along constant `lr / batch`, and along constant `lr`.

Noise-dominated, what is learnt depends on `lr / batch` alone, up to `B*`; at constant `lr` every
raise changes it. First-step-dominated, it depends on `lr` alone: any batch at constant `lr`, none
at constant `lr / batch`. Under GD it depends on neither: any batch at constant `lr`, and at
constant `lr / batch` as far as `lr` stays below the GD line at large batch. In a crossover the way
that both of its regimes allow is open.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sgdphase._diagnose.fitted.answer import Limit
from sgdphase.diagram import LinePoint, Regime
from sgdphase.stats import Estimate

_UNKNOWN = Limit("unknown")


def carried(line: Sequence[LinePoint], critical: Estimate | None) -> tuple[LinePoint, ...]:
    """The GD line at another train size, whose `B*` is given: a point below `B*`, one above.

    In the paper's model `T_c` does not depend on the train size, and the level of the line above
    `B*` is `2 T_c B*`: it rises with `B*`. Nothing if the line was not measured below `B*`.
    """
    below = [point for point in line if critical is not None and point.batch < critical.value]
    if critical is None or not below:
        return ()
    point = min(below, key=lambda p: p.batch)
    twice_t, lr = 2 / point.batch, point.lr
    level = Estimate(
        twice_t * lr.value * critical.value,
        twice_t * lr.low * critical.low,
        twice_t * lr.high * critical.high,
    )
    return point, LinePoint(4 * critical.value, level)


def regime_at(
    measured: Regime,
    *,
    lr: float,
    batch: int,
    critical: Estimate | None,
    line: Sequence[LinePoint],
) -> Regime:
    """The regime at a larger train size than the one it was measured at, from its `B*`.

    `line` is the GD line at that size (`carried`). It rises with the size: what is under GD stays
    there, and what is noise-dominated stays so below `B*`. What was first-step-dominated may come
    to lie under the line, and below `B*` is noise-dominated if it does not.
    """
    if measured == "GD":
        return "GD"
    if measured not in ("noise-dominated", "first-step-dominated") or critical is None:
        return "unclear"
    if batch < critical.low and measured == "noise-dominated":
        return "noise-dominated"
    if len(line) < 2 or critical.low <= batch <= critical.high:
        return "unclear"
    rising, level = line
    scale = batch / rising.batch
    if batch < critical.low:
        low, high = rising.lr.low * scale, rising.lr.high * scale
    else:
        low, high = level.lr.low, level.lr.high
    if lr < low:
        return "GD"
    if lr > high:
        return "noise-dominated" if batch < critical.low else "first-step-dominated"
    return "unclear"


def limits(
    regimes: Collection[Regime],
    *,
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
    return top.lr.mapped(lambda edge: edge * batch / lr)


def _up_to(largest: Estimate | None, batch: int, train_size: int) -> Limit:
    """Between the present batch and the whole set."""
    if largest is None:
        return _UNKNOWN
    return Limit("up to", largest.mapped(lambda edge: min(max(edge, batch), train_size)))
