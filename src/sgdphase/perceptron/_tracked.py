"""Stretches of SGD in which the slack of every listed point is known at every step."""

from __future__ import annotations

import math

import numpy as np

from sgdphase.perceptron._hypergeometric import at_least_one
from sgdphase.perceptron._plan import (
    COST_ADDITION,
    COST_CHANGE,
    COST_GATHER,
    COST_JUMP,
    COST_SCAN,
    COST_SWEEP_DOT,
    LIST_SWEEPS,
)
from sgdphase.perceptron._random import draw_distinct, uniform
from sgdphase.perceptron._stretches import (
    CHANGING,
    LAST_CHANGE,
    PARTS,
    SNAPSHOTS,
    STEPS,
    snapshots_before,
)
from sgdphase.perceptron._vectors import (
    FASTMATH,
    add_rows,
    add_scaled,
    catch_up,
    displacement,
    dot,
    integers,
    matrix,
    part,
    rows_of,
    whole_lines,
    zeros,
)


@part(fastmath=FASTMATH)
def tracked(
    z, listed, threshold, rate, batch, radius, max_steps, none_drawn, spent, kept, kept_at,
    seen, w, clock, due, snapshots, state,
):  # fmt: skip
    """Jump from change to change, all unfitted points known, until `w` leaves the radius.

    Returns also if more are unfitted than `none_drawn` covers, if none is, and after enough work.
    Columns of the Gram matrix are computed for the list when first needed; those of points for
    which that was done over and over are computed for all points and kept from list to list.

    A step adds `rate sum_{mu in hits} z_mu` to `w`. What follows from it for the slacks is
    `rate delta`, `delta` the sum of the hits' columns; its length is known from `delta` as well
    (`|sum z|^2 = sum_{mu in hits} delta_mu`). So `w` itself is brought up to date only when a
    snapshot is due or the path made since may lead out of the radius.
    """
    size, dim = z.shape
    marked = listed.shape[0]
    rows = rows_of(z, listed)
    max_columns = max(min(marked, size * dim // marked), 1)  # no larger than the training set
    padded = whole_lines(marked)
    # Untouched memory costs nothing.
    columns = matrix(max_columns, padded)
    column_of = integers(marked)
    column_of[:] = -1
    known = 0
    unfitted = integers(marked + 1)
    places = integers(marked)
    delta = zeros(padded)
    slack = zeros(padded)  # z_mu . w - margin sqrt(d), negative where unfitted
    for i in range(marked):
        slack[i] = dot(rows[i], w) - threshold
    pending = zeros(marked)  # hits not yet added to w
    w_ref = w.copy()
    moved, path, work = 0.0, 0.0, 0.0
    while work < LIST_SWEEPS * size * COST_SWEEP_DOT:
        # Without branches: whether a point near the margin is unfitted cannot be predicted.
        count = np.int64(0)
        for i in range(marked):
            unfitted[count] = i
            count += 1 if slack[i] < 0.0 else 0
        if count == 0 or count >= none_drawn.shape[0]:
            break
        none = none_drawn[count]
        jump = 1.0
        if none > 0.0:
            jump += math.floor(math.log(1.0 - uniform(state)) / math.log(none))
        if jump > max_steps - clock[STEPS]:
            clock[STEPS] = max_steps
            break
        clock[STEPS] += np.int64(jump)
        clock[LAST_CHANGE] = clock[STEPS]
        clock[CHANGING] += 1
        if clock[SNAPSHOTS] < due.shape[0] and due[clock[SNAPSHOTS]] < clock[STEPS]:
            catch_up(w, rate, rows, pending)
            snapshots_before(clock[STEPS], w, clock, due, snapshots)
        hits = at_least_one(state, size, count, batch, none)
        draw_distinct(state, unfitted, count, hits)
        delta[:] = 0.0
        gathered = np.int64(0)
        for h in range(hits):
            i = unfitted[h]
            if column_of[i] < 0:
                seen[listed[i]] = True
                if known == max_columns:
                    add_rows(delta, columns, places, gathered)
                    gathered = np.int64(0)
                    column_of[:] = -1
                    known = 0
                column_of[i] = known
                _fill_column(z, listed[i], rows, listed, spent, kept, kept_at, columns[known])
                known += 1
                work += marked * (COST_SWEEP_DOT if kept_at[listed[i]] < 0 else COST_GATHER)
            places[gathered] = column_of[i]
            gathered += 1
        add_rows(delta, columns, places, gathered)
        clock[PARTS] += hits
        work += hits * (COST_CHANGE + marked * COST_ADDITION)
        squared_length = 0.0
        for h in range(hits):
            squared_length += delta[unfitted[h]]
            pending[unfitted[h]] += 1.0
        add_scaled(slack, rate, delta)
        path += rate * math.sqrt(max(squared_length, 0.0))
        work += COST_JUMP + marked * COST_SCAN
        if moved + path >= radius:
            catch_up(w, rate, rows, pending)
            moved, path = displacement(w, w_ref), 0.0
            # Close to the edge every step would have to be checked.
            if not moved < 0.97 * radius:
                break
    catch_up(w, rate, rows, pending)


@part(fastmath=FASTMATH)
def _fill_column(z, mu, rows, listed, spent, kept, kept_at, column):
    """Inner products of point `mu` with the listed points."""
    marked = listed.shape[0]
    if kept_at[mu] < 0:
        spent[mu] += marked
        used = spent[-1]
        if spent[mu] > z.shape[0] and used < kept.shape[0]:
            for nu in range(z.shape[0]):
                kept[used, nu] = dot(z[nu], z[mu])
            kept_at[mu] = used
            spent[-1] = used + 1
    if kept_at[mu] >= 0:
        source = kept[kept_at[mu]]
        for j in range(marked):
            column[j] = source[listed[j]]
    else:
        for j in range(marked):
            column[j] = dot(rows[j], z[mu])
    for j in range(marked, column.shape[0]):
        column[j] = 0.0
