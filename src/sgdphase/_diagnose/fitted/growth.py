"""How `B*` grows with the data: a power law through a few sizes, extrapolated to larger ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sgdphase._diagnose.fitted.answer import Scaling, Size
from sgdphase.stats import LEVEL, REPLICATES, Estimate, interval, line_fit

# Half a central interval of this level, in standard deviations.
_HALF = 1.645


def growth(sizes: Sequence[Size], wanted: Sequence[int]) -> Scaling | None:
    """The law through the sizes whose `B*` has an interval; None for fewer than two.

    Each `log B*` is drawn from its interval, taken as that of a normal law; with three sizes or
    more, scatter about the line beyond that adds to the interval.
    """
    known = [(s.train_size, s.critical_batch) for s in sizes if s.critical_batch is not None]
    known = [(size, b) for size, b in known if np.isfinite([b.low, b.high]).all() and b.low > 0]
    if len({size for size, _ in known}) < 2:
        return None
    rng = np.random.default_rng(0)
    x = np.log2([size for size, _ in known])
    mean = np.log2([b.value for _, b in known])
    sigma = np.log2([b.high / b.low for _, b in known]) / (2 * _HALF)
    copies = mean + sigma * rng.standard_normal((REPLICATES, len(known)))
    (centre, slope), many = line_fit(x, mean, copies, rng)

    def at(size: int) -> Estimate:
        far = np.log2(size) - x.mean()
        return interval(2.0 ** (centre + slope * far), 2.0 ** (many[:, 0] + many[:, 1] * far))

    with np.errstate(divide="ignore"):
        chi = np.where(many[:, 1] > 0, 1 / many[:, 1] - 1, np.inf)
    # Where B* need not grow at all, no chi is too large.
    bounds = np.quantile(chi, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    implied = Estimate(float(1 / slope - 1) if slope > 0 else np.inf, *map(float, bounds))
    return Scaling(interval(float(slope), many[:, 1]), implied, {size: at(size) for size in wanted})
