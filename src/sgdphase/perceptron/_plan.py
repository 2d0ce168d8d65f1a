"""How to make the next stretch of a training: the cheapest way, by estimated cost.

Nothing here changes the process; a bad estimate costs time only.
"""

from __future__ import annotations

import math

from sgdphase.perceptron._vectors import inner, integers

PLAIN, LISTED, TRACKED = 0, 1, 2

# Costs in nanoseconds, measured roughly; they steer the choice of path and nothing else.
COST_FAR_DOT = 50.0  # dot product with a random row of the training set, with its draw
COST_NEAR_DOT = 10.0  # the same with a row of the compact list, without its draw
COST_SWEEP_DOT = 14.0  # the same, row after row
COST_DRAW = 5.0  # drawing a listed point
COST_ADD = 12.0  # adding the row of a drawn point
COST_LISTING = 35.0  # making a list, per point
COST_LISTED_STEP = 150.0  # drawing how many listed points are in a batch
COST_JUMP = 80.0  # a step that changes the weights while tracking,
COST_SCAN = 0.85  # and more per listed point;
COST_CHANGE = 10.0  # per drawn point of such a step,
COST_ADDITION = 0.09  # and more per drawn point and listed point
COST_GATHER = 1.5  # copying an inner product from the columns that are kept
COST_SLIDE = 60.0  # a step while sliding,
COST_SLIDE_POINT = 1.5  # and more per listed point
COST_SLIDE_PAIR = 0.015  # and per pair of them;
COST_SUBSETS = 11.0  # making its table, per pair
# Length of a stretch without and with a list, in sweeps over the data. After it the plan is made
# anew, as a (shorter) list may then be cheaper.
PLAIN_SWEEPS, LIST_SWEEPS = 16, 40
# The points that lists are made of: those within so many times the radius of the first list.
SCOPE = 8.0
# Candidate radii: powers of sqrt(2), this many below and above the last displacement.
_RADII_BELOW, _RADII_ABOVE = 14, 6


@inner()
def plan(
    safe, size, batch, unfitted, most, kick, travelled, took, changing, parts, column_cost,
    trackable,
):  # fmt: skip
    """The kind of the next stretch and the radius of its list: the least cost per step.

    `safe` says how far `w` may move before each point can change sides, negative for the
    `unfitted` ones, and is known up to `most`. The last stretch moved `w` by `travelled` in `took`
    steps, `changing` of which changed it, with `parts` points in all and by `kick` for each point.
    So `c` changes move `w` by about `c noise^2 + (c drift)^2`, squared.
    """
    full = batch == size
    # A list must be clearly cheaper, since its cost is known only roughly.
    plain = batch * (COST_SWEEP_DOT if full else COST_FAR_DOT)
    kind, radius, least = PLAIN, math.inf, 0.75 * plain
    if took == 0 or travelled == 0.0:
        return kind, radius
    changing = max(changing, 1)
    noise = kick**2 * max(parts, 1) / changing
    drift = max(travelled**2 - changing * noise, 0.0) / changing**2
    # The share of points that were drawn for the first time: a longer stretch draws more of them.
    fresh = min(column_cost / (COST_SWEEP_DOT * max(parts, 1)), 1.0)
    near = integers(_RADII_BELOW + _RADII_ABOVE + 1)
    near_unfitted = integers(_RADII_BELOW + _RADII_ABOVE + 1)
    for i in range(safe.shape[0]):
        reach = math.fabs(safe[i]) / travelled
        if reach <= math.sqrt(2.0) ** _RADII_ABOVE:
            bin = 0
            if reach > 0.0:
                bin = min(max(math.ceil(2.0 * math.log2(reach)), -_RADII_BELOW), _RADII_ABOVE)
                bin += _RADII_BELOW
            near[bin] += 1
            near_unfitted[bin] += 1 if safe[i] < 0.0 else 0
    unsure, sure = 0, unfitted
    for bin in range(near.shape[0]):
        unsure += near[bin]
        sure -= near_unfitted[bin]
        listed = unsure + sure
        reach = math.sqrt(2.0) ** (bin - _RADII_BELOW)
        if reach * travelled > most:
            break
        changes = 2.0 * (reach * travelled) ** 2
        changes /= noise + math.sqrt(noise**2 + 2.0 * drift * changes)
        if reach >= 1.0:  # the last stretch would have stayed within
            changes = max(changes, changing)
        steps = max(changes * took / changing, 1.0)
        making = safe.shape[0] * COST_LISTING + listed * COST_FAR_DOT
        if full:
            looking = unsure * COST_SWEEP_DOT
            tracking = sliding_cost(unsure) + unsure**2 * COST_SUBSETS / steps
        else:
            met, met_unsure = batch * (listed / size), batch * (unsure / size)
            looking = met * (COST_DRAW + COST_ADD) + met_unsure * COST_NEAR_DOT
            looking += min(1.0, 2.0 * met) * COST_LISTED_STEP
            tracking = (
                changing * (COST_JUMP + listed * COST_SCAN)
                + parts * (COST_CHANGE + listed * COST_ADDITION)
            ) / took + listed * column_cost * max(1.0, fresh * steps / took) / steps
        looking += making / steps
        tracking += making / steps
        if looking < least:
            kind, radius, least = LISTED, reach * travelled, looking
        if trackable and tracking < least:
            kind, radius, least = TRACKED, reach * travelled, tracking
    return kind, radius


@inner()
def sliding_cost(listed):
    """Of a step with so many listed points."""
    return COST_SLIDE + listed * (COST_SLIDE_POINT + listed * COST_SLIDE_PAIR)
