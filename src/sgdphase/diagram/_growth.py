"""How what was found in several tables of runs grows with what they differ in."""

from __future__ import annotations

from collections.abc import Sequence

from sgdphase.diagram._best_rates import BestRates
from sgdphase.diagram._steps import DEFINITIONS, CriticalBatch
from sgdphase.errors import InputError
from sgdphase.stats import Estimate, power_law


def growth(
    found: Sequence[BestRates] | Sequence[CriticalBatch], column: str
) -> dict[str, Estimate]:
    """Exponents of the best batch, or of the critical batches, in a column of `by`.

    Parameters
    ----------
    found : sequence of BestRates, or of CriticalBatch; three or more
    column : str
        A name in their `by`, with numbers.

    Examples
    --------
    >>> exact = [Estimate(size**0.5, size**0.5, size**0.5) for size in (1e2, 1e4, 1e6)]
    >>> batches = [CriticalBatch({"size": e.value**2}, e, e, e, 0.0) for e in exact]
    >>> round(growth(batches, "size")["crossover"].value, 6)
    0.5
    """
    if any(not isinstance(each.by.get(column), float) for each in found):
        names = ", ".join(found[0].by) if found else ""
        raise InputError(
            f"--growth {column}: must be a column of numbers in --by, which has {names or 'none'}"
        )
    estimates: dict[str, list[tuple[float, Estimate | None]]] = {}
    for each in found:
        named = (
            {"best batch": each.best_batch}
            if isinstance(each, BestRates)
            else {name: getattr(each, name) for name in DEFINITIONS}
        )
        for name, estimate in named.items():
            estimates.setdefault(name, []).append((each.by[column], estimate))
    laws = {}
    for name, pairs in estimates.items():
        known = [(x, estimate.value) for x, estimate in pairs if estimate is not None]
        if len({x for x, _ in known}) < 3:
            raise InputError(f"--growth {column}: {len(known)} tables have a {name}: must be 3")
        laws[name] = power_law(*zip(*known, strict=True)).exponent
    return laws
