"""Stretches of gradient descent: at full batch nothing is drawn.

Both end when `w` has moved by `radius`, or `w1` has grown by `growth`. Until then only listed
points can change sides. All other unfitted points are the same at every step.
"""

from __future__ import annotations

import math

import numpy as np

from sgdphase.perceptron._stretches import CHANGING, LAST_CHANGE, SNAPSHOTS, STEPS, snapshots_before
from sgdphase.perceptron._vectors import (
    FASTMATH,
    add_rows,
    add_scaled,
    catch_up,
    copy_into,
    displacement,
    dot,
    flags,
    integers,
    matrix,
    part,
    rows_of,
    whole_lines,
    zeros,
)

# Points of a group, whose 16 subsets all have their sum in a table.
_GROUP, _SUBSETS = 4, 16


@part(fastmath=FASTMATH)
def descend(
    z, listed, threshold, rate, radius, growth, steps, sure, gradient, w, clock, due, snapshots
):
    """Make `steps` steps with one dot product for every listed point.

    `gradient`, first the sum over the `sure` unfitted points that are not listed, changes only
    where a point changes sides.
    """
    rows = z if listed.shape[0] == z.shape[0] else rows_of(z, listed)
    unfitted = flags(listed.shape[0])
    w_ref = w.copy()
    for _ in range(steps):
        any_unfitted = sure > 0
        for i in range(rows.shape[0]):
            row = rows[i]
            is_unfitted = dot(row, w) < threshold
            any_unfitted |= is_unfitted
            if is_unfitted != unfitted[i]:
                unfitted[i] = is_unfitted
                add_scaled(gradient, 1.0 if is_unfitted else -1.0, row)
        if not any_unfitted:
            break
        clock[STEPS] += 1
        clock[LAST_CHANGE] = clock[STEPS]
        clock[CHANGING] += 1
        snapshots_before(clock[STEPS], w, clock, due, snapshots)
        add_scaled(w, rate, gradient)
        if not (displacement(w, w_ref) < radius and w[0] - w_ref[0] < growth):
            break


@part(fastmath=FASTMATH)
def slide(
    z, listed, threshold, rate, radius, growth, steps, sure, gradient, w, clock, due, snapshots
):
    """Make `steps` steps with the slack of every listed point known, by their inner products.

    Late in training many listed points change sides at every step, so the sum over the unfitted
    ones is made anew. Points are in groups of four, and the inner products of the sum of each
    subset of a group with all listed points are in a table: one addition for each group.

    `gradient` is the sum over the `sure` unfitted points that are not listed. A step adds
    `rate g` to `w` and `rate delta` to the slacks, `delta_mu = z_mu . g`. The length of `g` is
    known from `delta` as well (`g . g = sum_{mu unfitted} z_mu . g`). So `w` itself is brought up
    to date only when a snapshot is due or the path made since may lead out of the radius.
    """
    marked = listed.shape[0]
    rows = matrix(marked + 1, z.shape[1])
    for i in range(marked):
        copy_into(rows[i], z[listed[i]])
    copy_into(rows[marked], gradient)
    groups = (marked + _GROUP - 1) // _GROUP
    padded = whole_lines(marked)
    sums = _subset_sums(rows[:marked], groups)
    base, delta, slack = zeros(padded), zeros(padded), zeros(padded)
    pending = zeros(padded + 1)  # how often each row is still to be added to w
    for i in range(marked):
        base[i] = dot(rows[i], gradient)
        slack[i] = dot(rows[i], w) - threshold
    base_length = dot(gradient, gradient)
    chosen = integers(groups + 1)
    w_ref = w.copy()
    moved, grown, path = 0.0, 0.0, 0.0
    began = clock[STEPS]
    step = began
    while step < began + steps:
        count = np.int64(0)
        for g in range(groups):
            i = g * _GROUP
            subset = (1 if slack[i] < 0.0 else 0) + (2 if slack[i + 1] < 0.0 else 0)
            subset += (4 if slack[i + 2] < 0.0 else 0) + (8 if slack[i + 3] < 0.0 else 0)
            chosen[count] = g * _SUBSETS + subset
            count += 1 if subset > 0 else 0
        if count == 0 and sure == 0:
            break
        step += 1
        if clock[SNAPSHOTS] < due.shape[0] and due[clock[SNAPSHOTS]] < step:
            catch_up(w, rate, rows, pending)
            snapshots_before(step, w, clock, due, snapshots)
        for i in range(padded):
            delta[i] = base[i]
        add_rows(delta, sums, chosen, count)
        squared_length = base_length
        for i in range(padded):
            part = 1.0 if slack[i] < 0.0 else 0.0
            pending[i] += part
            squared_length += part * (base[i] + delta[i])
            slack[i] += rate * delta[i]
        pending[marked] += 1.0
        path += rate * math.sqrt(max(squared_length, 0.0))
        if not (moved + path < radius and grown + path < growth):
            catch_up(w, rate, rows, pending)
            moved, grown, path = displacement(w, w_ref), w[0] - w_ref[0], 0.0
            # Close to the edge every step would have to be checked.
            if not (moved < 0.97 * radius and grown < 0.97 * growth):
                break
    catch_up(w, rate, rows, pending)
    clock[CHANGING] += step - began
    clock[STEPS] = clock[LAST_CHANGE] = step


@part(fastmath=FASTMATH)
def _subset_sums(rows, groups):
    """Row `16 g + subset`: the inner products of the sum of a subset of group `g` with all rows."""
    marked = rows.shape[0]
    sums = np.zeros((groups * _SUBSETS, whole_lines(marked)))
    for i in range(marked):
        at = (i // _GROUP) * _SUBSETS + (1 << i % _GROUP)
        for j in range(i + 1):
            product = dot(rows[i], rows[j])
            sums[at, j] = product
            sums[(j // _GROUP) * _SUBSETS + (1 << j % _GROUP), i] = product
    for g in range(groups):
        first = g * _SUBSETS
        for subset in range(3, _SUBSETS):
            lowest = subset & -subset
            if lowest != subset:
                a, b, c = sums[first + subset], sums[first + lowest], sums[first + subset - lowest]
                for j in range(marked):
                    a[j] = b[j] + c[j]
    return sums
