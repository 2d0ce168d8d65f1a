"""How to make the next stretch of a training: the cheapest way, by estimated cost.

Nothing here changes the process; a bad estimate costs time only.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

PLAIN, LISTED, TRACKED = 0, 1, 2

# Costs in nanoseconds, measured roughly; they steer the choice of path and nothing else.
COST_FAR_DOT = 50.0  # dot product with a random row of the training set, with its draw
COST_NEAR_DOT = 40.0  # the same with a row of the compact list
COST_SWEEP_DOT = 20.0  # the same, row after row
COST_LISTING = 60.0  # making a list, per point
COST_LISTED_STEP = 80.0  # drawing how many listed points are in a batch
COST_JUMP = 200.0  # a step that changes the weights while tracking,
COST_SCAN = 1.5  # and more per listed point;
COST_CHANGE = 15.0  # per drawn point of such a step,
COST_ADDITION = 0.12  # and more per drawn point and listed point
COST_GATHER = 1.5  # copying an inner product from the columns that are kept
# Length of a stretch without and with a list, in sweeps over the data. After it the plan is made
# anew, as a (shorter) list may then be cheaper.
PLAIN_SWEEPS, LIST_SWEEPS = 16, 30
# Candidate radii: powers of sqrt(2), this many below and above the last displacement.
_RADII_BELOW, _RADII_ABOVE = 14, 6


@njit
def plan(safe, batch, kick, travelled, took, changing, parts, column_cost, trackable):
    """The kind of the next stretch and the radius of its list: the least cost per step.

    `safe` says how far `w` may move before each point can be unfitted. The last stretch moved `w`
    by `travelled` in `took` steps, `changing` of which changed it, with `parts` points in all and
    by `kick` for each point. So `c` changes move `w` by about `c noise^2 + (c drift)^2`, squared.
    """
    size = safe.shape[0]
    full = batch == size
    # A list must be clearly cheaper, since its cost is known only roughly.
    plain = batch * (COST_SWEEP_DOT if full else COST_FAR_DOT)
    kind, radius, least = PLAIN, math.inf, 0.75 * plain
    if took == 0 or travelled == 0.0:
        return kind, radius
    changing = max(changing, 1)
    noise = kick**2 * max(parts, 1) / changing
    drift = max(travelled**2 - changing * noise, 0.0) / changing**2
    counts = np.zeros(_RADII_BELOW + _RADII_ABOVE + 1, np.int64)
    for mu in range(size):
        bin = 0
        if safe[mu] > 0.0:
            bin = math.ceil(2.0 * math.log2(safe[mu] / travelled)) + _RADII_BELOW
        if bin < counts.shape[0]:
            counts[max(bin, 0)] += 1
    listed = 0
    for bin in range(counts.shape[0]):
        listed += counts[bin]
        reach = math.sqrt(2.0) ** (bin - _RADII_BELOW)
        changes = 2.0 * (reach * travelled) ** 2
        changes /= noise + math.sqrt(noise**2 + 2.0 * drift * changes)
        if reach >= 1.0:  # the last stretch would have stayed within
            changes = max(changes, changing)
        making = size * COST_LISTING / max(changes * took / changing, 1.0)
        met = batch * (listed / size)
        looking = met * COST_NEAR_DOT + min(1.0, 2.0 * met) * COST_LISTED_STEP
        if full:
            looking = met * COST_SWEEP_DOT
        if making + looking < least:
            kind, radius, least = LISTED, reach * travelled, making + looking
        tracking = (
            changing * (COST_JUMP + listed * COST_SCAN)
            + parts * (COST_CHANGE + listed * COST_ADDITION)
            + listed * column_cost
        ) / took
        if trackable and making + tracking < least:
            kind, radius, least = TRACKED, reach * travelled, making + tracking
    return kind, radius
