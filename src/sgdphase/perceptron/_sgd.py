"""Exact SGD of the perceptron with skip-ahead.

The process (SI 1.A): at every step a fresh batch of `B` distinct points out of `P`, and

    w <- w + (lr / B) sum_{mu in batch, unfitted} z_mu / sqrt(d),      z_mu = y_mu x_mu,

until no point is unfitted, i.e. `z_mu . w >= margin sqrt(d)` for all. A batch of fitted points does
nothing, and late in training nearly all are fitted, so the plain loop spends its time on dot
products that change nothing. Three facts remove most of them without changing the process.

1. *A list of points with a safe radius.* If `z_mu . w_ref - margin sqrt(d) = c_mu > 0` at some
   `w_ref`, the point stays fitted while `|w - w_ref| < c_mu / |z_mu|` (Cauchy and Schwarz). Points
   beyond a radius need not be looked at until the weights have moved that far. A growing `w1`
   only helps, since `z_1 = |x_1| >= 0`, so it does not count as movement.
2. *Drawing only what matters.* The batch meets the list in a hypergeometric number of points, all
   subsets equally likely: that number is drawn, then that many points of the list.
3. *Tracking.* With the inner products of the list known (columns of its Gram matrix, computed when
   first needed), a change of the weights costs one addition per listed point, every unfitted
   point is known at every step, and the steps whose batch holds none are jumped over at once:
   their number is geometric.

`run_sgd` alternates stretches of three kinds, all the same process in distribution: `_plain` (draws
from all points), `_listed` (1 and 2) and `_tracked` (1 to 3). Which one, and the radius of the
list, is a matter of cost alone: `_plan` takes the cheapest if the weights go on moving as they did.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from sgdphase.perceptron._hypergeometric import at_least_one, chances_of_none, table
from sgdphase.perceptron._random import below, draw_distinct, uniform

# Reassociating sums lets the compiler vectorise them; nan and inf keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz"}

FITTED, OUT_OF_STEPS, STOPPED, DIVERGED = 0, 1, 2, 3
_PLAIN, _LISTED, _TRACKED = 0, 1, 2

# Costs in nanoseconds, measured roughly; they steer the choice of path and nothing else.
_COST_FAR_DOT = 50.0  # dot product with a random row of the training set, with its draw
_COST_NEAR_DOT = 40.0  # the same with a row of the compact list
_COST_SWEEP_DOT = 20.0  # the same, row after row
_COST_LISTING = 60.0  # each point's part in making a list
_COST_LISTED_STEP = 80.0  # drawing how many listed points a batch holds
_COST_JUMP = 200.0  # a step that changes the weights while tracking, and
_COST_SCAN = 1.5  # its part for each listed point; a drawn point's
_COST_CHANGE = 15.0  # part in it, and
_COST_ADDITION = 0.12  # that part's for each listed point
_COST_GATHER = 1.5  # copying an inner product from the columns that are kept
# Work of a plain stretch and of one with a list that still holds, in sweeps over the data: then
# it is worth a look whether a (shorter) list would pay.
_PLAIN_SWEEPS, _LIST_SWEEPS = 16, 30
# Candidate radii: powers of sqrt(2), this many below and above the last displacement.
_RADII_BELOW, _RADII_ABOVE = 14, 6

# Shared by the stretches: `clock` counts, and a snapshot of `w` is due after certain steps.
# Of the last stretch: the steps that changed `w`, and the points' parts in them.
_STEPS, _LAST_CHANGE, _SNAPSHOTS, _CHANGING, _PARTS = 0, 1, 2, 3, 4


@njit(fastmath=FASTMATH, inline="always")
def dot(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit(fastmath=FASTMATH, inline="always")
def add_scaled(a, scale, b):
    for i in range(a.shape[0]):
        a[i] += scale * b[i]


@njit(fastmath=FASTMATH)
def _displacement(w, w_ref):
    """How far `w` is from `w_ref`, a growth of `w1` not counted."""
    back = min(w[0] - w_ref[0], 0.0)
    total = back * back
    for i in range(1, w.shape[0]):
        total += (w[i] - w_ref[i]) ** 2
    return math.sqrt(total)


@njit(inline="always")
def _snapshots_before(step, w, clock, due, snapshots):
    """Store `w` for every snapshot due before the change made at `step`."""
    while clock[_SNAPSHOTS] < due.shape[0] and due[clock[_SNAPSHOTS]] < step:
        snapshots[clock[_SNAPSHOTS]] = w
        clock[_SNAPSHOTS] += 1


@njit(inline="always")
def _count_part(index, seen, clock):
    clock[_PARTS] += 1
    seen[index] = True


@njit(fastmath=FASTMATH)
def _plain(z, threshold, rate, batch, steps, items, seen, w, clock, due, snapshots, state):
    """Make `steps` steps with one dot product for every drawn point.

    Fewer when as many draws as there are points found none unfitted: it may be the end.
    """
    size, dim = z.shape
    gradient = np.zeros(dim)
    quiet = 0
    for _ in range(steps):
        clock[_STEPS] += 1
        hits = 0
        for i in range(batch):
            mu = i + below(state, size - i)
            if batch > 1:
                items[i], items[mu] = items[mu], items[i]
                mu = items[i]
            row = z[mu]
            if dot(row, w) < threshold:
                add_scaled(gradient, 1.0, row)
                _count_part(mu, seen, clock)
                hits += 1
        quiet += batch
        if hits > 0:
            quiet = 0
            _snapshots_before(clock[_STEPS], w, clock, due, snapshots)
            add_scaled(w, rate, gradient)
            gradient[:] = 0.0
            clock[_LAST_CHANGE] = clock[_STEPS]
            clock[_CHANGING] += 1
        elif quiet >= size:
            break


@njit(fastmath=FASTMATH)
def _descend(
    z, listed, threshold, rate, radius, steps, unfitted, gradient, seen, w, clock, due, snapshots
):
    """Full batch: make `steps` steps of gradient descent, or until `w` leaves the radius.

    Nothing is drawn; `gradient`, the sum over unfitted points, changes only where a point changes
    sides.
    """
    rows = z if listed.shape[0] == z.shape[0] else z[listed]
    w_ref = w.copy()
    for _ in range(steps):
        any_unfitted = False
        for i in range(rows.shape[0]):
            row = rows[i]
            is_unfitted = dot(row, w) < threshold
            any_unfitted |= is_unfitted
            if is_unfitted != unfitted[listed[i]]:
                unfitted[listed[i]] = is_unfitted
                _count_part(listed[i], seen, clock)
                add_scaled(gradient, 1.0 if is_unfitted else -1.0, row)
        if not any_unfitted:
            break
        clock[_STEPS] += 1
        clock[_LAST_CHANGE] = clock[_STEPS]
        clock[_CHANGING] += 1
        _snapshots_before(clock[_STEPS], w, clock, due, snapshots)
        add_scaled(w, rate, gradient)
        if not _displacement(w, w_ref) < radius:
            break


@njit(fastmath=FASTMATH)
def _listed(
    z, listed, threshold, rate, batch, radius, max_steps, seen, w, clock, due, snapshots, state
):
    """Make steps that look at listed points only, until `w` leaves the radius or it is time."""
    size, dim = z.shape
    marked = listed.shape[0]
    rows = z[listed]
    items = np.arange(marked)
    gradient = np.zeros(dim)
    w_ref = w.copy()
    first, cdf = table(size, marked, batch)
    # Where most batches hold no listed point, whole runs of them are jumped over.
    none = cdf[0] if first == 0 else 0.0
    log_none = math.log(none) if 0.5 < none < 1.0 else 0.0
    dots = 0
    while dots < _LIST_SWEEPS * size and clock[_STEPS] < max_steps:
        target = uniform(state)
        if log_none < 0.0:
            jump = 1.0 + math.floor(math.log(1.0 - target) / log_none)
            if jump > max_steps - clock[_STEPS]:
                clock[_STEPS] = max_steps
                break
            clock[_STEPS] += np.int64(jump)
            target = none + (1.0 - none) * uniform(state)
        else:
            clock[_STEPS] += 1
        k = first + min(np.searchsorted(cdf, target, side="right"), cdf.shape[0] - 1)
        hits = 0
        for i in range(k):
            j = i + below(state, marked - i)
            items[i], items[j] = items[j], items[i]
            row = rows[items[i]]
            if dot(row, w) < threshold:
                add_scaled(gradient, 1.0, row)
                _count_part(listed[items[i]], seen, clock)
                hits += 1
        dots += k + 1
        if hits > 0:
            _snapshots_before(clock[_STEPS], w, clock, due, snapshots)
            add_scaled(w, rate, gradient)
            gradient[:] = 0.0
            clock[_LAST_CHANGE] = clock[_STEPS]
            clock[_CHANGING] += 1
            if not _displacement(w, w_ref) < radius:
                break


@njit(fastmath=FASTMATH)
def _tracked(
    z, listed, threshold, rate, batch, radius, max_steps, none_drawn, spent, kept, kept_at,
    seen, w, clock, due, snapshots, state,
):  # fmt: skip
    """Jump from change to change, all unfitted points known, until `w` leaves the radius.

    Returns also when more are unfitted than `none_drawn` covers, when none is, and when it is time.
    Columns of the Gram matrix are computed for the list when first needed; those of points for
    which that was done over and over are computed for all points and kept from list to list.

    A step adds `rate sum_{mu in hits} z_mu` to `w`. What follows from it for the slacks is
    `rate delta`, `delta` the sum of the hits' columns; its length is known from `delta` as well
    (`|sum z|^2 = sum_{mu in hits} delta_mu`). So `w` itself is brought up to date only when a
    snapshot is due or the path made since may lead out of the radius.
    """
    size, dim = z.shape
    marked = listed.shape[0]
    full = batch == size
    rows = z[listed]
    max_columns = max(min(marked, size * dim // marked), 1)  # no larger than the training set
    columns = np.empty((max_columns, marked))
    column_of = np.full(marked, -1)
    known = 0
    unfitted = np.empty(marked + 1, np.int64)
    turned = np.empty(marked + 1, np.int64)  # those that changed sides
    places = np.empty(marked, np.int64)
    signs = np.empty(marked)
    slack = np.empty(marked)  # z_mu . w - margin sqrt(d), negative where unfitted
    for i in range(marked):
        slack[i] = dot(rows[i], w) - threshold
    delta = np.zeros(marked)
    in_delta = np.zeros(marked, np.bool_)
    pending = np.zeros(marked, np.int64)  # hits not yet added to w
    w_ref = w.copy()
    moved, path, work = 0.0, 0.0, 0.0
    while work < _LIST_SWEEPS * size * _COST_SWEEP_DOT:
        # Without branches: whether a point near the margin is unfitted cannot be predicted.
        count, turns = 0, 0
        for i in range(marked):
            is_unfitted = slack[i] < 0.0
            unfitted[count] = i
            count += 1 if is_unfitted else 0
            turned[turns] = i
            turns += 1 if is_unfitted != in_delta[i] else 0
        if count == 0 or (count >= none_drawn.shape[0] and not full):
            break
        none = none_drawn[count] if not full else 0.0
        jump = 1.0
        if none > 0.0:
            jump += math.floor(math.log(1.0 - uniform(state)) / math.log(none))
        if jump > max_steps - clock[_STEPS]:
            clock[_STEPS] = max_steps
            break
        clock[_STEPS] += np.int64(jump)
        clock[_LAST_CHANGE] = clock[_STEPS]
        clock[_CHANGING] += 1
        if clock[_SNAPSHOTS] < due.shape[0] and due[clock[_SNAPSHOTS]] < clock[_STEPS]:
            _catch_up(w, rate, rows, pending)
            _snapshots_before(clock[_STEPS], w, clock, due, snapshots)
        # At full batch only the points that changed sides change the sum.
        hits, changed, chosen = count, turns, turned
        if not full:
            hits = at_least_one(state, size, count, batch, none)
            draw_distinct(state, unfitted, count, hits)
            changed, chosen = hits, unfitted
            delta[:] = 0.0
        gathered = 0
        for h in range(changed):
            i = chosen[h]
            _count_part(listed[i], seen, clock)
            if column_of[i] < 0:
                if known == max_columns:
                    _add_columns(delta, columns, places, signs, gathered)
                    gathered = 0
                    column_of[:] = -1
                    known = 0
                column_of[i] = known
                _fill_column(z, listed[i], rows, listed, spent, kept, kept_at, columns[known])
                known += 1
                work += marked * (_COST_SWEEP_DOT if kept_at[listed[i]] < 0 else _COST_GATHER)
            places[gathered] = column_of[i]
            signs[gathered] = -1.0 if in_delta[i] else 1.0
            gathered += 1
            in_delta[i] = full and not in_delta[i]
        _add_columns(delta, columns, places, signs, gathered)
        work += changed * (_COST_CHANGE + marked * _COST_ADDITION)
        squared_length = 0.0
        for h in range(hits):
            squared_length += delta[unfitted[h]]
            pending[unfitted[h]] += 1
        add_scaled(slack, rate, delta)
        path += rate * math.sqrt(max(squared_length, 0.0))
        work += _COST_JUMP + marked * _COST_SCAN
        if moved + path >= radius:
            _catch_up(w, rate, rows, pending)
            moved, path = _displacement(w, w_ref), 0.0
            # Close to the edge every step would have to be looked at.
            if not moved < 0.97 * radius:
                break
    _catch_up(w, rate, rows, pending)


@njit(fastmath=FASTMATH)
def _add_columns(total, columns, places, signs, n):
    """Add `n` columns, each with its sign; four at a time, to load and store the total less."""
    size = total.shape[0]
    k = 0
    while k + 4 <= n:
        a, b = columns[places[k]], columns[places[k + 1]]
        c, d = columns[places[k + 2]], columns[places[k + 3]]
        p, q, r, s = signs[k], signs[k + 1], signs[k + 2], signs[k + 3]
        for i in range(size):
            total[i] += (p * a[i] + q * b[i]) + (r * c[i] + s * d[i])
        k += 4
    while k < n:
        add_scaled(total, signs[k], columns[places[k]])
        k += 1


@njit(fastmath=FASTMATH)
def _catch_up(w, rate, rows, pending):
    for i in range(rows.shape[0]):
        if pending[i] > 0:
            add_scaled(w, rate * pending[i], rows[i])
            pending[i] = 0


@njit(fastmath=FASTMATH)
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


@njit
def _plan(safe, batch, kick, travelled, took, changing, parts, column_cost, trackable):
    """The kind of the next stretch and the radius of its list: the least cost a step.

    `safe` says how far `w` may move before each point can be unfitted. The last stretch moved `w`
    by `travelled` in `took` steps, `changing` of which changed it, with `parts` points in all and
    by `kick` for each point. So `c` changes move `w` by about `c noise^2 + (c drift)^2`, squared.
    """
    size = safe.shape[0]
    full = batch == size
    # A list must promise a clear gain, since what it will cost is known only roughly.
    plain = batch * (_COST_SWEEP_DOT if full else _COST_FAR_DOT)
    kind, radius, least = _PLAIN, math.inf, 0.75 * plain
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
        making = size * _COST_LISTING / max(changes * took / changing, 1.0)
        met = batch * (listed / size)
        looking = met * _COST_NEAR_DOT + min(1.0, 2.0 * met) * _COST_LISTED_STEP
        if full:
            looking = met * _COST_SWEEP_DOT
        if making + looking < least:
            kind, radius, least = _LISTED, reach * travelled, making + looking
        tracking = (
            changing * (_COST_JUMP + listed * _COST_SCAN)
            + parts * (_COST_CHANGE + listed * _COST_ADDITION)
            + listed * column_cost
        ) / took
        if trackable and making + tracking < least:
            kind, radius, least = _TRACKED, reach * travelled, making + tracking
    return kind, radius


@njit(fastmath=FASTMATH, nogil=True, cache=True)
def run_sgd(z, norms, threshold, rate, batch, max_steps, due, snapshots, state, stop):
    """SGD from `w = 0`: `(end, w, last step that changed w, snapshots stored)`.

    `z` are the points times their labels, `norms` their lengths, `threshold = margin sqrt(d)`,
    `rate = lr / (B sqrt(d))`. `snapshots[i]` becomes `w` after step `due[i]`, as far as the
    training goes. `stop[0]` may be set from another thread to end early.
    """
    size, dim = z.shape
    w = np.zeros(dim)
    clock = np.zeros(5, np.int64)
    items = np.arange(size)
    seen = np.zeros(size, np.bool_)
    was_unfitted = np.zeros(size, np.bool_)
    gradient = np.zeros(dim)
    safe = np.empty(size)
    most_tracked = min(4 * dim, size)
    none_drawn = chances_of_none(size, batch, most_tracked)
    # Gram columns that are kept (untouched memory costs nothing), and what was spent on the others.
    kept = np.empty((min(dim, size), size))
    kept_at = np.full(size, -1)
    spent = np.zeros(size + 1, np.int64)  # the last entry counts the kept ones
    travelled, took = 0.0, 0
    while True:
        unfitted = 0
        for mu in range(size):
            slack = dot(z[mu], w) - threshold
            if slack < 0.0:
                unfitted += 1
            # A little less than the bound, so that rounding cannot matter.
            safe[mu] = slack / norms[mu] * (1.0 - 1e-9) if slack > 0.0 else 0.0
        end = -1
        if not math.isfinite(dot(w, w)):
            end = DIVERGED
        elif unfitted == 0:
            end = FITTED
        elif clock[_STEPS] >= max_steps:
            end = OUT_OF_STEPS
        elif stop[0] != 0:
            end = STOPPED
        if end >= 0:
            last = clock[_LAST_CHANGE]
            _snapshots_before(last + 1, w, clock, due, snapshots)
            return end, w, last, clock[_SNAPSHOTS]

        column_cost = 0.0
        for mu in range(size):
            if seen[mu]:
                column_cost += _COST_SWEEP_DOT if kept_at[mu] < 0 else _COST_GATHER
        # Full batches make no noise.
        kick = rate * math.sqrt(dim) if batch < size else 0.0
        kind, radius = _plan(
            safe, batch, kick, travelled, took, clock[_CHANGING], clock[_PARTS],
            column_cost, batch == size or unfitted < most_tracked,
        )  # fmt: skip
        w_ref = w.copy()
        began = clock[_STEPS]
        clock[_CHANGING] = 0
        clock[_PARTS] = 0
        seen[:] = False
        listed = np.nonzero(safe <= radius)[0]
        if kind == _TRACKED:
            _tracked(
                z, listed, threshold, rate, batch, radius, max_steps, none_drawn,
                spent, kept, kept_at, seen, w, clock, due, snapshots, state,
            )  # fmt: skip
        elif batch == size:
            work = _PLAIN_SWEEPS if kind == _PLAIN else _LIST_SWEEPS
            steps = min(max(work * size // listed.shape[0], 1), max_steps - began)
            # Afresh for every list, so that rounding does not pile up.
            was_unfitted[:] = safe == 0.0
            seen[:] = was_unfitted
            gradient[:] = 0.0
            for mu in range(size):
                if was_unfitted[mu]:
                    add_scaled(gradient, 1.0, z[mu])
            _descend(
                z, listed, threshold, rate, radius, steps, was_unfitted, gradient,
                seen, w, clock, due, snapshots,
            )  # fmt: skip
        elif kind == _PLAIN:
            steps = min(max(_PLAIN_SWEEPS * size // batch, 1), max_steps - began)
            _plain(z, threshold, rate, batch, steps, items, seen, w, clock, due, snapshots, state)
        else:
            _listed(
                z, listed, threshold, rate, batch, radius, max_steps,
                seen, w, clock, due, snapshots, state,
            )  # fmt: skip
        travelled = _displacement(w, w_ref)
        took = clock[_STEPS] - began
