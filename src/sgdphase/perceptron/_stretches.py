"""Stretches of SGD that compute the output of every point they draw.

All functions change `w` in place and count in `clock`.
"""

from __future__ import annotations

import math

import numpy as np

from sgdphase.perceptron._hypergeometric import drawn_from, table
from sgdphase.perceptron._plan import (
    COST_ADD,
    COST_DRAW,
    COST_LISTED_STEP,
    COST_NEAR_DOT,
    COST_SWEEP_DOT,
    LIST_SWEEPS,
)
from sgdphase.perceptron._random import below, draw_distinct, uniform
from sgdphase.perceptron._vectors import (
    FASTMATH,
    add_rows,
    add_scaled,
    copy_into,
    displacement,
    dot,
    inner,
    integers,
    numbers,
    part,
    rows_of,
    zeros,
)

# Shared by the stretches: `clock` counts, and a snapshot of `w` is due after certain steps.
# Of the last stretch: the steps that changed `w`, and the points' parts in them.
STEPS, LAST_CHANGE, SNAPSHOTS, CHANGING, PARTS = 0, 1, 2, 3, 4


@inner()
def snapshots_before(step, w, clock, due, snapshots):
    """Store `w` for every snapshot due before the change made at `step`."""
    while clock[SNAPSHOTS] < due.shape[0] and due[clock[SNAPSHOTS]] < step:
        copy_into(snapshots[clock[SNAPSHOTS]], w)
        clock[SNAPSHOTS] += 1


@part(fastmath=FASTMATH)
def plain(z, threshold, rate, batch, steps, items, seen, w, clock, due, snapshots, state):
    """Make `steps` steps with one dot product for every drawn point.

    Fewer if as many draws as there are points hit no unfitted one: it may be the end.
    """
    size, dim = z.shape
    gradient = zeros(dim)
    quiet = 0
    for _ in range(steps):
        clock[STEPS] += 1
        hits = 0
        for i in range(batch):
            mu = i + below(state, size - i)
            if batch > 1:
                items[i], items[mu] = items[mu], items[i]
                mu = items[i]
            row = z[mu]
            if dot(row, w) < threshold:
                add_scaled(gradient, 1.0, row)
                seen[mu] = True
                hits += 1
        quiet += batch
        if hits > 0:
            clock[PARTS] += hits
            quiet = 0
            snapshots_before(clock[STEPS], w, clock, due, snapshots)
            add_scaled(w, rate, gradient)
            gradient[:] = 0.0
            clock[LAST_CHANGE] = clock[STEPS]
            clock[CHANGING] += 1
        elif quiet >= size:
            break


@part(fastmath=FASTMATH)
def listed_only(
    z, listed, threshold, rate, batch, radius, max_steps, seen, w, clock, due, snapshots, state,
    sure=0, growth=math.inf,
):  # fmt: skip
    """Make steps that look at listed points only, until `w` leaves the radius or work is done.

    The first `sure` listed points are unfitted until then. The stretch also ends when `w1` has
    grown by `growth`.
    """
    size, dim = z.shape
    marked = listed.shape[0]
    rows = rows_of(z, listed)
    items = numbers(marked)
    unsure = integers(marked + 1)
    hit = integers(marked + 1)
    gradient = zeros(dim)
    w_ref = w.copy()
    first, cdf = table(size, marked, batch)
    # Where most batches hold no listed point, whole runs of them are jumped over.
    none = cdf[0] if first == 0 else 0.0
    log_none = math.log(none) if 0.5 < none < 1.0 else 0.0
    work = 0.0
    while work < LIST_SWEEPS * size * COST_SWEEP_DOT and clock[STEPS] < max_steps:
        target = uniform(state)
        if log_none < 0.0:
            jump = 1.0 + math.floor(math.log(1.0 - target) / log_none)
            if jump > max_steps - clock[STEPS]:
                clock[STEPS] = max_steps
                break
            clock[STEPS] += np.int64(jump)
            target = none + (1.0 - none) * uniform(state)
        else:
            clock[STEPS] += 1
        k = first + drawn_from(cdf, target)
        draw_distinct(state, items, marked, k)
        # Without branches: what is drawn cannot be predicted.
        hits, asked = np.int64(0), np.int64(0)
        for i in range(k):
            hit[hits] = unsure[asked] = items[i]
            is_sure = items[i] < sure
            hits += 1 if is_sure else 0
            asked += 0 if is_sure else 1
        for i in range(asked):
            hit[hits] = unsure[i]
            hits += 1 if dot(rows[unsure[i]], w) < threshold else 0
        work += COST_LISTED_STEP + k * COST_DRAW + asked * COST_NEAR_DOT + hits * COST_ADD
        if hits > 0:
            snapshots_before(clock[STEPS], w, clock, due, snapshots)
            add_rows(gradient, rows, hit, hits)
            add_scaled(w, rate, gradient)
            gradient[:] = 0.0
            for i in range(hits):
                seen[listed[hit[i]]] = True
            clock[PARTS] += hits
            clock[LAST_CHANGE] = clock[STEPS]
            clock[CHANGING] += 1
            if not (displacement(w, w_ref) < radius and w[0] - w_ref[0] < growth):
                break
